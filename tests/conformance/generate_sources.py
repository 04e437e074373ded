"""Random sources of programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from . import infer
from .functions import KINDS
from .generate_values import specs, tensor, values
from .spec import Leaf, Nest, dense_leaves, has_inner, map_dense, to_json
from .values import encode_nest

Draw = Any
Program = dict[str, Any]


@dataclass(frozen=True)
class State:
    """What the generator knows of the pipeline so far.

    `bound` is the most elements it can give, None when it never ends. A pipeline whose dataset
    object keeps state between epochs (`shared`) and that also works ahead (`ahead`) has no
    defined order once it is cut short, in TensorFlow neither; such programs are not made.
    """

    spec: Nest
    bound: int | None
    shared: bool = False
    ahead: bool = False


Made = tuple[Program, State]
Recurse = Callable[[Draw, int], Made]


def _range(draw: Draw, depth: int, recurse: Recurse) -> Made:
    if draw(st.integers(0, 4)) == 0:
        start, step = draw(st.integers(-5, 5)), draw(st.sampled_from([-3, -1, 1, 2, 3]))
        stop = start + step * draw(st.integers(-1, 8)) + draw(st.integers(-1, 1))
        args = [start, stop, step]
    elif draw(st.booleans()):
        args = [draw(st.integers(0, 4)), draw(counts) + 4]
    else:
        args = [draw(counts) + draw(st.sampled_from([0, 0, 3, 6]))]
    dtype = draw(st.sampled_from([None, None, None, "int32", "float32", "float64", "uint8"]))
    if dtype == "uint8":
        args = [abs(n) for n in args]
    count = len(range(*args))
    source = {"op": "range", "args": args, "dtype": dtype}
    return source, State(infer.source_spec(source), count)


def _counter(draw: Draw, depth: int, recurse: Recurse) -> Made:
    dtype = draw(st.sampled_from(["int64", "int64", "int32", "float32", "int8"]))
    source = {
        "op": "counter",
        "start": draw(st.integers(-3, 100)),
        "step": draw(st.sampled_from([1, 1, 2, 5, -1, 30])),
        "dtype": dtype,
    }
    return source, State(Leaf(dtype, ()), None)


def _random(draw: Draw, depth: int, recurse: Recurse) -> Made:
    again = draw(st.sampled_from([None, False, True]))
    source = {"op": "random", "seed": draw(seeds), "rerandomize": again}
    return source, State(infer.INT64, None, shared=bool(again))


counts = st.sampled_from([0, 1, 2, 3, 4, 5, 6, 7, 8, 4, 5, 6, 7])
seeds = st.sampled_from([0, 1, 2, 42, 7, 123456789, 2**31 - 1, 2**31, -5])


def _from_tensors(draw: Draw, depth: int, recurse: Recurse) -> Made:
    source = {"op": "from_tensors", "value": values(draw, specs(draw))}
    return source, State(infer.source_spec(source), 1)


def _from_tensor_slices(draw: Draw, depth: int, recurse: Recurse) -> Made:
    spec = specs(draw)
    n = draw(counts)
    source = {"op": "from_tensor_slices", "value": values(draw, spec, n)}
    return source, State(spec, n)


def _loosened(draw: Draw, spec: Nest) -> Nest:
    """The type with some dimensions, or a rank, left open."""

    def loosen(leaf: Leaf) -> Leaf:
        if leaf.shape is None or draw(st.integers(0, 9)) == 0:
            return Leaf(leaf.dtype, None)
        return Leaf(leaf.dtype, tuple(None if draw(st.booleans()) else n for n in leaf.shape))

    return map_dense(loosen, spec)


def _odd_item(draw: Draw, spec: Nest) -> Any:
    """What a generator had better not yield: of another dtype, shape or structure, or nothing."""
    kinds = ["raise", "raise", "shape"]
    if all(leaf.dtype != "string" for leaf in dense_leaves(spec)):
        kinds += ["text", "structure", "convert"]
    kind = draw(st.sampled_from(kinds))
    if kind == "raise":
        return {"raise": draw(st.sampled_from(sorted(set(KINDS) - {"StopIteration"})))}
    if kind == "text":
        return {"raw": "ERROR"}
    if kind == "structure":
        return {"raw": {"tuple": [1, 2, 3, 4]}}
    if kind == "shape":
        flat = [tensor(draw, leaf.dtype, (5, 1, 5, 1)) for leaf in dense_leaves(spec)]
        return {"value": encode_nest(spec, flat)}
    return {"raw": draw(st.sampled_from([1, [1], [1, 2], 2.5, True, [[1, 2], [3, 4]]]))}


def _from_generator(draw: Draw, depth: int, recurse: Recurse) -> Made:
    return generator_of(draw, _loosened(draw, specs(draw)), odd=True)


def generator_of(draw: Draw, spec: Nest, odd: bool) -> Made:
    items: list[Any] = [{"value": values(draw, spec)} for _ in range(draw(counts))]
    if odd and draw(st.integers(0, 2)) == 0:
        items.insert(draw(st.integers(0, len(items))), _odd_item(draw, spec))
    source = {"op": "from_generator", "signature": to_json(spec), "items": items}
    return source, State(spec, len(items))


def _list_files(draw: Draw, depth: int, recurse: Recurse) -> Made:
    names = ["a.txt", "b.txt", "c.bin", "d.txt", "z10.txt", "z9.txt", "A.txt", "b c.txt"]
    files = draw(st.permutations(names))[: draw(st.integers(1, 7))]
    patterns = draw(
        st.sampled_from([["*"], ["*.txt", "*"], ["*"], ["*.*"], ["[ab]*", "*"], ["*", "z?.txt"]])
    )
    shuffle = draw(st.sampled_from([None, True, False, False]))
    source = {
        "op": "list_files",
        "files": files,
        "patterns": patterns,
        "shuffle": shuffle,
        "seed": draw(seeds) if shuffle is not False else None,
    }
    return source, State(infer.STRING, 2 * len(files), shared=shuffle is not False)


def _joined(states: list[State]) -> dict[str, bool]:
    return {
        "shared": any(state.shared for state in states),
        "ahead": any(state.ahead for state in states),
    }


def racy(state: State) -> bool:
    return state.shared and state.ahead


def _input(draw: Draw, depth: int, recurse: Recurse) -> Made:
    """A program that may be cut short."""
    program, state = recurse(draw, depth + 1)
    if racy(state):
        source, state = _range(draw, depth, recurse)
        return {"source": source, "steps": []}, state
    return program, state


def _zip(draw: Draw, depth: int, recurse: Recurse) -> Made:
    made = [_input(draw, depth, recurse) for _ in range(draw(st.integers(1, 3)))]
    programs = [program for program, _ in made]
    kind = draw(st.sampled_from(["tuple", "tuple", "spread", "dict", "named", "nested", "one"]))
    source: Program = {"op": "zip"}
    if kind == "dict":
        source["inputs"] = {"dict": dict(zip("abc", programs, strict=False))}
    elif kind == "named" and len(programs) == 2:
        source["inputs"] = {"named": "Point", "items": programs}
    elif kind == "nested" and len(programs) == 3:
        source["inputs"] = {"tuple": [{"tuple": programs[:2]}, programs[2]]}
    elif kind == "one":
        source["inputs"] = programs[0]
        made = made[:1]
    else:
        source["inputs"] = {"tuple": programs}
        source["spread"] = kind == "spread"
    states = [state for _, state in made]
    bounds = [state.bound for state in states if state.bound is not None]
    spec = infer.source_spec(source)
    return source, State(spec, min(bounds) if bounds else None, **_joined(states))


def like(draw: Draw, spec: Nest) -> Made:
    """A program whose elements have the given type, or now and then another shape of it."""
    static = all(leaf.shape is not None and None not in leaf.shape for leaf in dense_leaves(spec))
    if static and draw(st.integers(0, 2)):
        if draw(st.integers(0, 5)) == 0:
            spec = _reshaped(draw, spec)
        n = draw(counts)
        source = {"op": "from_tensor_slices", "value": values(draw, spec, n)}
        return {"source": source, "steps": []}, State(spec, n)
    source, state = generator_of(draw, spec, odd=False)
    return {"source": source, "steps": []}, state


def _reshaped(draw: Draw, spec: Nest) -> Nest:

    return map_dense(lambda leaf: Leaf(leaf.dtype, (*(leaf.shape or ())[1:], 2)), spec)


def _mixed_inputs(draw: Draw, depth: int, recurse: Recurse) -> tuple[list[Program], list[State]]:
    made = [_input(draw, depth, recurse)]
    if has_inner(made[0][1].spec):
        source, state = _range(draw, depth, recurse)
        made = [({"source": source, "steps": []}, state)]
    made += [like(draw, made[0][1].spec) for _ in range(draw(st.integers(0, 2)))]
    return [program for program, _ in made], [state for _, state in made]


def _choose(draw: Draw, depth: int, recurse: Recurse) -> Made:
    programs, states = _mixed_inputs(draw, depth, recurse)
    n = len(programs)
    high = n if draw(st.integers(0, 7)) == 0 else n - 1
    low = -1 if draw(st.integers(0, 15)) == 0 else 0
    count = draw(counts) + draw(st.integers(0, 4))
    picks = [draw(st.integers(low, high)) for _ in range(count)]
    choice: Program = {
        "source": {"op": "from_tensor_slices", "value": ["int64", [count], picks]},
        "steps": [],
    }
    if draw(st.integers(0, 5)) == 0:
        rule = {"mod": 2, "at": [1], "kind": draw(st.sampled_from(sorted(KINDS)))}
        choice["steps"].append(
            {"op": "map", "fn": {"fn": "identity", "raise": rule}, "parallel": None}
        )
    source = {
        "op": "choose_from_datasets",
        "inputs": programs,
        "choice": choice,
        "stop": draw(st.booleans()),
    }
    return source, State(infer.common([s.spec for s in states]), count, **_joined(states))


def _sample(draw: Draw, depth: int, recurse: Recurse) -> Made:
    programs, states = _mixed_inputs(draw, depth, recurse)
    weights = None
    if draw(st.booleans()):
        weights = [draw(st.sampled_from([0.1, 0.5, 0.9, 1.0, 2.5, 0.0])) for _ in programs]
    again = draw(st.sampled_from([None, None, True, False]))
    source = {
        "op": "sample_from_datasets",
        "inputs": programs,
        "weights": weights,
        "seed": draw(seeds),
        "stop": draw(st.booleans()),
        "rerandomize": again,
    }
    bounds = [state.bound for state in states]
    total = None if None in bounds else sum(bound or 0 for bound in bounds)
    joined = _joined(states)
    joined["shared"] = joined["shared"] or bool(again)
    kept = [
        state.spec
        for state, weight in zip(states, weights or [1.0] * len(states), strict=True)
        if weight > 0
    ]
    return source, State(infer.common(kept or [states[0].spec]), total, **joined)


SIMPLE = {
    "range": _range,
    "from_tensors": _from_tensors,
    "from_tensor_slices": _from_tensor_slices,
    "from_generator": _from_generator,
    "list_files": _list_files,
    "counter": _counter,
    "random": _random,
}
COMPOUND = {
    "zip": _zip,
    "choose_from_datasets": _choose,
    "sample_from_datasets": _sample,
}


def sources(draw: Draw, depth: int, recurse: Recurse) -> Made:
    makers = {**SIMPLE, **(COMPOUND if depth < 2 else {})}
    names = [*makers, "range", "range", "range", "from_tensor_slices", "from_tensor_slices"]
    return makers[draw(st.sampled_from(names))](draw, depth, recurse)
