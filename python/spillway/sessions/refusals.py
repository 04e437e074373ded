"""What a run says when it is not given what it needs."""

from __future__ import annotations

from typing import Any

from spillway.errors import FailedPreconditionError, InvalidArgumentError
from spillway.lines import with_source
from spillway.sessions.operation import Fed
from spillway.tensor_convert import is_tensor, refuse, to_tensor


def missing_feed(source: Fed) -> Exception:
    """The error for a placeholder without a value."""
    tensor = source.tensor
    return InvalidArgumentError(
        f"You must feed a value for placeholder tensor '{source.name}' with dtype "
        f"{tensor.dtype.name} and shape {_brackets(tensor.shape)}: "
        f"session.run(..., feed_dict={{{source.name}: value}})",
        line=with_source(source.line),
    )


def _brackets(shape: Any) -> str:
    if shape.rank is None:
        return "<unknown>"
    return "[" + ",".join("?" if dim is None else str(dim) for dim in shape.as_list()) + "]"


def uninitialized(variable: Any, line: str) -> Exception:
    """The error for a variable that nothing has set in this session."""
    read = f", read at {with_source(line)}" if line else ""
    return FailedPreconditionError(
        f"Could not find variable {variable.name.partition(':')[0]}: it has no value in this "
        f"session{read}. Run its initializer first: "
        "session.run(tf.compat.v1.global_variables_initializer())",
        line=with_source(variable._line),
    )


def check_fed(tensor: Any, value: Any, name: str) -> Any:
    """A fed value as a tensor of the placeholder's type; ValueError for another shape."""
    dtype = tensor._dtype_name
    if is_tensor(value) and value._symbolic:
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
            "Python scalars, strings, lists, numpy ndarrays, or TensorHandles."
        )
    if is_tensor(value) and value._dtype_name != dtype:
        refuse("TypeError", f"fed for {name}: {value.dtype} where {tensor.dtype} is expected")
    made = to_tensor(value, dtype)
    if not tensor.shape.is_compatible_with(made.shape):
        raise ValueError(
            f"Cannot feed value of shape {tuple(made.shape)} for Tensor {name}, which has shape "
            f"{tensor.shape}"
        )
    return made
