"""The element type of a program, by rule, without running it.

The Spillway side declares the types of nested functions from it; the TensorFlow side checks it
against the type TensorFlow itself reports.
"""

from __future__ import annotations

from typing import Any

from . import functions
from .spec import (
    Dic,
    Inner,
    Leaf,
    Named,
    Nest,
    NotApplicableError,
    Shape,
    Tup,
    dense_leaves,
    from_json,
    leaves,
    map_dense,
    map_leaves,
    relax,
)
from .values import spec_of

INT64 = Leaf("int64", ())
STRING = Leaf("string", ())


def program_spec(program: dict[str, Any]) -> Nest:
    spec = source_spec(program["source"])
    for step in program["steps"]:
        spec = step_spec(spec, step)
    return spec


def source_spec(source: dict[str, Any]) -> Nest:
    op = source["op"]
    if op == "range":
        return Leaf(source.get("dtype") or "int64", ())
    if op == "counter":
        return Leaf(source["dtype"], ())
    if op == "random":
        return INT64
    if op == "list_files":
        return STRING
    if op == "from_tensors":
        return spec_of(source["value"])
    if op == "from_tensor_slices":
        return sliced(spec_of(source["value"]))
    if op == "from_generator":
        return from_json(source["signature"])
    if op == "zip":
        inputs = source["inputs"]
        alone = source.get("spread") and len(inputs["tuple"]) == 1
        return zip_spec(inputs["tuple"][0] if alone else inputs)
    if op in ("choose_from_datasets", "sample_from_datasets"):
        inputs = source["inputs"]
        weights = source.get("weights") or [1] * len(inputs)
        # What is never chosen is left out, unless nothing else is there.
        chosen = [one for one, weight in zip(inputs, weights, strict=False) if weight != 0]
        return common([program_spec(one) for one in chosen or inputs])
    raise KeyError(op)


def zip_spec(inputs: Any) -> Nest:
    if "source" in inputs:
        return program_spec(inputs)
    if "tuple" in inputs:
        return Tup(tuple(zip_spec(item) for item in inputs["tuple"]))
    if "dict" in inputs:
        keys = tuple(sorted(inputs["dict"]))
        return Dic(keys, tuple(zip_spec(inputs["dict"][key]) for key in keys))
    return Named(inputs["named"], tuple(zip_spec(item) for item in inputs["items"]))


def common(specs: list[Nest]) -> Nest:
    result = specs[0]
    for spec in specs[1:]:
        wider = relax(result, spec)
        if wider is None:
            raise NotApplicableError("inputs of different types")
        result = wider
    return result


def _drop_first(shape: Shape) -> Shape:
    if shape is None:
        return None
    if not shape:
        raise NotApplicableError("a scalar has no slices")
    return shape[1:]


def sliced(spec: Nest) -> Nest:
    return map_dense(lambda leaf: Leaf(leaf.dtype, _drop_first(leaf.shape)), spec)


def alike_rows(spec: Nest) -> bool:
    """Whether the known first dimensions agree."""
    known = {leaf.shape[0] for leaf in dense_leaves(spec) if leaf.shape}
    return len(known - {None}) <= 1


def stacked(spec: Nest, size: int | None) -> Nest:
    return map_dense(
        lambda leaf: Leaf(leaf.dtype, None if leaf.shape is None else (size, *leaf.shape)), spec
    )


def _windowed(spec: Nest) -> Nest:
    dense_leaves(spec)
    return map_leaves(Inner, spec)


def unwindowed(spec: Nest) -> Nest:
    """The elements of the zipped datasets of a window."""

    def element(leaf: Leaf | Inner) -> Nest:
        if isinstance(leaf, Leaf):
            raise NotApplicableError("a tensor where a dataset is needed")
        return leaf.element

    return map_leaves(element, spec)


def steps_spec(spec: Nest, steps: list[dict[str, Any]]) -> Nest:
    for step in steps:
        spec = step_spec(spec, step)
    return spec


def body_spec(spec: Nest, body: dict[str, Any]) -> Nest:
    """The element type of the dataset that a nested function makes of an element."""
    make = body["make"]
    if make == "windows":
        return steps_spec(unwindowed(spec), body["steps"])
    if make == "fixed":
        dense_leaves(spec)
        return steps_spec(program_spec(body["program"]), body["steps"])
    made = functions.signature(body["fn"], spec)
    if make == "range":
        if made != INT64:
            raise NotApplicableError("a range needs an int64 scalar")
    elif make == "slices":
        made = sliced(made)
    return steps_spec(made, body["steps"])


