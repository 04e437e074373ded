"""Builds the pipeline of a program with either engine: the method names are the same.

What differs is behind `Backend`: how a function of the catalogue is handed over, how its type is
declared, and how an element type is read back.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from . import functions, infer
from .functions import Desc
from .spec import Inner, Nest, Tup, from_json, pack, unpack
from .values import decode, decode_nest, spec_of

Step = dict[str, Any]
Dataset = Any


class Backend(Protocol):
    """One engine."""

    dataset: Any

    def spec(self, ds: Dataset) -> Nest:
        """The element type the engine reports."""

    def signature(self, spec: Nest) -> Any:
        """A nest of the engine's own TensorSpec."""

    def declare(self, spec: Nest) -> dict[str, Any]:
        """The keyword arguments that declare what a function returns."""

    def function(self, desc: Desc, spec: Nest) -> Callable[..., Any]:
        """A function of the catalogue as the engine calls it."""

    def plain(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function that makes datasets, as the engine is to call it."""

    def options(self, **settings: Any) -> Any:
        """An Options object."""

    def dtype(self, name: str) -> Any:
        """The engine's dtype of that name."""


class ConstructionError(Exception):
    """Building a stage failed: `where` is its path in the program."""

    def __init__(self, where: str, cause: Exception) -> None:
        super().__init__(where)
        self.where = where
        self.cause = cause


def element(spec: Nest, args: tuple[Any, ...]) -> Any:
    """The element of a call: only plain tuples are spread over the arguments."""
    return args if isinstance(spec, Tup) else args[0]


class Builder:
    """Builds programs; files of `list_files` live in `directory` until `close`."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend
        self._directory = tempfile.TemporaryDirectory(prefix="conformance-")
        self.directory = self._directory.name
        self._made: dict[tuple[str, ...], int] = {}

    def close(self) -> None:
        self._directory.cleanup()

    def program(self, program: dict[str, Any], where: str = "") -> Dataset:
        ds = self._attempt(f"{where}source", lambda: self._source(program["source"], where))
        return self.steps(ds, program["steps"], where)

    def steps(self, ds: Dataset, steps: list[Step], where: str = "") -> Dataset:
        for i, step in enumerate(steps):
            path = f"{where}{i}:{step['op']}"
            ds = self._attempt(path, partial(self._step, ds, step))
        return ds

    def _step(self, ds: Dataset, step: Step) -> Dataset:
        return STEPS[step["op"]](self, ds, self.backend.spec(ds), step)

    def _attempt(self, where: str, build: Callable[[], Dataset]) -> Dataset:
        try:
            return build()
        except ConstructionError:
            raise
        except Exception as error:
            raise ConstructionError(where, error) from error

    def _source(self, source: Step, where: str) -> Dataset:
        return SOURCES[source["op"]](self, source)

    def again(self, program: dict[str, Any]) -> Dataset:
        """An equal pipeline, built anew over the same files."""
        return self.program(program)

    def files(self, names: list[str]) -> Path:
        # A function that makes datasets finds its files again, however often it is called.
        key = tuple(names)
        if key not in self._made:
            self._made[key] = len(self._made) + 1
        folder = Path(self.directory) / f"d{self._made[key]}"
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(name.encode())
        folder.mkdir(exist_ok=True)
        return folder

    def nest_of_programs(self, inputs: Any) -> Any:
        if "source" in inputs:
            return self.program(inputs, "zip/")
        if "tuple" in inputs:
            return tuple(self.nest_of_programs(item) for item in inputs["tuple"])
        if "dict" in inputs:
            return {key: self.nest_of_programs(item) for key, item in inputs["dict"].items()}
        if "list" in inputs:
            return [self.nest_of_programs(item) for item in inputs["list"]]
        parts = [self.nest_of_programs(item) for item in inputs["items"]]
        return type(pack(infer.zip_spec(inputs), [None] * 9))(*parts)

    def body(self, body: Step, spec: Nest) -> Callable[..., Dataset]:
        """The function from an element to a dataset."""

        def made(*args: Any) -> Dataset:
            value = element(spec, args)
            if body["make"] == "fixed":
                ds = self.program(body["program"], "body/")
            elif body["make"] == "windows":
                ds = self._rejoined(value, spec)
            else:
                ds = self._inner(body, spec, args)
            return self.steps(ds, body["steps"], "body/")

        def checked(*args: Any) -> Dataset:
            try:
                return made(*args)
            except ConstructionError as error:
                raise error.cause from error

        return self.backend.plain(checked)

    def _rejoined(self, value: Any, spec: Nest) -> Dataset:
        parts = unpack(spec, value)
        if len(parts) == 1 and parts[0] is value:
            return value
        return self.backend.dataset.zip(value)

    def _inner(self, body: Step, spec: Nest, args: tuple[Any, ...]) -> Dataset:
        result = self.backend.function(body["fn"], spec)(*args)
        if body["make"] == "range":
            return self.backend.dataset.range(result)
        if body["make"] == "slices":
            return self.backend.dataset.from_tensor_slices(result)
        return self.backend.dataset.from_tensors(result)


def _range(b: Builder, s: Step) -> Dataset:
    kwargs = {} if s.get("dtype") is None else {"output_type": b.backend.dtype(s["dtype"])}
    return b.backend.dataset.range(*s["args"], **kwargs)


def _from_generator(b: Builder, s: Step) -> Dataset:
    items = s["items"]

    def generate() -> Iterator[Any]:
        for item in items:
            if "raise" in item:
                raise functions.KINDS[item["raise"]]("boom in the generator")
            yield decode_nest(item["value"]) if "value" in item else _raw(item["raw"])

    spec = from_json(s["signature"])
    return b.backend.dataset.from_generator(generate, output_signature=b.backend.signature(spec))


def _raw(data: Any) -> Any:
    """A Python object as a generator may yield it: numbers, text, lists and tuples."""
    if isinstance(data, dict):
        return tuple(_raw(item) for item in data["tuple"])
    return data


def _list_files(b: Builder, s: Step) -> Dataset:
    folder = b.files(s["files"])
    patterns = [str(folder / pattern) for pattern in s["patterns"]]
    return b.backend.dataset.list_files(
        patterns[0] if len(patterns) == 1 else patterns, shuffle=s["shuffle"], seed=s["seed"]
    )


def _zip(b: Builder, s: Step) -> Dataset:
    nest = b.nest_of_programs(s["inputs"])
    if s.get("spread"):
        return b.backend.dataset.zip(*nest)
    return b.backend.dataset.zip(nest)


def _choose(b: Builder, s: Step) -> Dataset:
    inputs = [b.program(one, "input/") for one in s["inputs"]]
    choice = b.program(s["choice"], "choice/")
    return b.backend.dataset.choose_from_datasets(inputs, choice, stop_on_empty_dataset=s["stop"])


def _sample(b: Builder, s: Step) -> Dataset:
    kwargs = {} if s["rerandomize"] is None else {"rerandomize_each_iteration": s["rerandomize"]}
    return b.backend.dataset.sample_from_datasets(
        [b.program(one, "input/") for one in s["inputs"]],
        weights=s["weights"],
        seed=s["seed"],
        stop_on_empty_dataset=s["stop"],
        **kwargs,
    )


SOURCES: dict[str, Callable[[Builder, Step], Dataset]] = {
    "range": _range,
    "counter": lambda b, s: b.backend.dataset.counter(
        s["start"], s["step"], dtype=b.backend.dtype(s["dtype"])
    ),
    "random": lambda b, s: b.backend.dataset.random(
        seed=s["seed"], rerandomize_each_iteration=s["rerandomize"]
    ),
    "from_tensors": lambda b, s: b.backend.dataset.from_tensors(decode_nest(s["value"])),
    "from_tensor_slices": lambda b, s: b.backend.dataset.from_tensor_slices(
        decode_nest(s["value"])
    ),
    "from_generator": _from_generator,
    "list_files": _list_files,
    "zip": _zip,
    "choose_from_datasets": _choose,
    "sample_from_datasets": _sample,
}


def _map(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    declared = b.backend.declare(functions.signature(s["fn"], spec))
    return ds.map(b.backend.function(s["fn"], spec), num_parallel_calls=s["parallel"], **declared)


def _filter(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    declared = b.backend.declare(functions.signature(s["fn"], spec))
    return ds.filter(b.backend.function(s["fn"], spec), **declared)


def _take_while(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    declared = b.backend.declare(functions.signature(s["fn"], spec))
    return ds.take_while(b.backend.function(s["fn"], spec), **declared)


def _padded_batch(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    shapes = None if s["shapes"] is None else pack(spec, s["shapes"])
    values = s["values"]
    if isinstance(values, dict):
        values = decode(values["all"])[()]
    elif values is not None:
        values = pack(spec, [None if v is None else decode(v)[()] for v in values])
    return ds.padded_batch(
        s["size"], padded_shapes=shapes, padding_values=values, drop_remainder=s["drop_remainder"]
    )


def _flat_map(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    declared = b.backend.declare(Inner(infer.body_spec(spec, s["body"])))
    return ds.flat_map(b.body(s["body"], spec), **declared)


def _interleave(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    declared = b.backend.declare(Inner(infer.body_spec(spec, s["body"])))
    return ds.interleave(
        b.body(s["body"], spec),
        cycle_length=s["cycle"],
        block_length=s["block"],
        num_parallel_calls=s["parallel"],
        **declared,
    )


def _scan(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    initial = spec_of(s["initial"])
    made = functions.signature(s["fn"], Tup((initial, spec)))
    function = b.backend.function(s["fn"], Tup((initial, spec)))
    return ds.scan(decode_nest(s["initial"]), function, **b.backend.declare(made))


def _group_by_window(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    def reduce(key: Any, window: Dataset) -> Dataset:
        try:
            return b.steps(window, s["steps"], "reduce/")
        except ConstructionError as error:
            raise error.cause from error

    kwargs: dict[str, Any] = {}
    if s["size"] is not None:
        kwargs["window_size"] = s["size"]
    if s["size_fn"] is not None:
        kwargs["window_size_func"] = b.backend.function(s["size_fn"], infer.INT64)
    kwargs.update(b.backend.declare(Inner(infer.steps_spec(spec, s["steps"]))))
    return ds.group_by_window(
        key_func=b.backend.function(s["key"], spec), reduce_func=b.backend.plain(reduce), **kwargs
    )


def _bucket(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    return ds.bucket_by_sequence_length(
        b.backend.function(s["length"], spec),
        bucket_boundaries=s["boundaries"],
        bucket_batch_sizes=s["sizes"],
        pad_to_bucket_boundary=s["pad_to_boundary"],
        no_padding=s["no_padding"],
        drop_remainder=s["drop_remainder"],
    )


def _apply(b: Builder, ds: Dataset, spec: Nest, s: Step) -> Dataset:
    def transform(given: Dataset) -> Any:
        return 7 if s.get("bad") else b.steps(given, s["steps"], "apply/")

    return ds.apply(transform)


STEPS: dict[str, Callable[[Builder, Dataset, Nest, Step], Dataset]] = {
    "map": _map,
    "filter": _filter,
    "take_while": _take_while,
    "batch": lambda b, ds, spec, s: ds.batch(
        s["size"], drop_remainder=s["drop_remainder"], num_parallel_calls=s["parallel"]
    ),
    "padded_batch": _padded_batch,
    "unbatch": lambda b, ds, spec, s: ds.unbatch(),
    "rebatch": lambda b, ds, spec, s: ds.rebatch(s["sizes"], drop_remainder=s["drop_remainder"]),
    "shuffle": lambda b, ds, spec, s: ds.shuffle(
        s["buffer"], seed=s["seed"], reshuffle_each_iteration=s["reshuffle"]
    ),
    "repeat": lambda b, ds, spec, s: ds.repeat(s["count"]),
    "take": lambda b, ds, spec, s: ds.take(s["count"]),
    "skip": lambda b, ds, spec, s: ds.skip(s["count"]),
    "shard": lambda b, ds, spec, s: ds.shard(s["n"], s["index"]),
    "enumerate": lambda b, ds, spec, s: ds.enumerate(start=s["start"]),
    "concatenate": lambda b, ds, spec, s: ds.concatenate(
        b.program(s["other"], "other/") if "other" in s else ds
    ),
    "zip": lambda b, ds, spec, s: b.backend.dataset.zip((ds, ds)),
    "window": lambda b, ds, spec, s: ds.window(
        s["size"], shift=s["shift"], stride=s["stride"], drop_remainder=s["drop_remainder"]
    ),
    "flat_map": _flat_map,
    "interleave": _interleave,
    "prefetch": lambda b, ds, spec, s: ds.prefetch(s["size"]),
    "cache": lambda b, ds, spec, s: ds.cache(),
    "scan": _scan,
    "unique": lambda b, ds, spec, s: ds.unique(),
    "group_by_window": _group_by_window,
    "bucket_by_sequence_length": _bucket,
    "ignore_errors": lambda b, ds, spec, s: ds.ignore_errors(),
    "apply": _apply,
    "with_options": lambda b, ds, spec, s: ds.with_options(b.backend.options(**s["options"])),
}

REDUCE = "reduce"
OPERATORS = tuple(dict.fromkeys((*SOURCES, *STEPS, REDUCE)))
