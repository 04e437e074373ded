"""`tf.random.experimental`."""

from __future__ import annotations

from typing import Any

from spillway import arguments as _arguments
from spillway.native_ops import call
from spillway.ops._arrays import gather
from spillway.ops._constants import range
from spillway.shown import shown
from spillway.tensor_convert import refuse, to_tensor


def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select", name: Any = None) -> Any:
    """The slices along the first axis in an order that depends on the seed alone.

    >>> stateless_shuffle([1, 2, 3, 4], [1, 2])
    Tensor([1 4 3 2], shape=(4,), dtype=int32)
    """
    if not (isinstance(alg, str) and alg in ("philox", "auto_select")):
        refuse("ValueError", f"alg must be 'philox' or 'auto_select', found {shown(alg)}")
    value, seed = to_tensor(value), to_tensor(seed)
    if value.dtype.name != "string" or value.shape.rank == 0:
        return value if value.shape.rank == 0 else call("stateless_shuffle", value, seed)
    size = None if value.shape.rank is None else value.shape[0]
    size = call("shape", value, "int32")[0] if size is None else size
    order = call("stateless_shuffle", range(size), seed)
    return gather(value, order)


__all__ = ["stateless_shuffle"]

_arguments.name_errors(__name__, "spillway.ops")
