"""Iterators over datasets whose next element is a tensor of a graph."""

from __future__ import annotations

import threading
from typing import Any

from spillway import modes, nest
from spillway.errors import FailedPreconditionError, OutOfRangeError
from spillway.interruptions import meaning_of
from spillway.lines import user_line
from spillway.sessions.operation import Called
from spillway.sessions.ordering import called
from spillway.specs import TensorSpec


class GraphIterator:
    """One pass over a dataset. In a graph every run that needs an element takes the next one.

    All sessions share the pass.

    >>> import spillway.tf as tf
    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     it = tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.range(3))
    ...     x = it.get_next() * 10
    ...     [int(session.run(x)) for _ in range(3)]
    [0, 10, 20]
    """

    def __init__(self, dataset: Any, started: bool) -> None:
        """`started`: without an initializer."""
        self._dataset = dataset
        self._lock = threading.Lock()
        self._pass: Any = None
        self._started = started
        self._line = user_line()

    @property
    def element_spec(self) -> Any:
        """What elements look like."""
        return self._dataset.element_spec

    @property
    def initializer(self) -> Any:
        """The operation that begins a new pass."""
        if self._started:
            raise ValueError("Iterator does not have an initializer.")
        graph = modes.graph()
        if graph is None:
            raise RuntimeError("an iterator's initializer is an operation of a graph")
        operation = Called(graph, graph._new_name("MakeIterator"), self._begin, ())
        graph._add(operation)
        return operation

    def _begin(self, _: list[Any]) -> list[Any]:
        with self._lock:
            self._pass = iter(self._dataset)
        return []

    def get_next(self, name: str | None = None) -> Any:
        """The next element; in a graph, tensors that stand for it."""
        graph = modes.graph()
        if graph is None:
            return nest.pack_like(self.element_spec, self._advance([]))
        specs = nest.flatten(self.element_spec)
        for spec in specs:
            if not isinstance(spec, TensorSpec):
                raise TypeError(f"get_next: elements of a graph's iterator are tensors: {spec}")
        types = [(spec.dtype.name, spec.shape) for spec in specs]
        made = called(graph, self._advance, [], types, name or "IteratorGetNext")
        return nest.pack_like(self.element_spec, made)

    def _advance(self, _: list[Any]) -> list[Any]:
        with self._lock:
            if self._pass is None and self._started:
                self._pass = iter(self._dataset)
            source = self._pass
        if source is None:
            raise FailedPreconditionError(
                "GetNext() failed because the iterator has not been initialized. Ensure that you "
                "have run the initializer operation for this iterator before getting the next "
                "element.",
                line=self._line,
            )
        for element in source:  # the loop's variable has it, or the pass still does
            if taken.elements is not None:
                taken.elements.append((source, element))
            return nest.flatten(element)
        raise OutOfRangeError("End of sequence", line=self._line)


class Taken(threading.local):
    """What the run under way on this thread took. None: nobody wants to know."""

    elements: list[tuple[Any, Any]] | None = None


taken = Taken()


def give_back(elements: list[tuple[Any, Any]], error: BaseException) -> None:
    """A run ended with `error`. What interrupted it leaves its elements to the next one."""
    if elements and meaning_of(error):
        for source, element in reversed(elements):
            source._give_back(element)
