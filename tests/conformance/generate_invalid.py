"""Steps and sources that must be refused: construction errors are compared as well."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from .generate_sources import State
from .infer import alike_rows
from .spec import Leaf, dense_leaves, has_inner

Draw = Any
Step = dict[str, Any]

_ZERO = st.sampled_from([0, -1, -7])


def steps(draw: Draw, state: State) -> Step | None:
    """A step that the pipeline so far does not allow."""
    if has_inner(state.spec):
        return None
    made = _candidates(draw, state)
    return made[draw(st.sampled_from(sorted(made)))]


def _batch(size: int) -> Step:
    return {"op": "batch", "size": size, "drop_remainder": False, "parallel": None}


def _window(**changes: Any) -> Step:
    return {"op": "window", "size": 2, "shift": 1, "stride": 1, "drop_remainder": False, **changes}


def _interleave(**changes: Any) -> Step:
    body = {"make": "range", "fn": {"fn": "key", "m": 3}, "steps": []}
    return {"op": "interleave", "body": body, "cycle": 2, "block": 1, "parallel": None, **changes}


def _padded(**changes: Any) -> Step:
    step = {"op": "padded_batch", "size": 2, "shapes": None, "values": None}
    return {**step, "drop_remainder": False, **changes}


def _group(**changes: Any) -> Step:
    step = {"op": "group_by_window", "key": {"fn": "key", "m": 2}, "steps": [_batch(2)]}
    return {**step, "size": 2, "size_fn": None, **changes}


def _bucket(**changes: Any) -> Step:
    step: Step = {"op": "bucket_by_sequence_length", "length": {"fn": "length"}}
    step |= {"boundaries": [2], "sizes": [1, 1], "pad_to_boundary": False}
    return {**step, "no_padding": True, "drop_remainder": False, **changes}


def _candidates(draw: Draw, state: State) -> dict[str, Step]:
    flat = dense_leaves(state.spec)
    bad = {"fn": "bad_predicate", "what": draw(st.sampled_from(["vector", "number"]))}
    wrong = draw(st.sampled_from(["dtype", "single"]))
    number = ["int64", [], [0]]
    made: dict[str, Step] = {
        "batch": _batch(draw(_ZERO)),
        "map parallel": {"op": "map", "fn": {"fn": "identity"}, "parallel": draw(_ZERO) * 2},
        "shuffle": {
            "op": "shuffle",
            "buffer": draw(st.sampled_from([0, -1, -3])),
            "seed": 1,
            "reshuffle": None,
        },
        "shard count": {"op": "shard", "n": draw(st.sampled_from([0, -7])), "index": 0},
        "shard index": {"op": "shard", "n": 2, "index": draw(st.sampled_from([2, -1, 9]))},
        "window size": _window(size=draw(_ZERO)),
        "window shift": _window(shift=draw(_ZERO)),
        "window stride": _window(stride=draw(_ZERO)),
        "filter": {"op": "filter", "fn": bad},
        "take_while": {"op": "take_while", "fn": bad},
        "prefetch": {"op": "prefetch", "size": draw(st.sampled_from([-2, -9]))},
        "scan": {"op": "scan", "initial": number, "fn": {"fn": "scan_bad", "what": wrong}},
        "cycle": _interleave(cycle=draw(st.sampled_from([0, -7]))),
        "block": _interleave(block=draw(_ZERO)),
        "interleave parallel": _interleave(parallel=draw(st.sampled_from([0, -5, 3]))),
        "concatenate": {
            "op": "concatenate",
            "other": {
                "source": {"op": "from_tensors", "value": _other(draw, state)},
                "steps": [],
            },
        },
        "apply": {"op": "apply", "steps": [], "bad": True},
        "group both": _group(size_fn={"fn": "key", "m": 3}),
        "group neither": _group(size=None),
        "options type": {"op": "with_options", "options": {"deterministic": 5}},
        "options name": {"op": "with_options", "options": {"determinism": True}},
        "padded size": _padded(size=draw(_ZERO), shapes=[list(_known(leaf)) for leaf in flat]),
        "padded rank": _padded(shapes=[[*_known(leaf), 7] for leaf in flat]),
        "padded values": _padded(
            shapes=[list(_known(leaf)) for leaf in flat],
            values=[_wrong_fill(leaf) for leaf in flat],
        ),
        "inner batch": _nested(_batch(0)),
        "inner shard": _nested({"op": "shard", "n": 2, "index": 5}),
        "inner window": _nested(_window(size=0)),
    }
    if any(leaf.shape and leaf.shape[0] for leaf in flat):
        made["padded short"] = _padded(shapes=[[0 for _ in _known(leaf)] for leaf in flat])
    if any(leaf.shape is None for leaf in flat):
        made["padded unknown"] = _padded()
    if not alike_rows(state.spec):
        made["unbatch"] = {"op": "unbatch"}
    if any(leaf.shape == () for leaf in flat):
        made["unbatch"] = {"op": "unbatch"}
        made["rebatch"] = {"op": "rebatch", "sizes": 2, "drop_remainder": False}
    elif all(leaf.shape for leaf in flat):
        made["buckets"] = _bucket(sizes=[1])
    if not (isinstance(state.spec, Leaf) and state.spec.dtype in ("int32", "int64", "string")):
        made["unique"] = {"op": "unique"}
    return made


def _nested(step: Step) -> Step:
    body: Step = {"make": "range", "fn": {"fn": "key", "m": 3}, "steps": [step]}
    if step["op"] == "window":
        body["steps"].append({"op": "flat_map", "body": {"make": "windows", "steps": []}})
    return {"op": "flat_map", "body": body}


def _known(leaf: Leaf) -> tuple[int, ...]:
    return tuple(n or 0 for n in leaf.shape or ())


def _wrong_fill(leaf: Leaf) -> list[Any]:
    return ["string", [], ["x"]] if leaf.dtype != "string" else ["int32", [], [1]]


def _other(draw: Draw, state: State) -> Any:
    """A value whose type has nothing in common with the pipeline's."""
    if isinstance(state.spec, Leaf):
        other = "bool" if state.spec.dtype != "bool" else "int64"
        leaf = [other, [], [1]]
        return draw(st.sampled_from([leaf, {"tuple": [leaf]}]))
    return ["int64", [], [1]]


