"""`tf.debugging`: checks that fail with what they saw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from spillway.native_ops import call
from spillway.native_ops import names as _names
from spillway.opaque import keep, note
from spillway.ops._control import Assert
from spillway.ops._control import check as _check
from spillway.ops._math import both
from spillway.shown import shown
from spillway.tensor_convert import integer, refuse, to_tensor
from spillway.tensor_ops import op_for

for _name, _function in _names("debugging").items():
    globals().setdefault(_name, _function)


def check_numerics(tensor: Any, message: str, name: Any = None) -> Any:
    """The tensor itself; InvalidArgumentError where it holds NaN or Inf.

    >>> check_numerics([1.0], "fine")
    Tensor([1.], shape=(1,), dtype=float32)
    """
    made = call("check_numerics", to_tensor(tensor), message)
    if made._symbolic:  # a check, used or not
        keep(made)
    return made


def _compare(op: str, sign: str) -> Callable[..., Any]:
    def check(x: Any, y: Any, message: Any = None, summarize: Any = None, name: Any = None) -> None:
        x, y = both(x, y)
        holds = call("reduce_all", call(op_for(op, x._dtype_name), x, y), None, False)
        text = f"{message or ''} Condition x {sign} y did not hold."
        _check(holds, [x, y], text.strip(), summarize)

    check.__name__ = check.__qualname__ = f"assert_{op}"
    check.__doc__ = f"InvalidArgumentError unless x {sign} y for every item."
    return check


assert_equal = _compare("equal", "==")
assert_none_equal = _compare("not_equal", "!=")
assert_less = _compare("less", "<")
assert_less_equal = _compare("less_equal", "<=")
assert_greater = _compare("greater", ">")
assert_greater_equal = _compare("greater_equal", ">=")


def assert_positive(x: Any, message: Any = None, summarize: Any = None, name: Any = None) -> None:
    """InvalidArgumentError unless every item is above zero.

    >>> assert_positive([1, 2])
    """
    x = to_tensor(x)
    assert_greater(x, to_tensor(0, x._dtype_name), message)


def assert_non_negative(
    x: Any, message: Any = None, summarize: Any = None, name: Any = None
) -> None:
    """InvalidArgumentError unless no item is below zero.

    >>> assert_non_negative([0, 2])
    """
    x = to_tensor(x)
    assert_greater_equal(x, to_tensor(0, x._dtype_name), message)


def assert_rank(x: Any, rank: Any, message: Any = None, name: Any = None) -> None:
    """ValueError unless the tensor has this many axes.

    >>> assert_rank([[1]], 2)
    """
    x = to_tensor(x)
    found = x.shape.rank
    if found is None:
        note("checks a rank that is not known")
    rank = integer(rank, "rank")
    if found is not None and found != rank:
        refuse("ValueError", f"{message or ''} Tensor must have rank {rank}, has {found}")


def assert_type(tensor: Any, tf_type: Any, message: Any = None, name: Any = None) -> None:
    """TypeError unless the tensor has this dtype.

    >>> assert_type(to_tensor(1), "int32")
    """
    found = to_tensor(tensor).dtype
    if found != tf_type:
        refuse(
            "TypeError", f"{message or ''} tensor must be of type {shown(tf_type)}, is {found!r}"
        )


assert_all_finite = check_numerics
__all__ = sorted(
    [name for name in globals() if name.startswith("assert_")] + ["Assert", "check_numerics"]
)
