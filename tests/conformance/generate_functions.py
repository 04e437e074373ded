"""Random functions of the catalogue that fit a given element type."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from . import functions
from .functions import KINDS, Desc
from .spec import DTYPES, Leaf, Nest, NotApplicableError, Tup, dense_leaves

Draw = Any

dtypes = st.sampled_from(DTYPES)


def maybe_raising(draw: Draw, desc: Desc, chance: int = 6) -> Desc:
    """The function as it is, or, once in `chance` times, one that raises for some elements."""
    if draw(st.integers(1, chance)) != 1:
        return desc
    mod = draw(st.sampled_from([2, 3, 3, 4, 5, 7]))
    at = sorted(draw(st.sets(st.integers(0, mod - 1), min_size=1, max_size=2)))
    return {**desc, "raise": {"mod": mod, "at": at, "kind": draw(st.sampled_from(sorted(KINDS)))}}


def _rank(spec: Nest) -> int:
    return max(len(leaf.shape or ()) for leaf in dense_leaves(spec))


def fits(desc: Desc, spec: Nest) -> bool:
    try:
        functions.signature(desc, spec)
    except NotApplicableError:
        return False
    return True


def mappers(draw: Draw, spec: Nest) -> Desc:
    """A function for `map`."""
    makers = ["identity", "add_const", "add_const", "cast", "key", "vary", "vary", "wrap", "wrap"]
    makers += ["forget", "flatten"]
    if _rank(spec) < 3:
        makers.append("stack")
    if not isinstance(spec, Leaf):
        makers += ["pick"] * 3
    if isinstance(spec, Tup):
        makers.append("reverse")
    if len(dense_leaves(spec)) > 5:
        makers = ["pick", "key", "identity"]
    name = draw(st.sampled_from(makers))
    desc: Desc = {"fn": name}
    if name == "add_const":
        desc["k"] = draw(st.integers(-3, 100))
    elif name == "cast":
        desc["dtype"] = draw(dtypes)
    elif name == "key":
        desc["m"] = draw(st.integers(2, 9))
    elif name == "vary":
        desc["as"] = draw(st.sampled_from(["vector", "vector", "matrix", "square", "rank"]))
        desc["m"] = draw(st.integers(2, 4))
        desc["dtype"] = draw(dtypes)
    elif name == "wrap":
        kinds = ["tuple", "nested", "dict", "nested_dict", "Point", "Item", "single"]
        desc["in"] = draw(st.sampled_from(kinds))
    elif name == "forget":
        desc["what"] = draw(st.sampled_from(["dims", "dims", "rank"]))
    elif name == "stack":
        desc["n"] = draw(st.integers(0, 3))
    elif name == "pick":
        desc["i"] = draw(st.integers(0, 2))
    return maybe_raising(draw, desc, 4)


def predicates(draw: Draw, chance: int = 6) -> Desc:
    m = draw(st.integers(2, 5))
    few = 0 if draw(st.integers(0, 9)) == 0 else 1
    keep = sorted(draw(st.sets(st.integers(0, m - 1), min_size=few, max_size=m)))
    return maybe_raising(draw, {"fn": "mod_in", "m": m, "keep": keep}, chance)


def keys(draw: Draw) -> Desc:
    return maybe_raising(draw, {"fn": "key", "m": draw(st.integers(1, 4))}, 8)


def scans(draw: Draw, spec: Nest) -> tuple[Any, Desc]:
    """An initial state with a function for `scan`."""
    name = draw(st.sampled_from(["scan_sum", "scan_sum", "scan_grow", "scan_keep"]))
    if name == "scan_sum":
        give = draw(st.sampled_from(["sum", "both"]))
        return ["int64", [], [draw(st.integers(-5, 5))]], maybe_raising(
            draw, {"fn": name, "give": give}, 5
        )
    if name == "scan_grow":
        return _vector(draw), maybe_raising(draw, {"fn": name}, 5)
    state = {"tuple": [["string", [], ["s"]], {"dict": {"n": ["float32", [2], [1.0, 2.0]]}}]}
    return state, maybe_raising(draw, {"fn": name}, 5)


def _vector(draw: Draw) -> Any:
    n = draw(st.integers(0, 2))
    return ["int64", [n], [7] * n]


def reducers(draw: Draw) -> tuple[Any, Desc]:
    name = draw(st.sampled_from(["reduce_sum", "reduce_sum", "reduce_grow", "reduce_bad"]))
    if name == "reduce_grow":
        return _vector(draw), maybe_raising(draw, {"fn": name}, 5)
    initial = ["int64", [], [draw(st.integers(0, 5))]]
    return initial, {"fn": name} if name == "reduce_bad" else maybe_raising(draw, {"fn": name}, 5)
