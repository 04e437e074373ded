"""Calls of every operator and source with one argument that is a hostile value."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any

from spillway import policies
from spillway._operators import definitions

from .mutating import place

Data = dict[str, Any]

# By "front.method": `ds` holds 0 to 4, `pairs` dicts of two columns, `rows` of lengths 0 to 4.
_METHODS = {
    "apply": "ds.apply(lambda d: d)",
    "as_numpy_iterator": "ds.as_numpy_iterator()",
    "assert_cardinality": "ds.assert_cardinality(5)",
    "batch": "ds.batch(2, drop_remainder=True)",
    "bucket_by_sequence_length": (
        "rows.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])"
    ),
    "cache": "ds.cache('')",
    "choose_from_datasets": "DS.choose_from_datasets([ds, ds], ds.take(1))",
    "concatenate": "ds.concatenate(ds)",
    "counter": "DS.counter(1, 2).take(3)",
    "enumerate": "ds.enumerate(1)",
    "filter": "ds.filter(lambda x: x > 2)",
    "flat_map": "ds.flat_map(lambda x: DS.from_tensors(x))",
    "from_generator": "DS.from_generator(numbers, output_signature=tf.TensorSpec([], tf.int64))",
    "from_tensor_slices": "DS.from_tensor_slices([1, 2])",
    "from_tensors": "DS.from_tensors([1, 2])",
    "group_by_window": "ds.group_by_window(lambda x: x % 2, lambda k, w: w.batch(2), 2)",
    "ignore_errors": "ds.ignore_errors()",
    "interleave": "ds.interleave(lambda x: DS.from_tensors(x), 2, 1)",
    "list_files": "DS.list_files('*.text')",
    "load": "DS.load('saved')",
    "map": "ds.map(lambda x: x + 1)",
    "padded_batch": "rows.padded_batch(2)",
    "prefetch": "ds.prefetch(2)",
    "random": "DS.random(1).take(2)",
    "range": "DS.range(0, 5, 2)",
    "rebatch": "ds.batch(4).rebatch(2)",
    "reduce": "ds.reduce(np.int64(0), lambda s, x: s + x)",
    "repeat": "ds.repeat(2)",
    "sample_from_datasets": "DS.sample_from_datasets([ds, ds], [0.5, 0.5], 3)",
    "save": "ds.save('written')",
    "scan": "ds.scan(np.int64(0), lambda s, x: (s + x, s))",
    "shard": "ds.shard(2, 1)",
    "shuffle": "ds.shuffle(3, 5)",
    "skip": "ds.skip(1)",
    "snapshot": "ds.snapshot('kept')",
    "take": "ds.take(2)",
    "take_while": "ds.take_while(lambda x: x < 3)",
    "unbatch": "ds.batch(2).unbatch()",
    "unique": "ds.unique()",
    "window": "ds.window(2, 1, 1)",
    "with_options": "ds.with_options(tf.data.Options())",
    "zip": "DS.zip((ds, ds))",
}
_OURS = {
    "check": "ds.check()",
    "csv_rows": "DS.csv_rows('a.csv', ([0], [0]))",
    "fixed_length_records": "DS.fixed_length_records('a.text', 2)",
    "from_arrow": "DS.from_arrow(table)",
    "from_json": "DS.from_json(ds.to_json())",
    "from_npy": "DS.from_npy('a.npy')",
    "from_npz": "DS.from_npz('a.npz', ['a'])",
    "from_parquet": "DS.from_parquet('a.parquet')",
    "from_quarantine": "DS.from_quarantine('a.text')",
    "from_tar": "DS.from_tar('a.tar', ('text',))",
    "forecast": "ds.forecast()",
    "npy_rows": "DS.npy_rows('a.npy')",
    "on_error": "ds.on_error('skip')",
    "pad_to_cardinality": "pairs.pad_to_cardinality(8)",
    "tar_samples": "DS.tar_samples('a.tar', ('text',))",
    "text_lines": "DS.text_lines('a.text')",
    "tf_record": "DS.tf_record('a.record')",
    "to_jax": "ds.to_jax()",
    "to_torch": "ds.to_torch()",
}
_TENSORFLOWS = {
    "rejection_resample": "ds.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5])",
}
_FUNCTIONS = {
    "tf.data.TextLineDataset": "tf.data.TextLineDataset('a.text')",
    "tf.data.TFRecordDataset": "tf.data.TFRecordDataset('a.record')",
    "tf.data.FixedLengthRecordDataset": "tf.data.FixedLengthRecordDataset('a.text', 2)",
    "tf.data.experimental.CsvDataset": "tde.CsvDataset('a.csv', [0, 0])",
    "tf.data.experimental.RandomDataset": "tde.RandomDataset(1).take(2)",
    "tf.data.experimental.Counter": "tde.Counter(1, 2).take(2)",
    "tf.data.experimental.make_csv_dataset": "tde.make_csv_dataset('a.csv', 2, num_epochs=1)",
    "tf.data.experimental.from_list": "tde.from_list([1, 2])",
    "tf.data.experimental.map_and_batch": "ds.apply(tde.map_and_batch(lambda x: x, 2))",
    "tf.data.experimental.shuffle_and_repeat": "ds.apply(tde.shuffle_and_repeat(3, 1))",
    "tf.data.experimental.parallel_interleave": (
        "ds.apply(tde.parallel_interleave(lambda x: DS.from_tensors(x), 2))"
    ),
    "tf.data.experimental.assert_cardinality": "ds.apply(tde.assert_cardinality(5))",
    "tf.data.experimental.at": "tde.at(ds, 1)",
    "tf.data.experimental.pad_to_cardinality": "pairs.apply(tde.pad_to_cardinality(8))",
    "tf.TensorSpec": "tf.TensorSpec([1], tf.int32)",
    "tf.TensorShape": "tf.TensorShape([1, None])",
    "tf.Variable": "tf.Variable([1.0])",
    "tf.nest.flatten": "tf.nest.flatten([1, (2,)])",
    "tf.nest.map_structure": "tf.nest.map_structure(lambda x: x, [1])",
    "tf.nest.pack_sequence_as": "tf.nest.pack_sequence_as([1], [2])",
    "tf.nest.assert_same_structure": "tf.nest.assert_same_structure([1], [2])",
}
# Operators that only others put into a pipeline.
_INSIDE = {"in_turn", "window_rows", "random_choice", "fail_together", "saved_shard", "load_shards"}


@cache
def calls() -> dict[str, str]:
    """The source of a call that works, by what it calls."""
    found = {f"tf.data.Dataset.{name}": text for name, text in {**_METHODS, **_TENSORFLOWS}.items()}
    found |= {f"sw.Dataset.{name}": text for name, text in {**_METHODS, **_OURS}.items()}
    return found | {path: text for path, text in _FUNCTIONS.items() if text}


def missing() -> list[str]:
    """Operators without a call here."""
    return [name for name in definitions if name not in {*_METHODS, *_OURS, *_INSIDE}]


@cache
def parameters(path: str) -> list[str]:
    """Names of the parameters of what a path leads to."""
    import spillway as sw
    import spillway.tf as tf

    found: Any = {"sw": sw, "tf": tf}[path.partition(".")[0]]
    for part in path.split(".")[1:]:
        found = getattr(found, part)
    names = []
    for each in inspect.signature(found).parameters.values():
        if each.kind is each.VAR_KEYWORD and each.name == "policy":
            names += [*policies.NAMES, *policies.GUARD_NAMES]
        elif each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD):
            names.append(each.name)
    return [name for name in dict.fromkeys(names) if name not in ("self", "name")]


def program(path: str, parameter: str, value: str) -> Data:
    """The call of a method with a hostile value in the place of one argument."""
    source = place(calls()[path], path, parameters(path), parameter)
    facts = {"kind": "dataset", "path": path, "parameter": parameter, "value": value}
    return {**facts, "source": source}


def every(values: list[str]) -> Iterator[tuple[str, str, str]]:
    """Method, parameter and value of every program."""
    for path in sorted(calls()):
        for parameter in parameters(path):
            for value in values:
                yield path, parameter, value
