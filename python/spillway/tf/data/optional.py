"""`tf.experimental.Optional`: an element that may be missing."""

from __future__ import annotations

from typing import Any

import numpy as np

import spillway
from spillway.tensor import Tensor
from spillway.tf._front import to_front


class Optional(spillway.Optional):
    """Holds an element, or nothing.

    >>> import spillway.tf as tf
    >>> some = tf.experimental.Optional.from_value((1, "a"))
    >>> some.get_value()
    (Tensor(1, shape=(), dtype=int32), Tensor(b'a', shape=(), dtype=string))
    >>> tf.experimental.Optional.empty(some.element_spec).has_value().numpy()
    np.False_
    """

    __slots__ = ()

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An Optional that holds `value`."""
        made = spillway.Optional.from_value(value)
        return Optional(made._element, made._spec)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An Optional that holds nothing; `element_spec` says what it could."""
        made = spillway.Optional.empty(element_spec)
        return Optional(made._element, made._spec)

    def has_value(self, name: str | None = None) -> Any:
        """Whether there is an element, as a boolean tensor."""
        found: Any = super().has_value()
        return found if isinstance(found, Tensor) else Tensor(np.asarray(found))

    def get_value(self, name: str | None = None) -> Any:
        """The element; InvalidArgumentError when there is none."""
        return to_front(super().get_value())
