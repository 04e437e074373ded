"""An element that may be missing."""

from __future__ import annotations

from typing import Any, Final

from spillway import _native, opaque
from spillway.errors import InvalidArgumentError
from spillway.specs import OptionalSpec
from spillway.structures import from_structure, to_structure

_UNKNOWN: Final = object()  # comes with an element: this one stands for it inside a trace


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
        if opaque.tracing():
            from spillway.building import element as traced_element

            return Optional.unknown(from_structure(traced_element(value, False).structure))
        element = _native.element(value, None, False)
        return Optional(element, from_structure(element.structure))

    @staticmethod
    def unknown(element_spec: Any) -> Optional:
        """What stands inside a trace for an Optional nobody has yet."""
        return Optional(_UNKNOWN, element_spec)

    @staticmethod
    def empty(element_spec: Any) -> Optional:
        """An Optional that holds nothing; `element_spec` says what it could."""
        to_structure(element_spec)  # refuses what is no spec
        return Optional(None, element_spec)

    def has_value(self) -> bool:
        """Whether there is an element."""
        if self._element is _UNKNOWN:
            return self._later(_native.Structure.tensor("bool", ()))  # type: ignore[no-any-return]
        return self._element is not None

    def get_value(self) -> Any:
        """The element; InvalidArgumentError when there is none."""
        if self._element is None:
            raise InvalidArgumentError("The given optional does not have a value.")
        if self._element is _UNKNOWN:
            return self._later(to_structure(self._spec))
        return self._element.value()

    @staticmethod
    def _later(structure: Any) -> Any:
        from spillway import tracing

        return tracing.placeholder(structure)

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
