"""An element that may be missing."""

from __future__ import annotations

from typing import Any

from spillway import _native
from spillway.errors import InvalidArgumentError
from spillway.specs import OptionalSpec
from spillway.structures import from_structure, to_structure


class Optional:
    """Holds an element, or nothing.

    >>> import spillway as sw
    >>> sw.Optional.from_value(3).get_value()
    np.int32(3)
    >>> sw.Optional.empty(sw.TensorSpec((), "int64")).has_value()
    False
    """

    __slots__ = ("_element", "_spec")

    def __init__(self, element: Any, spec: Any = None) -> None:
        """Use `from_value` or `empty`."""
        self._element = element
        self._spec = spec

    @staticmethod
    def from_value(value: Any) -> Optional:
        """An Optional that holds `value`."""
        element = _native.element(value, None, False)
        return Optional(element, from_structure(element.structure))

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An Optional that holds nothing; `element_spec` says what it could."""
        to_structure(element_spec)  # refuses what is no spec
        return Optional(None, element_spec)

    def has_value(self) -> bool:
        """Whether there is an element."""
        return self._element is not None

    def get_value(self) -> Any:
        """The element; InvalidArgumentError when there is none."""
        if self._element is None:
            raise InvalidArgumentError("The given optional does not have a value.")
        return self._element.value()

    @property
    def element_spec(self) -> Any:
        """Spec of the element."""
        if self._spec is None and self._element is not None:
            self._spec = from_structure(self._element.structure)
        return self._spec

    @property
    def spec(self) -> OptionalSpec:
        """Spec of this Optional."""
        return OptionalSpec(self.element_spec)
