"""`tf.compat.v1`: TensorFlow 1's names. What `tf` has under the same name is here, too.

>>> import spillway.tf.compat.v1 as tf
>>> with tf.Graph().as_default(), tf.Session() as session:
...     x = tf.placeholder(tf.float32, [None])
...     session.run(tf.reduce_sum(x * 2), {x: [1, 2]})
np.float32(6.0)
"""

from __future__ import annotations

from typing import Any

from spillway.dimensions import Dimension
from spillway.sessions.graph import Graph, get_default_graph, reset_default_graph
from spillway.sessions.operation import Operation
from spillway.sessions.ordering import name_scope
from spillway.sessions.variable import Variable
from spillway.shapes import TensorShape
from spillway.tf import _names
from spillway.tf.compat import v1_data as data
from spillway.tf.compat import v1_names
from spillway.tf.compat.v1_names import *  # noqa: F403

__all__ = [
    "Dimension",
    "Graph",
    "Operation",
    "TensorShape",
    "Variable",
    "data",
    "get_default_graph",
    "name_scope",
    "reset_default_graph",
    *v1_names.__all__,
]


def _take(names: dict[str, Any]) -> None:
    """Adds what `tf` has under names that TensorFlow 1 had as well."""
    known = _names.tensorflow_names("compat.v1")
    for name in names["__all__"]:
        if name in known and name not in globals():
            globals()[name] = names[name]
    __all__[:] = sorted({*__all__, *(name for name in names["__all__"] if name in known)})


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
