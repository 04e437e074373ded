"""TensorFlow's functions of tensors, by TensorFlow's names: what `spillway.tf` shows of them.

Thin: each names an op of the engine, or is made of a few. Modules below (`math`, `strings` ...) are
`tf.math`, `tf.strings` ...
"""

from spillway import arguments as _arguments
from spillway.native_ops import names as _names
from spillway.ops import bitwise, debugging, image, linalg, math, nn, strings
from spillway.ops._arrays import (
    boolean_mask,
    broadcast_static_shape,
    broadcast_to,
    concat,
    ensure_shape,
    expand_dims,
    gather,
    gather_nd,
    identity,
    one_hot,
    pad,
    rank,
    repeat,
    reverse,
    reverse_sequence,
    roll,
    scatter_nd,
    sequence_mask,
    shape,
    size,
    slice,
    split,
    squeeze,
    stack,
    tensor_scatter_nd_update,
    tile,
    transpose,
    unique,
    unstack,
    where,
)
from spillway.ops._constants import (
    cast,
    constant,
    convert_to_tensor,
    eye,
    fill,
    get_static_value,
    linspace,
    ones,
    ones_like,
    range,
    saturate_cast,
    zeros,
    zeros_like,
)
from spillway.ops._control import (
    Assert,
    case,
    cond,
    device,
    init_scope,
    map_fn,
    switch_case,
    while_loop,
)
from spillway.ops._functions import function, numpy_function, py_function
from spillway.ops._math import (
    abs,
    add,
    add_n,
    argmax,
    argmin,
    clip_by_value,
    divide,
    equal,
    matmul,
    multiply,
    norm,
    not_equal,
    truediv,
)
from spillway.sessions.ordering import control_dependencies, group, name_scope, no_op
from spillway.sessions.ordering import tuple_of as tuple
from spillway.tensor_convert import is_tensor_or_variable as is_tensor

for _name, _function in _names("").items():
    globals().setdefault(_name, _function)
newaxis = None
__all__ = sorted(
    name
    for name, value in globals().items()
    if not name.startswith("_") and name not in ("random",)
)

_arguments.name_errors(__name__, "spillway.ops")
for _module in (bitwise, debugging, image, linalg, math, nn, strings):
    _arguments.name_errors(_module.__name__, "spillway.ops")
