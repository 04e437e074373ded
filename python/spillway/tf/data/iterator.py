"""`tf.data.Iterator`: one pass over a dataset, which a checkpoint can save and set back."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator as _PythonIterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import spillway
from spillway import _native
from spillway.audit import Audit
from spillway.errors import InvalidArgumentError, ResourceExhaustedError
from spillway.report import Report
from spillway.specs import TypeSpec
from spillway.tensor import Tensor
from spillway.tf._front import has_front_parts, to_front
from spillway.tf.data import saving
from spillway.tf.data.optional import Optional

if TYPE_CHECKING:
    from spillway.tf.data.dataset import Dataset


class Position(_native.Elements):
    """Where a pass over a dataset is; it can be moved, also after the first element.

    Any threads may ask for the next element: they are served one after the other. An element that
    a signal's handler keeps from its caller (Ctrl-C, a time limit) is the next one again.
    """

    __slots__ = ("_dataset",)
    _tensors = False  # whether elements are tensors, or NumPy's values

    def __init__(self, dataset: Dataset) -> None:
        """At the beginning of a new pass."""
        self._dataset = dataset
        self._pass: Any = dataset._open(self._tensors)

    def save(self) -> bytes:
        """The position as bytes, for `restore` of an iterator over an equal pipeline.

        UnimplementedError or FailedPreconditionError where the options ask for what a stage does
        not allow: `experimental_symbolic_checkpoint`, `experimental_external_state_policy`.
        """
        saving.refuse(self._dataset)
        state: bytes = self._pass.save()
        return state

    def restore(self, state: bytes) -> None:
        """Goes on where `save` was called. A state that is refused changes nothing.

        Where memory does not allow two passes at a time, the present one ends first.
        """
        try:
            fresh = self._restored(state)
        except ResourceExhaustedError:
            fresh = self._restored_alone(state)
        before, self._pass = self._pass, fresh  # in one: what interrupts this finds one of them
        before.close()

    def _restored_alone(self, state: bytes) -> Any:
        before = self._pass.save()
        self._pass.close()
        try:
            return self._restored(state)
        except BaseException:
            self._pass = self._restored(before)
            raise

    def _restored(self, state: bytes) -> Any:
        fresh = self._dataset._open(self._tensors)
        try:
            fresh.restore(state)
        except BaseException:
            fresh.close()
            raise
        return fresh

    def close(self) -> None:
        """Stops, and lets go of the memory. Further elements are none."""
        self._pass.close()

    def audit(self) -> Audit:
        """What became of every element of this pass so far."""
        audit: Audit = self._pass.audit()
        return audit

    def report(self) -> Report:
        """Time, bytes and errors of this pass so far, a line a stage."""
        report: Report = self._pass.report()
        return report


class Iterator(Position, _PythonIterator[Any]):
    """What `iter(dataset)` gives.

    >>> import spillway.tf as tf
    >>> it = iter(tf.data.Dataset.range(2))
    >>> next(it), it.get_next().numpy(), bool(it.get_next_as_optional().has_value())
    (Tensor(0, shape=(), dtype=int64), np.int64(1), False)
    """

    __slots__ = ("__weakref__",)
    _tensors = True
    _optional = staticmethod(Optional.from_value)

    def __init__(self, dataset: Dataset) -> None:
        """At the beginning of a new pass."""
        super().__init__(dataset)
        self._convert = to_front if has_front_parts(dataset.element_spec) else None

    @property
    def element_spec(self) -> Any:
        """What an element looks like."""
        return self._dataset.element_spec

    def _no_element(self) -> Optional:
        return Optional.empty(self.element_spec)

    def __enter__(self) -> Iterator:
        """This iterator, closed at the end of the block."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Closes it."""
        self.close()


class NumpyIterator(Position, _PythonIterator[Any]):
    """What `dataset.as_numpy_iterator()` gives.

    >>> import spillway.tf as tf
    >>> it = tf.data.Dataset.range(3).as_numpy_iterator()
    >>> next(it)
    np.int64(0)
    >>> state = it.save()
    >>> it.next(), it.restore(state), it.next()
    (np.int64(1), None, np.int64(1))
    """

    __slots__ = ("__weakref__",)
    next: ClassVar[Callable[..., Any]] = _native.Elements.__next__

    def save(self) -> Any:
        """The position, as a scalar string tensor."""
        return Tensor(np.array(super().save(), object))

    def restore(self, state: Any) -> None:
        """Goes on where `save` was called; `state` is its tensor, or the bytes in it."""
        value = state.numpy() if isinstance(state, Tensor) else state
        if not isinstance(value, bytes):
            raise InvalidArgumentError(
                f"restore: the state must be a scalar string: {type(value).__name__}"
            )
        super().restore(value)


class IteratorSpec(TypeSpec):
    """The spec of an iterator over elements of `element_spec`.

    >>> import spillway.tf as tf
    >>> tf.data.IteratorSpec(tf.TensorSpec([], tf.int64))
    IteratorSpec(TensorSpec(shape=(), dtype=tf.int64, name=None))
    """

    __slots__ = ("element_spec",)

    element_spec: Any

    def __init__(self, element_spec: Any) -> None:
        """Of elements of `element_spec`."""
        object.__setattr__(self, "element_spec", element_spec)

    @staticmethod
    def from_value(value: Iterator) -> IteratorSpec:
        """The spec of one iterator."""
        return IteratorSpec(value.element_spec)

    def _key(self) -> tuple[Any, ...]:
        return (self.element_spec,)

    def is_compatible_with(self, value: Any) -> bool:
        """Whether `value` iterates over such elements."""
        if not isinstance(value, Iterator | IteratorSpec):
            return False
        own = spillway.DatasetSpec(self.element_spec)
        return own.is_compatible_with(spillway.DatasetSpec(value.element_spec))

    def is_subtype_of(self, other: TypeSpec) -> bool:
        """Whether every iterator of this spec is of the other, too."""
        return isinstance(other, IteratorSpec) and spillway.DatasetSpec(
            self.element_spec
        ).is_subtype_of(spillway.DatasetSpec(other.element_spec))

    def _join(self, other: IteratorSpec) -> IteratorSpec | None:
        own = spillway.DatasetSpec(self.element_spec)
        joined = own.most_specific_common_supertype([spillway.DatasetSpec(other.element_spec)])
        return (
            IteratorSpec(joined.element_spec) if isinstance(joined, spillway.DatasetSpec) else None
        )

    def __repr__(self) -> str:
        """As it is written."""
        return f"IteratorSpec({self.element_spec!r})"
