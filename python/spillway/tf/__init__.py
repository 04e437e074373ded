"""Spillway under TensorFlow's names: `import spillway.tf as tf`.

Datasets yield tensors, errors and specs have TensorFlow's names and codes, checkpoints are
`tf.train.Checkpoint`. The engine is the same as that of `spillway.Dataset`.

>>> import spillway.tf as tf
>>> ds = tf.data.Dataset.from_tensor_slices({"x": [1, 2], "y": ["a", "b"]})
>>> for element in ds.take(1):
...     print(element["x"], element["y"].numpy())
Tensor(1, shape=(), dtype=int32) b'a'
"""

from __future__ import annotations

from typing import Any

import spillway
from spillway import modes, opaque
from spillway.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
    variant,
)
from spillway.sessions.graph import (
    Graph,
    get_default_graph,
    reset_default_graph,
)
from spillway.sessions.module import Module
from spillway.sessions.operation import Operation
from spillway.sessions.variable import Variable
from spillway.shapes import TensorShape
from spillway.specs import OptionalSpec, TensorSpec, TypeSpec
from spillway.tensor import Tensor

from . import _names, compat, config, data, errors, experimental, io, keras, nest, random, train
from .compat import v1_names
from .compat.v1_names import *  # noqa: F403  (as programs of TensorFlow 1 write them)
from .data import debug
from .type_specs import type_spec_from_value

__version__ = f"2.21.0+spillway.{spillway.__version__}"
__all__ = [
    "DType",
    "Graph",
    "Module",
    "Operation",
    "OptionalSpec",
    "Tensor",
    "TensorShape",
    "TensorSpec",
    "TypeSpec",
    "Variable",
    "as_dtype",
    "bfloat16",
    "bool",
    "compat",
    "complex64",
    "complex128",
    "config",
    "data",
    "double",
    "errors",
    "executing_eagerly",
    "experimental",
    "float16",
    "float32",
    "float64",
    "get_default_graph",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "io",
    "keras",
    "nest",
    "random",
    "reset_default_graph",
    "string",
    "train",
    "type_spec_from_value",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "variant",
]  # fmt: skip


def executing_eagerly() -> Any:
    """Whether what is written here runs when it is met: not while a function is traced.

    With `tf.data.experimental.enable_debug_mode` functions count as run, too.
    """
    if opaque.tracing():
        return debug.enabled()
    return modes.graph() is None


# The one place where tensor ops come in.
for _module in ("", "compat", "compat.v1", "data", "data.experimental", "experimental", "io",
                "nest", "random", "train"):  # fmt: skip
    _names.merge(_module)
__all__ = sorted({*__all__, *v1_names.__all__})
compat.v1._take(globals())


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
