"""Random transformations that fit the pipeline so far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from . import infer
from .functions import Desc
from .generate_functions import fits, keys, mappers, maybe_raising, predicates, scans
from .generate_sources import Made, Program, Recurse, State, like, racy, seeds
from .generate_values import tensor
from .spec import Inner, Leaf, Nest, NotApplicableError, dense_leaves, has_inner, leaves

Draw = Any
Step = dict[str, Any]
Stepped = tuple[Step, State]

LARGEST = 48
parallels = st.sampled_from([None, None, None, 1, 2, 2, -1])


def _counted(state: State, step: Step, bound: int | None, **changes: bool) -> Stepped:
    return step, replace(state, spec=infer.step_spec(state.spec, step), bound=bound, **changes)


def _same(state: State, step: Step, **changes: bool) -> Stepped:
    return _counted(state, step, state.bound, **changes)


def _map(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    parallel = draw(parallels)
    step = {"op": "map", "fn": mappers(draw, state.spec), "parallel": parallel}
    return _same(state, step, ahead=state.ahead or parallel is not None)


def _filter(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    return _same(state, {"op": "filter", "fn": predicates(draw)})


def _take_while(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    fn: Desc = {
        "fn": "mod_in",
        "m": 5,
        "keep": draw(st.sampled_from([[0, 1, 2, 3], [1, 2, 3, 4], [0, 1], []])),
    }
    return _same(state, {"op": "take_while", "fn": maybe_raising(draw, fn)})


def _batched(count: int | None, size: int) -> int | None:
    return None if count is None else -(-count // size)


def _batch(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    size, parallel = draw(st.integers(1, 5)), draw(parallels)
    step = {
        "op": "batch",
        "size": size,
        "drop_remainder": draw(st.booleans()),
        "parallel": parallel,
    }
    ahead = state.ahead or parallel is not None
    return _counted(state, step, _batched(state.bound, size), ahead=ahead)


def _padding(draw: Draw, spec: Nest) -> tuple[Any, Any]:
    flat = dense_leaves(spec)
    shapes = None
    if any(leaf.shape is None for leaf in flat) or draw(st.booleans()):
        shapes = [
            [
                draw(st.sampled_from([-1, -1, -1, 1, 2, 3, 4]))
                if n is None
                else draw(st.sampled_from([n, n, n + 1, -1]))
                for n in (leaf.shape if leaf.shape is not None else (None,))
            ]
            for leaf in flat
        ]
    fills: Any = None
    if draw(st.booleans()):
        fills = [None if draw(st.booleans()) else tensor(draw, leaf.dtype, ()) for leaf in flat]
        if len({leaf.dtype for leaf in flat}) == 1 and draw(st.booleans()):
            fills = {"all": tensor(draw, flat[0].dtype, ())}
    return shapes, fills


def padded_batch(draw: Draw, spec: Nest) -> Step:
    shapes, fills = _padding(draw, spec)
    return {
        "op": "padded_batch",
        "size": draw(st.integers(1, 4)),
        "shapes": shapes,
        "values": fills,
        "drop_remainder": draw(st.booleans()),
    }


def _padded_batch(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    step = padded_batch(draw, state.spec)
    return _counted(state, step, _batched(state.bound, step["size"]))


def _unbatch(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    return _counted(state, {"op": "unbatch"}, None if state.bound is None else state.bound * 4)


def _rebatch(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    sizes: Any = draw(st.integers(1, 4))
    if draw(st.booleans()):
        sizes = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3))
        if not any(sizes):
            sizes = [1]
    step = {"op": "rebatch", "sizes": sizes, "drop_remainder": draw(st.booleans())}
    return _counted(state, step, None if state.bound is None else state.bound * 8)


def _shuffle(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    reshuffle = draw(st.sampled_from([None, True, False]))
    step = {
        "op": "shuffle",
        "buffer": draw(
            st.sampled_from([1, 2, 3, 4, 10, 100, -2 if state.bound is not None else 5])
        ),
        "seed": draw(seeds),
        "reshuffle": reshuffle,
    }
    return _same(state, step, shared=state.shared or reshuffle is not False)


def _repeat(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    counts: list[int | None] = [0, 1, 2, 2, 3]
    if not racy(state) and not depth:
        counts += [-1, None, -3]
    count = draw(st.sampled_from(counts))
    if count is None or count < 0:
        return _counted(state, {"op": "repeat", "count": count}, None)
    bound = None if state.bound is None else state.bound * count
    return _counted(state, {"op": "repeat", "count": count}, bound)


def _take(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    count = draw(st.sampled_from([0, 1, 2, 3, 5, 8, 100 if state.bound is not None else 9, -1]))
    if state.bound is None:
        count = max(count, 1)
    bound = state.bound if count < 0 else min(count, LARGEST if state.bound is None else count)
    return _counted(state, {"op": "take", "count": count}, bound)


def _skip(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    counts = [0, 1, 2, 3, 5] + ([100, -1] if state.bound is not None else [])
    return _same(state, {"op": "skip", "count": draw(st.sampled_from(counts))})


def _shard(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    n = draw(st.integers(1, 4))
    return _same(state, {"op": "shard", "n": n, "index": draw(st.integers(0, n - 1))})


def _enumerate(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    return _same(state, {"op": "enumerate", "start": draw(st.sampled_from([0, 0, 1, 10, -3]))})


def _concatenate(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    if not racy(state) and draw(st.integers(0, 3)) == 0:
        bound = None if state.bound is None else state.bound * 2
        return _counted(state, {"op": "concatenate"}, bound)
    other, its = like(draw, state.spec)
    bound = None if state.bound is None else state.bound + (its.bound or 0)
    return _counted(state, {"op": "concatenate", "other": other}, bound)


def _zip(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    return _same(state, {"op": "zip"})


def _window(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    return _same(
        state,
        {
            "op": "window",
            "size": draw(st.integers(1, 4)),
            "shift": draw(st.sampled_from([None, None, 1, 2, 3, 5])),
            "stride": draw(st.sampled_from([1, 1, 2, 3])),
            "drop_remainder": draw(st.booleans()),
        },
    )


def _prefetch(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    size = draw(st.sampled_from([0, 1, 2, 5, -1]))
    return _same(state, {"op": "prefetch", "size": size}, ahead=True)


def _cache(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    return _same(state, {"op": "cache"}, shared=True)


def _scan(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    initial, fn = scans(draw, state.spec)
    return _same(state, {"op": "scan", "initial": initial, "fn": fn})


def _unique(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    return _same(state, {"op": "unique"})


def _ignore_errors(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    return _same(state, {"op": "ignore_errors"})


def _with_options(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    options = draw(
        st.sampled_from(
            [
                {"deterministic": True},
                {"autotune.enabled": False},
                {"threading.private_threadpool_size": 2},
                {"experimental_optimization.apply_default_optimizations": False},
                {},
            ]
        )
    )
    return _same(state, {"op": "with_options", "options": options})


def _group_by_window(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    kind = draw(st.sampled_from(["batch", "batch", "padded", "steps", "nothing"]))
    steps: list[Step] = []
    if kind in ("steps", "nothing"):
        inner = State(state.spec, 4)
        steps, _ = some_steps(draw, inner, depth + 1, recurse, 2 if kind == "steps" else 0)
    elif kind == "padded" and ok("padded_batch", state):
        steps = [padded_batch(draw, state.spec)]
    elif ok("batch", state):
        steps = [
            {
                "op": "batch",
                "size": draw(st.integers(1, 4)),
                "drop_remainder": draw(st.booleans()),
                "parallel": None,
            }
        ]
    size: int | None = draw(st.sampled_from([1, 2, 3, 4, 0 if draw(st.booleans()) else 2]))
    size_fn = None
    if draw(st.integers(0, 2)) == 0:
        size, size_fn = None, maybe_raising(draw, {"fn": "key", "m": draw(st.integers(3, 5))})
    step = {
        "op": "group_by_window",
        "key": keys(draw),
        "steps": steps,
        "size": size,
        "size_fn": size_fn,
    }
    return _counted(state, step, None if state.bound is None else state.bound * 2)


def _bucket(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    n = draw(st.integers(1, 3))
    no_padding = draw(st.integers(0, 3)) == 0
    if any(leaf.shape is None for leaf in dense_leaves(state.spec)):
        no_padding = True
    to_boundary = not no_padding and draw(st.booleans())
    bounds = draw(st.sets(st.integers(1, 5), min_size=n, max_size=n))
    step = {
        "op": "bucket_by_sequence_length",
        "length": maybe_raising(draw, {"fn": "length"}, 8),
        # An element beyond the last boundary would make TensorFlow fail without end.
        "boundaries": [*sorted(bounds)[:-1], 60] if to_boundary else sorted(bounds),
        "sizes": [draw(st.integers(1, 3)) for _ in range(n + 1)],
        "pad_to_boundary": to_boundary,
        "no_padding": no_padding,
        "drop_remainder": draw(st.booleans()),
    }
    return _same(state, step)


def _apply(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    steps, after = some_steps(draw, state, depth + 1, recurse, draw(st.integers(0, 2)))
    return {"op": "apply", "steps": steps}, after


def _body(draw: Draw, state: State, depth: int, recurse: Recurse) -> tuple[Step, State]:
    """A function to a dataset: with the state of one dataset it makes."""
    if has_inner(state.spec):
        body: Step = {"make": "windows", "steps": []}
        inner = State(infer.unwindowed(state.spec), 4)
        if ok("batch", inner) and draw(st.integers(0, 3)):
            drop = draw(st.booleans())
            step = {"op": "batch", "size": 3, "drop_remainder": drop, "parallel": None}
            body["steps"].append(step)
            inner = replace(inner, spec=infer.step_spec(inner.spec, step))
            return body, inner
    else:
        make = draw(st.sampled_from(["range", "range", "slices", "tensors", "fixed"]))
        body = {"make": make, "steps": []}
        if make == "fixed":
            program, inner = recurse(draw, max(depth + 1, 2))
            body["program"] = program
        elif make == "range":
            body["fn"] = keys(draw)
            inner = State(infer.INT64, 3)
        else:
            body["fn"] = mappers(draw, state.spec)
            try:
                inner = State(infer.body_spec(state.spec, body), 3)
            except NotApplicableError:
                body["fn"] = {"fn": "vary", "as": "vector", "m": 3, "dtype": "int64"}
                inner = State(infer.body_spec(state.spec, body), 3)
    if inner.bound is not None and inner.bound <= 8:
        steps, inner = some_steps(draw, inner, depth + 2, recurse, draw(st.integers(0, 2)))
        body["steps"] += steps
    if inner.bound is None or inner.bound > 6:
        body["steps"].append({"op": "take", "count": 4})
        inner = replace(inner, bound=4)
    return body, inner


def _nested(state: State, step: Step, inner: State) -> Stepped:
    bound = None if state.bound is None else state.bound * (inner.bound or 0)
    return step, replace(state, spec=inner.spec, bound=bound)


def _flat_map(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    body, inner = _body(draw, state, depth, recurse)
    return _nested(state, {"op": "flat_map", "body": body}, inner)


def _interleave(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    body, inner = _body(draw, state, depth, recurse)
    parallel = draw(st.sampled_from([None, None, 2, -1]))
    step = {
        "op": "interleave",
        "body": body,
        "cycle": draw(st.sampled_from([1, 2, 3, 4] if parallel != 2 else [2, 3, 4])),
        "block": draw(st.integers(1, 3)),
        "parallel": parallel,
    }
    made, after = _nested(state, step, inner)
    return made, replace(after, ahead=after.ahead or parallel is not None)


Maker = Callable[[Draw, State, int, Recurse], Stepped]

MAKERS: dict[str, Maker] = {
    "map": _map,
    "filter": _filter,
    "take_while": _take_while,
    "batch": _batch,
    "padded_batch": _padded_batch,
    "unbatch": _unbatch,
    "rebatch": _rebatch,
    "shuffle": _shuffle,
    "repeat": _repeat,
    "take": _take,
    "skip": _skip,
    "shard": _shard,
    "enumerate": _enumerate,
    "concatenate": _concatenate,
    "zip": _zip,
    "window": _window,
    "flat_map": _flat_map,
    "interleave": _interleave,
    "prefetch": _prefetch,
    "cache": _cache,
    "scan": _scan,
    "unique": _unique,
    "group_by_window": _group_by_window,
    "bucket_by_sequence_length": _bucket,
    "ignore_errors": _ignore_errors,
    "apply": _apply,
    "with_options": _with_options,
}

_FOREVER = {"map", "batch", "enumerate", "take", "skip", "prefetch", "shuffle", "shard", "scan"}
_OF_WINDOWS = {"flat_map", "interleave", "take", "skip", "repeat", "shard", "prefetch", "enumerate"}
_NESTING = {"flat_map", "interleave", "group_by_window", "window"}
_CUTS = {"take", "take_while", "zip"}


def _dense(state: State) -> list[Leaf]:
    return dense_leaves(state.spec)


def _max_rank(state: State) -> int:
    return max(len(leaf.shape or ()) for leaf in _dense(state))


def _all_slices(state: State) -> bool:
    return all(leaf.shape is None or leaf.shape for leaf in _dense(state))


def _empty_rows(state: State) -> bool:
    """TensorFlow crashes when it takes rows of size zero apart."""
    return any(0 in (leaf.shape or ())[1:] for leaf in _dense(state))


_NEEDS: dict[str, Callable[[State], bool]] = {
    "batch": lambda s: _max_rank(s) < 4,
    "padded_batch": lambda s: (
        _max_rank(s) < 4 and all(leaf.shape is not None for leaf in _dense(s))
    ),
    "unbatch": lambda s: _all_slices(s) and infer.alike_rows(s.spec) and not _empty_rows(s),
    "rebatch": lambda s: all(leaf.shape for leaf in _dense(s)),
    "unique": lambda s: isinstance(s.spec, Leaf) and s.spec.dtype in ("int32", "int64", "string"),
    "bucket_by_sequence_length": lambda s: (
        fits({"fn": "length"}, s.spec) and _dense(s)[0].shape is not None and _max_rank(s) < 4
    ),
    "repeat": lambda s: s.bound is None or s.bound <= 16,
    "zip": lambda s: len(_dense(s)) < 4,
    "flat_map": lambda s: s.bound is None or s.bound <= 16,
    "interleave": lambda s: s.bound is None or s.bound <= 16,
    "concatenate": lambda s: s.bound is None or s.bound <= 24,
    "group_by_window": lambda s: s.bound is None or s.bound <= 24,
}


def ok(op: str, state: State) -> bool:
    """Whether the operator may follow."""
    if state.bound is None and op not in _FOREVER:
        return False
    if has_inner(state.spec):
        windows = all(isinstance(leaf, Inner) for leaf in leaves(state.spec))
        return op in _OF_WINDOWS and (windows or op not in ("flat_map", "interleave"))
    if racy(state) and op in _CUTS:
        return False
    if op == "prefetch" and state.bound is None and state.shared:
        return False
    return op not in _NEEDS or _NEEDS[op](state)


def one_step(draw: Draw, state: State, depth: int, recurse: Recurse) -> Stepped:
    names = [op for op in MAKERS if ok(op, state)]
    if depth >= 2:
        names = [op for op in names if op not in _NESTING]
    if has_inner(state.spec):
        names += ["flat_map", "interleave"] * 6 if "flat_map" in names else []
    elif state.bound is None:
        names += ["take"] * 4
    else:
        names += ["map", "map", "map", "shuffle"]
    return MAKERS[draw(st.sampled_from(names))](draw, state, depth, recurse)


def some_steps(
    draw: Draw, state: State, depth: int, recurse: Recurse, count: int
) -> tuple[list[Step], State]:
    steps = []
    for _ in range(count):
        step, state = one_step(draw, state, depth, recurse)
        steps.append(step)
    return steps, state


__all__ = ["Made", "Program", "ok", "one_step", "some_steps"]
