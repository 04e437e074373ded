"""`Dataset`: a pipeline as a value."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from spillway import (
    _native,
    arguments,
    errors,
    functions,
    nest,
    opaque,
    policies,
    templates,
    tracing,
    traveling,
)
from spillway._operators import Operators
from spillway.audit import Audit
from spillway.building import (
    AUTOTUNE,
    calls,
    dataset_function,
    element,
    folding_function,
    function,
    guard_rules,
    guarded_generator,
    kept_here,
    make,
    seeds,
)
from spillway.building import (
    cycle_length as default_cycle_length,
)
from spillway.dtypes import as_dtype
from spillway.file_sources import FileSources
from spillway.handover.methods import HandOver
from spillway.inspection import Inspection
from spillway.lines import user_line
from spillway.options import Options
from spillway.report import Report
from spillway.specs import DatasetSpec, OptionalSpec, TensorSpec
from spillway.structures import from_structure, to_structure
from spillway.symbolic import TraceBreak
from spillway.tensor_convert import number, truth
from spillway.tracked import track

INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
_READ_AHEAD_NS = 1_000_000
_FIRST = threading.Lock()


class Dataset(FileSources, HandOver, Inspection, Operators):
    """A pipeline: made by its sources and methods, run by iterating over it.

    >>> import spillway as sw
    >>> ds = sw.Dataset.range(6).shuffle(3, seed=1).batch(2)
    >>> [batch.tolist() for batch in ds]
    [[1, 3], [0, 5], [2, 4]]
    """

    __slots__ = ("__weakref__", "_access", "_last", "_node")

    def __init__(self, node: _native.Node) -> None:
        """Use the static methods (`range`, `from_generator`, ...) instead."""
        self._node = node
        self._last: Any = None
        self._access: _native.Access | None = None

    # ---- Looking at it

    @property
    def element_spec(self) -> Any:
        """What an element looks like: a nest of specs, or None while that is not known.

        >>> import spillway as sw
        >>> sw.Dataset.range(3).batch(2).element_spec
        TensorSpec(shape=(None,), dtype=tf.int64, name=None)
        """
        structure = self._node.structure
        return None if structure is None else from_structure(structure)

    def cardinality(self) -> int:
        """Number of elements; INFINITE_CARDINALITY (-1) or UNKNOWN_CARDINALITY (-2).

        >>> import spillway as sw
        >>> sw.Dataset.range(5).batch(2).cardinality()
        3
        """
        return self._node.cardinality

    def __len__(self) -> int:
        """Number of elements; TypeError when it is infinite or unknown."""
        count = self._node.cardinality
        if count == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if count < 0:
            raise TypeError("The dataset length is unknown.")
        return count

    def __bool__(self) -> bool:
        """Always true: a dataset is not a container of what it will read."""
        return True

    def __getitem__(self, index: int) -> Any:
        """One element by its position; a negative one counts from the end.

        IndexError where there is none. TypeError where a stage (`filter`, `from_generator`, ...)
        can only be read in order: a `cache()` behind it can be asked for any element.

        >>> import spillway as sw
        >>> sw.Dataset.range(10).batch(4)[-2]
        array([4, 5, 6, 7])
        """
        position = operator.index(index)
        if position < 0 and -position <= len(self):
            position += len(self)
        return self._at(position)

    def _at(self, index: int) -> Any:
        """The same without counting from the end: what `tf.data.experimental.at` promises."""
        if self._access is None:
            opened = _native.access(self._node, self.options().dataset_name or "")
            with _FIRST:  # of two threads: what the access keeps, it keeps for both
                self._access = self._access or opened
        return self._access.at(operator.index(index))

    def __repr__(self) -> str:
        """The spec, a stage a line."""
        return f"<Dataset element_spec={self.element_spec}>\n{self._node!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        """For `pickle` and `cloudpickle`: the pipeline with its functions (docs/travel.md)."""
        return traveling.dataset_parts(self)

    def __copy__(self) -> Dataset:
        """Itself: a pipeline never changes."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Dataset:
        """Itself: a pipeline never changes."""
        return self

    def spec_hash(self) -> int:
        """Equal for equal pipelines, built separately, in Python or C++."""
        return self._node.hash

    def to_json(self) -> str:
        """The pipeline as JSON; functions go by the hash of their code."""
        return self._node.to_json()

    @staticmethod
    def from_json(text: str, functions: dict[str, Callable[..., Any]] | None = None) -> Dataset:
        """Reads what `to_json` wrote. Never runs code from the text: `functions` brings them.

        >>> import spillway as sw
        >>> ds = sw.Dataset.range(3).batch(2)
        >>> sw.Dataset.from_json(ds.to_json()).spec_hash() == ds.spec_hash()
        True
        """
        known = {name: function(f, None) for name, f in (functions or {}).items()}
        try:
            return Dataset(_native.node_from_json(text, known))
        except errors.SpillwayError as error:
            error.line = error.line or user_line()  # the text has none of its own
            raise

    # ---- Running it

    def __iter__(self) -> Any:
        """A fresh pass. Many may run at a time; each has `save`, `restore`, `close`, `audit`."""
        return self._open(False)

    def _open(self, tensors: bool, owned: int = 0, main_waits: bool = False) -> Any:
        """A pass that hands out tensors, or NumPy's values.

        `owned`: arrays that nobody else holds, aligned to so many bytes. `main_waits`: Ctrl-C ends
        a wait on another thread, too.
        """
        if opaque.tracing():
            raise TraceBreak("iterates over a dataset")
        options = self.options()
        ahead = _READ_AHEAD_NS if options.reads_ahead() else 0
        name = options.dataset_name or ""
        any_order = options.deterministic is False
        early = bool(options.experimental_warm_start)
        it: Any = _native.open(
            self._node, ahead, name, tensors, owned, main_waits, any_order, early
        )
        track("iterator", it, _held_by)
        self._last = it._audit_box()
        return it

    def as_numpy_iterator(self) -> Iterator[Any]:
        """The elements as NumPy values; datasets and Optionals as components are refused."""
        self._refuse_datasets()
        return iter(self)

    def _refuse_datasets(self) -> None:
        for leaf in nest.flatten(self.element_spec):
            if isinstance(leaf, DatasetSpec | OptionalSpec):
                raise TypeError(
                    "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that "
                    f"produce values of type {type(leaf).__name__}"
                )

    def get_single_element(self) -> Any:
        """The only element; InvalidArgumentError when there are none or more."""
        from spillway.errors import InvalidArgumentError

        if opaque.tracing():
            return tracing.placeholder(self._node.structure)
        with iter(self) as it:
            end = object()
            first = next(it, end)
            if first is end:
                raise InvalidArgumentError("Dataset was empty.")
            if next(it, end) is not end:
                raise InvalidArgumentError("Dataset had more than one element.")
            return first

    def reduce(
        self,
        initial_state: Any,
        reduce_func: Callable[..., Any],
        output_signature: Any = None,
        name: str | None = None,
    ) -> Any:
        """Folds all elements into one state, at once.

        >>> import numpy as np, spillway as sw
        >>> sw.Dataset.range(5).reduce(np.int64(0), lambda state, x: state + x)
        np.int64(10)
        """
        state = element(initial_state, False)
        reducer = folding_function(
            reduce_func, output_signature, state.structure, self._node.structure
        )
        return make("reduce", [state, reducer], [self], name).get_single_element()

    # ---- Sources

    @staticmethod
    def range(*args: int, output_type: Any = "int64", name: str | None = None) -> Dataset:
        """Counts as Python's range: `range(stop)`, `range(start, stop[, step])`.

        >>> import spillway as sw
        >>> list(sw.Dataset.range(1, 6, 2))
        [np.int64(1), np.int64(3), np.int64(5)]
        """
        if not 1 <= len(args) <= 3:
            raise ValueError(
                "Invalid `args`. The length of `args` should be between 1 and 3 but was "
                f"{len(args)}."
            )
        given = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        start, stop, step = (
            templates.size(value, "range", bound)
            for value, bound in zip(given, ("start", "stop", "step"), strict=True)
        )
        dtype = as_dtype(output_type).name
        return make("range", [start, stop, step, dtype], [], name)

    @staticmethod
    def from_tensors(tensors: Any, name: str | None = None) -> Dataset:
        """One element: `tensors`.

        >>> import spillway as sw
        >>> list(sw.Dataset.from_tensors((1, "a")))
        [(np.int32(1), b'a')]
        """
        return make("from_tensors", [element(tensors, True)], [], name)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: str | None = None, **policy: Any) -> Dataset:
        """The rows of `tensors`: their first dimensions must agree. Arrays are not copied.

        >>> import spillway as sw
        >>> list(sw.Dataset.from_tensor_slices({"x": [1, 2], "y": [3, 4]}))
        [{'x': np.int32(1), 'y': np.int32(3)}, {'x': np.int32(2), 'y': np.int32(4)}]
        """
        return make("from_tensor_slices", [element(tensors, True, rows=True)], [], name, policy)

    @staticmethod
    def from_generator(
        generator: Any,
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        read_ahead: int | None = None,
        name: str | None = None,
        parallel: int = 1,
        **policy: Any,
    ) -> Dataset:
        """Elements of a generator, which runs on a thread of its own, ahead of the consumer.

        `generator` is a callable that returns a generator, an iterable or an async generator, or
        an iterable itself; it is called anew for every pass, with `args` (any objects).
        `isolate=True` runs it in a worker process, where it may crash, leak or hang (`timeout=`).
        `parallel=k` runs k generators at a time, over the slices `args[0][i::k]`; their elements
        come in turn. An async generator runs on an event loop of its own (docs/slow-sources.md).

        >>> import spillway as sw
        >>> def squares(n):
        ...     for i in range(n):
        ...         yield i * i
        >>> spec = sw.TensorSpec((), "int64")
        >>> list(sw.Dataset.from_generator(squares, args=(3,), output_signature=spec))
        [np.int64(0), np.int64(1), np.int64(4)]
        """
        from spillway import generators

        structure = generators.declared(output_types, output_shapes, output_signature)
        guard = guard_rules(policy)
        code, label = functions.fingerprint(generator), functions.name_of(generator)

        def source(given: Any, name: str | None) -> Dataset:
            passed = generators.handed_over(given)
            native = generators.native(generator, passed, structure, code, label)
            native = guarded_generator(native, generator, given, structure, guard)
            return make("from_generator", [native, structure, read_ahead], [], name, policy)

        if parallel == 1:
            return source(args, name)
        each = generators.slices(args, operator.index(parallel), read_ahead)
        return make("in_turn", [None], [source(given, None) for given in each], name)

    @staticmethod
    def zip(
        *args: Any,
        datasets: Any = None,
        strict: bool = False,
        name: str | None = None,
        **policy: Any,
    ) -> Dataset:
        """Walks datasets together; ends with the shortest, or with `strict` insists on one length.

        >>> import spillway as sw
        >>> a = sw.Dataset.range(3)
        >>> list(sw.Dataset.zip(a, a.batch(2)))
        [(np.int64(0), array([0, 1])), (np.int64(1), array([2]))]
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        for leaf in nest.flatten(given):
            if not isinstance(leaf, Dataset):
                if isinstance(leaf, list):
                    raise TypeError(
                        "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                        "`tf.data.Dataset` objects. Python `list` is not supported and you should "
                        "use `tuple` instead."
                    )
                raise TypeError(
                    "Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                    f"`tf.data.Dataset` objects but encountered object of type {type(leaf)}."
                )
        flat = nest.flatten(given)
        shape = to_structure(nest.map_structure(lambda _: TensorSpec((), "int64"), given))
        return make("zip", [None, shape, truth(strict, "strict")], flat, name, policy)

    @staticmethod
    def counter(
        start: Any = 0, step: Any = 1, dtype: Any = "int64", name: str | None = None
    ) -> Dataset:
        """Counts without end.

        >>> import spillway as sw
        >>> list(sw.Dataset.counter(3, 4).take(3))
        [np.int64(3), np.int64(7), np.int64(11)]
        """
        return make(
            "counter",
            [float(number(start, "start")), float(number(step, "step")), as_dtype(dtype).name],
            [],
            name,
        )

    @staticmethod
    def random(
        seed: int | None = None,
        rerandomize_each_iteration: bool | None = None,
        name: str | None = None,
    ) -> Dataset:
        """Random numbers from 0 to 2**32 without end.

        >>> import spillway as sw
        >>> list(sw.Dataset.random(seed=4).take(2))
        [np.int64(3128586565), np.int64(2023892699)]
        """
        return make("random", [*seeds(seed, "random"), rerandomize_each_iteration], [], name)

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Takes the next element from the dataset that `choice_dataset` names."""
        if not datasets:
            raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
        if not isinstance(choice_dataset, Dataset):
            raise TypeError(
                "Invalid `choice_dataset`. `choice_dataset` should be a `tf.data.Dataset` but is "
                f"{type(choice_dataset)}."
            )
        inputs = [choice_dataset, *datasets]
        stop = truth(stop_on_empty_dataset, "stop_on_empty_dataset")
        return make("choose_from_datasets", [None, None, stop], inputs, None)

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Dataset:
        """Takes each next element from a dataset drawn by chance."""
        from spillway import sampling

        return sampling.sample(
            list(datasets), weights, seed, stop_on_empty_dataset, rerandomize_each_iteration
        )

    # ---- Transformations that need more than the definition says

    def shuffle(
        self,
        buffer_size: Any,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = None,
        name: str | None = None,
        shrink: bool = False,
        **policy: Any,
    ) -> Dataset:
        """Draws each element from a buffer of the next `buffer_size`, in TensorFlow's own order.

        What does not fit the memory limit is spilled to disk: with a seed the order is the same
        at every limit.

        >>> import spillway as sw
        >>> [int(x) for x in sw.Dataset.range(10).shuffle(10, seed=42)]
        [5, 9, 6, 4, 7, 1, 2, 8, 3, 0]
        """
        buffer = templates.size(buffer_size, "shuffle", "buffer_size")
        reshuffle = True
        if reshuffle_each_iteration is not None:
            reshuffle = truth(reshuffle_each_iteration, "reshuffle_each_iteration")
        params = [buffer, *seeds(seed, "shuffle"), reshuffle, truth(shrink, "shrink")]
        return make("shuffle", params, [self], name, policy)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
        **policy: Any,
    ) -> Dataset:
        """Batches elements of different shapes, padded to the largest or to `padded_shapes`.

        >>> import numpy as np, spillway as sw
        >>> ds = sw.Dataset.range(1, 4).map(lambda n: np.full(int(n), n),
        ...     output_signature=sw.TensorSpec((None,), "int64"))
        >>> next(iter(ds.padded_batch(3)))
        array([[1, 0, 0],
               [2, 2, 0],
               [3, 3, 3]])
        """
        from spillway import padding

        shapes = padding.shapes(self, padded_shapes)
        values = padding.values(self, padding_values)
        size = templates.size(batch_size, "padded_batch", "batch_size")
        params = [size, shapes, values, truth(drop_remainder, "drop_remainder")]
        return make("padded_batch", params, [self], name, policy)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
        output_signature: Any = None,
        **policy: Any,
    ) -> Dataset:
        """Walks several datasets, made by `map_func`, in turns.

        >>> import spillway as sw
        >>> ds = sw.Dataset.range(2).interleave(
        ...     lambda x: sw.Dataset.from_tensors(x).repeat(2), cycle_length=2)
        >>> [int(x) for x in ds]
        [0, 1, 0, 1]
        """
        traced = templates.is_traced(cycle_length)
        if cycle_length is None or (not traced and cycle_length == AUTOTUNE):
            cycle_length = default_cycle_length(num_parallel_calls)
        function = dataset_function(map_func, output_signature, self._node.structure)
        function = kept_here(function, guard_rules(policy), "interleave")
        params = [
            function,
            templates.size(cycle_length, "interleave", "cycle_length"),
            templates.size(
                1 if block_length is None else block_length, "interleave", "block_length"
            ),
            calls(num_parallel_calls),
            deterministic,
        ]
        return make("interleave", params, [self], name, policy)

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Iterable[int],
        bucket_batch_sizes: Iterable[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset:
        """Batches elements of about the same length together."""
        from spillway import buckets

        return buckets.bucket(
            self,
            element_length_func,
            list(bucket_boundaries),
            list(bucket_batch_sizes),
            padded_shapes,
            padding_values,
            pad_to_bucket_boundary,
            no_padding,
            drop_remainder,
            name,
        )

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """`transformation_func(self)`, which must be a dataset."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                "`transformation_func` must return a `tf.data.Dataset` object. "
                f"Got {type(dataset)}."
            )
        return dataset

    def on_error(
        self,
        action: str | policies.OnError,
        retries: int | None = None,
        backoff: float | None = None,
        max_errors: int | None = None,
        max_error_rate: float | None = None,
        quarantine: str | os.PathLike[str] | None = None,
        name: str | None = None,
        early_end: bool | None = None,
    ) -> Dataset:
        """Says what becomes of elements that failed in any stage before; see `OnError`.

        >>> import spillway as sw
        >>> ds = sw.Dataset.range(4).map(lambda x: 12 // x)
        >>> [int(x) for x in ds.on_error("skip")]
        [12, 6, 4]
        """
        given = dict(
            zip(
                policies.NAMES,
                (action, retries, backoff, max_errors, max_error_rate, quarantine, early_end),
                strict=True,
            )
        )
        return make("on_error", policies.params(given), [self], name)

    def with_options(self, options: Options, name: str | None = None) -> Dataset:
        """Chooses things for the whole pipeline; merged with what was chosen before."""
        return make("with_options", [options.to_json()], [self], name)

    def options(self) -> Options:
        """What was chosen with `with_options`, merged over the whole pipeline; read only."""
        return Options.of_node(self._node)


for _class in Dataset.__mro__[:-1]:
    arguments.name_methods(_class)


def _held_by(it: Any) -> int:
    held: int = it._held
    return held


def _iterator_audit(self: Any) -> Audit:
    """What became of every element of this pass so far."""
    return Audit.of(self._audit())


def _iterator_report(self: Any) -> Report:
    """What every stage of this pass did so far, waited for and held; what would help."""
    return Report.of(self._audit(), self._audit_box().timeline(), self._node)


_iterator: Any = _native.Iterator
_iterator.audit = _iterator_audit
_iterator.report = _iterator_report