def step_spec(spec: Nest, step: dict[str, Any]) -> Nest:
    op = step["op"]
    if op in SAME:
        return spec
    if op == "map":
        return functions.signature(step["fn"], spec)
    if op in ("filter", "take_while"):
        functions.signature(step["fn"], spec)
        return spec
    if op == "batch":
        return stacked(spec, step["size"] if step["drop_remainder"] else None)
    if op == "padded_batch":
        return padded_spec(spec, step)
    if op == "unbatch":
        if not alike_rows(spec):
            raise NotApplicableError("rows of different number")
        return sliced(spec)
    if op == "rebatch":
        return _rebatched(spec, step)
    if op == "enumerate":
        return Tup((INT64, spec))
    if op == "concatenate":
        return common([spec, program_spec(step["other"])]) if "other" in step else spec
    if op == "zip":
        return Tup((spec, spec))
    if op == "window":
        return _windowed(spec)
    if op in ("flat_map", "interleave"):
        return body_spec(spec, step["body"])
    if op == "group_by_window":
        functions.signature(step["key"], spec)
        return steps_spec(spec, step["steps"])
    if op == "scan":
        return scan_spec(spec, step)[1]
    if op == "bucket_by_sequence_length":
        return _bucketed(spec, step)
    if op == "apply":
        return steps_spec(spec, step["steps"])
    raise KeyError(op)


SAME = {
    "shuffle",
    "repeat",
    "take",
    "skip",
    "shard",
    "prefetch",
    "cache",
    "unique",
    "ignore_errors",
    "with_options",
}


def scan_spec(spec: Nest, step: dict[str, Any]) -> tuple[Nest, Nest]:
    """The state and the output of a scan, the state widened until it holds its successor."""
    state = spec_of(step["initial"])
    while True:
        made = functions.signature(step["fn"], Tup((state, spec)))
        if not isinstance(made, Tup) or len(made.items) != 2:
            raise NotApplicableError("a scan gives a pair")
        wider = relax(state, made.items[0])
        if wider is None:
            raise NotApplicableError("a state of another type")
        if wider == state:
            return state, made.items[1]
        state = wider


def padded_spec(spec: Nest, step: dict[str, Any]) -> Nest:
    size = step["size"] if step["drop_remainder"] else None
    flat = dense_leaves(spec)
    if step["shapes"] is None:
        shapes: list[Shape] = [leaf.shape for leaf in flat]
        if None in shapes:
            raise NotApplicableError("unknown rank cannot be padded")
    else:
        shapes = [tuple(None if n == -1 else n for n in shape) for shape in step["shapes"]]
        if len(shapes) != len(flat):
            raise NotApplicableError("a shape for each leaf")
    rest = list(shapes)

    def padded(leaf: Leaf) -> Leaf:
        return Leaf(leaf.dtype, (size, *(rest.pop(0) or ())))

    return map_dense(padded, spec)


def _bucketed(spec: Nest, step: dict[str, Any]) -> Nest:
    functions.signature({"fn": "length"}, spec)
    return stacked(spec, None)


def _rebatched(spec: Nest, step: dict[str, Any]) -> Nest:
    sizes = step["sizes"] if isinstance(step["sizes"], list) else [step["sizes"]]
    same = len(set(sizes)) == 1
    dense = [leaf.shape for leaf in leaves(spec) if isinstance(leaf, Leaf)]
    # The first batch size that is known holds for all components, unless one has no rank.
    leading = [shape[0] for shape in dense if shape and shape[0] is not None]
    known = leading[0] if leading and None not in dense else None

    def rebatched(leaf: Leaf) -> Leaf:
        if leaf.shape is None:
            return leaf
        if not leaf.shape:
            raise NotApplicableError("a scalar cannot be rebatched")
        fits = known is not None and sizes[0] > 0 and known % sizes[0] == 0
        static = same and (step["drop_remainder"] or fits)
        return Leaf(leaf.dtype, (sizes[0] if static else None, *leaf.shape[1:]))

    return map_dense(rebatched, spec)
