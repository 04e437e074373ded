"""`tf.random`: the global seed.

>>> import spillway.tf as tf
>>> tf.random.set_seed(1)
>>> [int(x) for x in tf.data.Dataset.range(4).shuffle(4)]
[2, 1, 0, 3]
>>> tf.random.set_seed(None)
"""

from __future__ import annotations

from typing import Any

from spillway.seeds import set_seed
from spillway.tf import _names

__all__ = ["set_seed"]


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
