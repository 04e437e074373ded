"""`tf.random`: numbers by Philox. Seeds are fixed at the line that draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from spillway import arguments as _arguments
from spillway.dtypes import as_dtype
from spillway.native_ops import call
from spillway.ops import random_experimental as experimental
from spillway.ops._constants import _dims
from spillway.seeds import seed_pair
from spillway.shown import shown
from spillway.symbolic import tracing_now
from spillway.tensor_convert import integer, integers, refuse, to_tensor


def _shape(shape: Any) -> list[int]:
    dims = _dims(shape)
    return integers(dims)


def check_algorithm(alg: Any) -> None:
    """Refuses every generator but the one that is here: TensorFlow's choice on a CPU.

    >>> check_algorithm("philox")
    """
    named = isinstance(alg, str) and alg in ("philox", "auto_select")
    if not named and not (isinstance(alg, int) and alg in (1, 3)):
        refuse("ValueError", f"alg must be 'philox' or 'auto_select', found {shown(alg)}")


def _seeds(seed: Any) -> tuple[int, int]:
    """The pair a stateful op draws from: TensorFlow's rules; fresh ones where none is given."""
    first, second = seed_pair(seed)
    if first == 0 and second == 0:
        drawn = np.random.SeedSequence().generate_state(2, np.uint32)
        return int(drawn[0]), int(drawn[1])
    return first, second


_FLOATS = ("float16", "bfloat16", "float32", "float64")


def _drawable(dtype: Any, integers: tuple[str, ...]) -> Any:
    """The dtype, where numbers between two others can be drawn of it."""
    found = as_dtype(dtype)
    if found.name not in _FLOATS + integers:
        refuse("ValueError", f"dtype must be one of {_FLOATS + integers}: {found.name}")
    return found


def _drawn(op: str, shape: Any, dtype: Any, seed: Any) -> Any:
    return call(op, _shape(shape), as_dtype(dtype).name, *_seeds(seed), 0, tracing_now())


def _stateless(op: str, shape: Any, seed: Any, dtype: Any) -> Any:
    return call(op, _shape(shape), to_tensor(seed), as_dtype(dtype).name)


def normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    seed: Any = None,
    name: Any = None,
) -> Any:
    """Numbers of the normal distribution.

    >>> normal([2, 3]).shape.as_list()
    [2, 3]
    """
    x = _drawn("random_normal", shape, dtype, seed)
    return _scaled(x, stddev, mean)


def _scaled(x: Any, by: Any, plus: Any) -> Any:
    if not (isinstance(by, float) and by == 1.0):
        x = x * by
    return x if isinstance(plus, float) and plus == 0.0 else x + plus


def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    seed: Any = None,
    name: Any = None,
) -> Any:
    """Normal numbers within two standard deviations.

    >>> truncated_normal([2]).shape.as_list()
    [2]
    """
    x = _drawn("random_truncated_normal", shape, dtype, seed)
    return _scaled(x, stddev, mean)


def uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    seed: Any = None,
    name: Any = None,
) -> Any:
    """Numbers between minval and maxval, maxval excluded.

    >>> uniform([2], 0, 10, dtype="int32").shape.as_list()
    [2]
    """
    dtype = _drawable(dtype, ("int32", "int64"))
    if dtype.is_integer:
        if maxval is None:
            refuse("ValueError", f"Must specify maxval for integer dtype {dtype.name}")
        return call(
            "random_uniform_int",
            _shape(shape),
            integer(minval, "minval"),
            integer(maxval, "maxval"),
            dtype.name,
            *_seeds(seed),
            0,
            tracing_now(),
        )
    x = _drawn("random_uniform", shape, dtype, seed)
    top = 1 if maxval is None else maxval
    if minval == 0 and top == 1:
        return x
    low, high = to_tensor(minval, dtype.name), to_tensor(top, dtype.name)
    return x * (high - low) + low


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    name: Any = None,
    alg: Any = "auto_select",
) -> Any:
    """Numbers between minval and maxval that depend on the seed alone.

    >>> stateless_uniform([2], [1, 2])
    Tensor([0.8440604  0.19204533], shape=(2,), dtype=float32)
    """
    check_algorithm(alg)
    dtype = _drawable(dtype, ("int32", "int64", "uint32", "uint64"))
    if dtype.is_integer:
        if minval is None and maxval is None:
            return _stateless("stateless_uniform_full_int", shape, seed, dtype)
        if minval is None or maxval is None:
            refuse("ValueError", f"minval and maxval must be both None or neither for {dtype}")
        if dtype.is_unsigned:
            refuse("ValueError", f"unsigned integers have no minval and maxval: {dtype.name}")
        low, high = (to_tensor(v, dtype.name) for v in (minval, maxval))
        return call("stateless_random_uniform_int", _shape(shape), to_tensor(seed), low, high)
    x = _stateless("stateless_random_uniform", shape, seed, dtype)
    top = 1 if maxval is None else maxval
    low, high = to_tensor(minval, dtype.name), to_tensor(top, dtype.name)
    return x * (high - low) + low


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    name: Any = None,
    alg: Any = "auto_select",
) -> Any:
    """Normal numbers that depend on the seed alone.

    >>> stateless_normal([1], [1, 2]).shape.as_list()
    [1]
    """
    check_algorithm(alg)
    return _stateless("stateless_random_normal", shape, seed, dtype) * stddev + mean


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    name: Any = None,
    alg: Any = "auto_select",
) -> Any:
    """Normal numbers within two standard deviations that depend on the seed alone.

    >>> stateless_truncated_normal([1], [1, 2]).shape.as_list()
    [1]
    """
    check_algorithm(alg)
    return _stateless("stateless_truncated_normal", shape, seed, dtype) * stddev + mean


def shuffle(value: Any, seed: Any = None, name: Any = None) -> Any:
    """The slices along the first axis in another order.

    >>> sorted(shuffle([1, 2, 3]).numpy().tolist())
    [1, 2, 3]
    """
    return call("random_shuffle", to_tensor(value), *_seeds(seed), 0, tracing_now())


__all__ = [
    "experimental",
    "normal",
    "shuffle",
    "stateless_normal",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]

_arguments.name_errors(__name__, "spillway.ops")
