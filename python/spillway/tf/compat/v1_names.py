"""TensorFlow 1's names of graphs, sessions and variables: in `tf.compat.v1` and in `tf` itself."""

from __future__ import annotations

from typing import Any

from spillway import modes
from spillway.ops.random import normal as random_normal
from spillway.ops.random import truncated_normal
from spillway.ops.random import uniform as random_uniform
from spillway.seeds import set_seed as set_random_seed
from spillway.sessions import initializers as _start
from spillway.sessions.config import (
    ConfigProto,
    GPUOptions,
    GraphOptions,
    OptimizerOptions,
    RunMetadata,
    RunOptions,
)
from spillway.sessions.session import (
    InteractiveSession,
    Session,
    get_default_session,
    placeholder,
    placeholder_with_default,
)
from spillway.sessions.variable_scope import (
    AUTO_REUSE,
    assign,
    assign_add,
    assign_sub,
    get_variable,
    get_variable_scope,
    global_variables,
    global_variables_initializer,
    local_variables,
    local_variables_initializer,
    trainable_variables,
    variable_scope,
    variables_initializer,
)

__all__ = [
    "AUTO_REUSE",
    "ConfigProto",
    "GPUOptions",
    "GraphKeys",
    "GraphOptions",
    "InteractiveSession",
    "OptimizerOptions",
    "RunMetadata",
    "RunOptions",
    "Session",
    "add_to_collection",
    "assign",
    "assign_add",
    "assign_sub",
    "constant_initializer",
    "disable_eager_execution",
    "disable_v2_behavior",
    "enable_eager_execution",
    "enable_v2_behavior",
    "get_collection",
    "get_default_session",
    "get_variable",
    "get_variable_scope",
    "global_variables",
    "global_variables_initializer",
    "glorot_normal_initializer",
    "glorot_uniform_initializer",
    "initialize_all_variables",
    "initializers",
    "local_variables",
    "local_variables_initializer",
    "ones_initializer",
    "placeholder",
    "placeholder_with_default",
    "random_normal",
    "random_normal_initializer",
    "random_uniform",
    "random_uniform_initializer",
    "set_random_seed",
    "trainable_variables",
    "truncated_normal",
    "truncated_normal_initializer",
    "variable_scope",
    "variables_initializer",
    "zeros_initializer",
]

initialize_all_variables = global_variables_initializer
constant_initializer = _start.Constant
glorot_normal_initializer = _start.GlorotNormal
glorot_uniform_initializer = _start.GlorotUniform
ones_initializer = _start.Ones
random_normal_initializer = _start.RandomNormal
random_uniform_initializer = _start.RandomUniform
truncated_normal_initializer = _start.TruncatedNormal
zeros_initializer = _start.Zeros


class initializers:  # noqa: N801  (a module in TensorFlow)
    """What variables start from."""

    zeros = zeros_initializer
    ones = ones_initializer
    constant = constant_initializer
    random_normal = random_normal_initializer
    random_uniform = random_uniform_initializer
    truncated_normal = truncated_normal_initializer
    glorot_uniform = glorot_uniform_initializer
    glorot_normal = glorot_normal_initializer


class GraphKeys:
    """The names of the lists that a graph keeps."""

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    LOSSES = "losses"
    UPDATE_OPS = "update_ops"
    SUMMARIES = "summaries"


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """One of the lists that the default graph keeps."""
    from spillway.sessions.graph import get_default_graph

    return get_default_graph().get_collection(key, scope)


def add_to_collection(name: str, value: Any) -> None:
    """Adds to one of the lists that the default graph keeps."""
    from spillway.sessions.graph import get_default_graph

    get_default_graph().add_to_collection(name, value)


def disable_eager_execution() -> None:
    """From here on ops become part of the default graph, and sessions run them."""
    modes.set_eager(False)


def enable_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None
) -> None:
    """From here on ops run where they are written, unless a graph's scope is open."""
    modes.set_eager(True)


def disable_v2_behavior() -> None:
    """The same as `disable_eager_execution`."""
    disable_eager_execution()


def enable_v2_behavior() -> None:
    """The same as `enable_eager_execution`."""
    enable_eager_execution()
