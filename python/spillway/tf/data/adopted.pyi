# The types of adopted.py; a test holds them to the methods that are there.
import os
from collections.abc import Callable, Iterable
from typing import Any

import spillway
from spillway.tf.data.dataset import Dataset

def call(
    method: Callable[..., Any], caller: Any, args: tuple[Any, ...], more: dict[str, Any]
) -> Any: ...

class Adopted(spillway.Dataset):
    def apply(self, transformation_func: Callable[..., Any]) -> Dataset: ...
    def assert_cardinality(
        self, expected_cardinality: Any, name: str | None = ..., **policy: Any
    ) -> Dataset: ...
    def batch(
        self,
        batch_size: Any,
        drop_remainder: bool = ...,
        num_parallel_calls: Any = ...,
        deterministic: bool | None = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Iterable[int],
        bucket_batch_sizes: Iterable[int],
        padded_shapes: Any = ...,
        padding_values: Any = ...,
        pad_to_bucket_boundary: bool = ...,
        no_padding: bool = ...,
        drop_remainder: bool = ...,
        name: str | None = ...,
    ) -> Dataset: ...
    def cache(self, filename: Any = ..., name: str | None = ..., **policy: Any) -> Dataset: ...
    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: spillway.Dataset, stop_on_empty_dataset: bool = ...
    ) -> Dataset: ...
    def concatenate(
        self, dataset: spillway.Dataset, name: str | None = ..., **policy: Any
    ) -> Dataset: ...
    @staticmethod
    def counter(
        start: Any = ..., step: Any = ..., dtype: Any = ..., name: str | None = ...
    ) -> Dataset: ...
    def enumerate(self, start: Any = ..., name: str | None = ..., **policy: Any) -> Dataset: ...
    def filter(
        self,
        predicate: Callable[..., Any],
        name: str | None = ...,
        output_signature: Any = ...,
        **policy: Any,
    ) -> Dataset: ...
    def flat_map(
        self,
        map_func: Callable[..., Any],
        name: str | None = ...,
        output_signature: Any = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def from_json(text: str, functions: dict[str, Callable[..., Any]] | None = ...) -> Dataset: ...
    @staticmethod
    def from_quarantine(path: str | os.PathLike[str]) -> Dataset: ...
    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = ..., **policy: Any) -> Dataset: ...
    @staticmethod
    def from_tensors(tensors: Any, name: str | None = ...) -> Dataset: ...
    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = ...,
        window_size_func: Callable[..., Any] | None = ...,
        name: str | None = ...,
        output_signature: Any = ...,
        **policy: Any,
    ) -> Dataset: ...
    def ignore_errors(
        self, log_warning: bool = ..., name: str | None = ..., **policy: Any
    ) -> Dataset: ...
    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = ...,
        block_length: int | None = ...,
        num_parallel_calls: int | None = ...,
        deterministic: bool | None = ...,
        name: str | None = ...,
        output_signature: Any = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def fixed_length_records(
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = ...,
        footer_bytes: Any = ...,
        buffer_size: Any = ...,
        compression_type: Any = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def csv_rows(
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = ...,
        buffer_size: Any = ...,
        header: Any = ...,
        field_delim: Any = ...,
        use_quote_delim: Any = ...,
        na_value: Any = ...,
        select_cols: Any = ...,
        exclude_cols: Any = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def from_arrow(
        source: Any, nulls: str = ..., name: str | None = ..., **policy: Any
    ) -> Dataset: ...
    @staticmethod
    def from_parquet(
        paths: Any,
        columns: list[str] | None = ...,
        batch_size: int = ...,
        nulls: str = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def from_npy(paths: Any, name: str | None = ..., **policy: Any) -> Dataset: ...
    @staticmethod
    def from_npz(paths: Any, keys: Any = ..., name: str | None = ..., **policy: Any) -> Dataset: ...
    @staticmethod
    def from_tar(
        paths: Any,
        keys: Any = ...,
        compression_type: str | None = ...,
        num_parallel_reads: int | None = ...,
        resynchronise: bool = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def tar_samples(
        filenames: Any,
        keys: Any,
        compression_type: Any = ...,
        buffer_size: Any = ...,
        exact: bool = ...,
        resynchronise: bool = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def npy_rows(
        filenames: Any,
        member: Any = ...,
        aligned: bool = ...,
        rows: Any = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def text_lines(
        filenames: Any,
        compression_type: Any = ...,
        buffer_size: Any = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def tf_record(
        filenames: Any,
        compression_type: Any = ...,
        buffer_size: Any = ...,
        resynchronise: bool = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    @staticmethod
    def list_files(
        file_pattern: Any,
        shuffle: bool | None = ...,
        seed: int | None = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    def on_error(
        self,
        action: Any,
        retries: int | None = ...,
        backoff: float | None = ...,
        max_errors: int | None = ...,
        max_error_rate: float | None = ...,
        quarantine: str | os.PathLike[str] | None = ...,
        name: str | None = ...,
        early_end: bool | None = ...,
    ) -> Dataset: ...
    def pad_to_cardinality(
        self, cardinality: Any, mask_key: Any = ..., name: str | None = ..., **policy: Any
    ) -> Dataset: ...
    def prefetch(
        self, buffer_size: Any = ..., name: str | None = ..., **policy: Any
    ) -> Dataset: ...
    @staticmethod
    def random(
        seed: int | None = ...,
        rerandomize_each_iteration: bool | None = ...,
        name: str | None = ...,
    ) -> Dataset: ...
    @staticmethod
    def range(*args: Any, output_type: Any = ..., name: str | None = ...) -> Dataset: ...
    def rebatch(
        self, batch_size: Any, drop_remainder: bool = ..., name: str | None = ..., **policy: Any
    ) -> Dataset: ...
    def repeat(self, count: Any = ..., name: str | None = ..., **policy: Any) -> Dataset: ...
    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = ...,
        seed: int | None = ...,
        stop_on_empty_dataset: bool = ...,
        rerandomize_each_iteration: bool | None = ...,
    ) -> Dataset: ...
    def scan(
        self,
        initial_state: Any,
        scan_func: Callable[..., Any],
        name: str | None = ...,
        output_signature: Any = ...,
        **policy: Any,
    ) -> Dataset: ...
    def shard(
        self, num_shards: Any, index: Any, name: str | None = ..., **policy: Any
    ) -> Dataset: ...
    def shuffle(
        self,
        buffer_size: Any,
        seed: int | None = ...,
        reshuffle_each_iteration: bool | None = ...,
        name: str | None = ...,
        shrink: bool = ...,
        **policy: Any,
    ) -> Dataset: ...
    def skip(self, count: Any, name: str | None = ..., **policy: Any) -> Dataset: ...
    def snapshot(
        self,
        path: Any,
        compression: str | None = ...,
        reader_func: Callable[[Any], Any] | None = ...,
        shard_func: Callable[..., Any] | None = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    def take(self, count: Any, name: str | None = ..., **policy: Any) -> Dataset: ...
    def take_while(
        self,
        predicate: Callable[..., Any],
        name: str | None = ...,
        output_signature: Any = ...,
        **policy: Any,
    ) -> Dataset: ...
    def unbatch(self, name: str | None = ..., **policy: Any) -> Dataset: ...
    def unique(self, name: str | None = ..., **policy: Any) -> Dataset: ...
    def window(
        self,
        size: Any,
        shift: Any = ...,
        stride: Any = ...,
        drop_remainder: bool = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
    def with_options(self, options: Any, name: str | None = ...) -> Dataset: ...
    @staticmethod
    def zip(
        *args: Any,
        datasets: Any = ...,
        strict: bool = ...,
        name: str | None = ...,
        **policy: Any,
    ) -> Dataset: ...