def sources(draw: Draw) -> Step:
    """A source that cannot be made."""
    number: dict[str, Any] = {
        "source": {"op": "range", "args": [3], "dtype": None},
        "steps": [],
    }
    text = {"source": {"op": "from_tensors", "value": ["string", [], ["s"]]}, "steps": []}
    mixed = {"weights": [0.5, 0.5], "seed": 1, "stop": False, "rerandomize": None}
    made: list[Step] = [
        {"op": "range", "args": [0, 5, 0], "dtype": None},
        {"op": "from_tensor_slices", "value": ["int64", [], [1]]},
        {
            "op": "from_tensor_slices",
            "value": {"tuple": [["int64", [2], [1, 2]], ["int64", [3], [1, 2, 3]]]},
        },
        {"op": "from_tensor_slices", "value": {"tuple": []}},
        {"op": "list_files", "files": ["a"], "patterns": ["*.x"], "shuffle": False, "seed": None},
        {"op": "zip", "inputs": {"list": [number, number]}},
        {"op": "zip", "inputs": {"tuple": []}},
        {"op": "choose_from_datasets", "inputs": [number], "choice": text, "stop": True},
        {"op": "choose_from_datasets", "inputs": [number, text], "choice": number, "stop": True},
        {"op": "choose_from_datasets", "inputs": [], "choice": number, "stop": True},
        {"op": "sample_from_datasets", "inputs": [number, text], **mixed},
        {"op": "sample_from_datasets", "inputs": [number], **mixed},
        {"op": "sample_from_datasets", "inputs": [number, number], **mixed, "weights": [1, 2]},
        {"op": "sample_from_datasets", "inputs": [], **mixed, "weights": None},
        {"op": "sample_from_datasets", "inputs": [number] * 2, **mixed, "weights": [0.0, 0.0]},
    ]
    chosen: Step = draw(st.sampled_from(made))
    return chosen
