"""`spillway.tf.data`: the dataset, its iterators and options as TensorFlow's users meet them."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf

Dataset = tf.data.Dataset
experimental = tf.data.experimental


def plain(value: Any) -> Any:
    """Tensors as Python values."""
    if isinstance(value, tf.Tensor):
        return value.numpy().tolist() if not isinstance(value.numpy(), bytes) else value.numpy()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(plain(item) for item in value)
    return value


def values(dataset: Any) -> list[Any]:
    return [plain(element) for element in dataset]


# ---- Elements


def test_elements_are_tensors_in_every_part_of_a_nest() -> None:
    (element,) = list(Dataset.from_tensors((1, {"s": "a", "v": [1.5]}, None)))
    number, inner, nothing = element
    assert nothing is None
    for tensor, dtype, shape in (
        (number, tf.int32, ()), (inner["s"], tf.string, ()), (inner["v"], tf.float32, (1,)),
    ):  # fmt: skip
        assert isinstance(tensor, tf.Tensor)
        assert tensor.dtype == dtype and tensor.shape == shape
    assert inner["s"].numpy() == b"a"


def test_every_method_gives_a_dataset_of_this_front() -> None:
    ds = Dataset.range(4)
    made = [
        ds.map(lambda x: x), ds.batch(2), ds.shuffle(2), ds.filter(lambda x: x > 1), ds.repeat(2),
        ds.take(1), ds.window(2), ds.enumerate(), ds.concatenate(ds), ds.prefetch(1), ds.cache(),
        ds.shard(2, 0), ds.padded_batch(2), ds.interleave(Dataset.from_tensors), ds.unique(),
        ds.flat_map(Dataset.from_tensors), ds.with_options(tf.data.Options()), ds.ignore_errors(),
        ds.scan(np.int64(0), lambda s, x: (s, x)), ds.apply(lambda d: d.skip(1)),
        Dataset.zip((ds, ds)), Dataset.counter(), Dataset.random(seed=1), Dataset.from_tensors(1),
        Dataset.from_tensor_slices([1]), Dataset.choose_from_datasets([ds], ds),
        Dataset.sample_from_datasets([ds, ds]), ds.on_error("skip"),
    ]  # fmt: skip
    for one in made:
        assert type(one) is Dataset
        assert isinstance(one, sw.Dataset)


def test_the_types_of_the_front_cover_the_methods_that_are_there() -> None:
    stub = Path(inspect.getfile(Dataset)).with_name("adopted.pyi").read_text()
    typed = set(re.findall(r"    def (\w+)\(", stub))
    wanted = {
        name
        for name, method in inspect.getmembers(sw.Dataset, inspect.isfunction)
        # Operators' methods are made without annotations: they all give a dataset.
        if not name.startswith("_") and method.__annotations__.get("return", "Dataset") == "Dataset"
    }
    assert typed == wanted - set(vars(Dataset))


def test_both_fronts_describe_the_same_pipeline() -> None:
    def build(front: Any) -> Any:
        return front.range(5).shuffle(3, seed=1).batch(2)

    assert build(Dataset).spec_hash() == build(sw.Dataset).spec_hash()
    assert values(build(Dataset)) == [batch.tolist() for batch in build(sw.Dataset)]


def test_a_stage_names_the_users_line() -> None:
    ds = Dataset.range(3).map(lambda x: 1 // x)
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        values(ds)
    assert __file__ in str(caught.value.line)


def test_numbers_about_a_dataset_are_tensors() -> None:
    ds = Dataset.range(5)
    assert isinstance(ds.cardinality(), tf.Tensor) and ds.cardinality().numpy() == 5
    assert ds.repeat().cardinality() == tf.data.INFINITE_CARDINALITY
    assert experimental.cardinality(ds.filter(lambda x: True)) == tf.data.UNKNOWN_CARDINALITY
    assert len(ds.batch(2)) == 3
    total = ds.reduce(np.int64(0), lambda state, x: state + x)
    assert isinstance(total, tf.Tensor) and total.numpy() == 10
    assert ds.take(1).get_single_element().numpy() == 0
    assert ds.fingerprint().dtype == tf.uint64
    assert ds.fingerprint() == Dataset.range(5).fingerprint()
    assert ds.fingerprint() != Dataset.range(6).fingerprint()


def test_functions_are_handed_datasets_of_this_front() -> None:
    kinds: list[Any] = []

    def see(window: Any) -> Any:
        kinds.append(type(window))
        return window.batch(2)

    assert values(Dataset.range(4).window(2).flat_map(see)) == [[0, 1], [2, 3]]
    by_key = Dataset.range(4).group_by_window(lambda x: x % 2, lambda k, w: see(w), 2)
    assert values(by_key) == [[0, 2], [1, 3]]
    assert set(kinds) == {Dataset}
    for window in Dataset.range(4).window(2):
        assert type(window) is Dataset
        assert isinstance(next(iter(window)), tf.Tensor)


def test_a_function_is_known_by_its_own_code_behind_the_front() -> None:
    def build(step: int) -> Any:
        body = (lambda w: w.batch(2)) if step == 1 else (lambda w: w.batch(3))
        return Dataset.range(4).window(2).flat_map(body)

    assert build(1).spec_hash() == build(1).spec_hash() != build(2).spec_hash()


def test_synchronous_maps_refuse_parallel_calls() -> None:
    with pytest.raises(ValueError, match="`synchronous` is not supported"):
        Dataset.range(2).map(lambda x: x, synchronous=True, num_parallel_calls=2)
    ds = Dataset.range(2).map(lambda x: x + 1, synchronous=True, use_unbounded_threadpool=True)
    assert values(ds) == [1, 2]


def test_a_generators_arguments_arrive_as_numpy() -> None:
    seen: list[Any] = []

    def generate(*args: Any) -> Any:
        seen.extend(args)
        yield 1

    other = object()
    ds = Dataset.from_generator(
        generate, args=(3, "a", [1, 2], other), output_signature=tf.TensorSpec([], tf.int32)
    )
    assert values(ds) == [1]
    number, text, array, same = seen
    assert isinstance(number, np.int32) and text == b"a" and array.tolist() == [1, 2]
    assert same is other


def test_a_generator_must_declare_what_it_gives() -> None:
    with pytest.raises(TypeError, match="either the `output_signature`"):
        Dataset.from_generator(lambda: [1])
    with pytest.raises(TypeError, match=r"subclass of `tf\.TypeSpec`"):
        Dataset.from_generator(lambda: [1], output_signature=3)


# ---- Iterators


def test_get_next_ends_with_out_of_range_and_next_with_stop_iteration() -> None:
    iterator = iter(Dataset.range(2))
    assert isinstance(iterator, tf.data.Iterator)
    assert iter(iterator) is iterator
    assert iterator.element_spec == tf.TensorSpec([], tf.int64)
    assert (next(iterator).numpy(), iterator.get_next().numpy()) == (0, 1)
    for _ in range(2):
        with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
            iterator.get_next()
        with pytest.raises(StopIteration):
            next(iterator)


def test_get_next_as_optional_tells_the_end() -> None:
    iterator = iter(Dataset.range(1))
    first, second = (iterator.get_next_as_optional() for _ in range(2))
    assert isinstance(first, tf.experimental.Optional)
    assert first.has_value().numpy() and first.get_value().numpy() == 0
    assert not second.has_value()
    assert second.element_spec == tf.TensorSpec([], tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        second.get_value()


def test_optionals_are_elements_too() -> None:
    optional = tf.experimental.Optional.from_value({"a": 3})
    ds = Dataset.from_tensors(optional)
    assert isinstance(ds.element_spec, tf.OptionalSpec)
    (got,) = list(ds)
    assert isinstance(got, tf.experimental.Optional) and plain(got.get_value()) == {"a": 3}
    kinds = []

    def unwrap(value: Any) -> Any:
        kinds.append(type(value))
        return value.get_value()

    assert values(ds.map(unwrap)) == [{"a": 3}]
    assert kinds == [tf.experimental.Optional]


def test_an_iterator_goes_back_to_a_saved_position_at_any_time() -> None:
    iterator = iter(Dataset.range(6).shuffle(6, seed=2))
    next(iterator)
    state = iterator.save()
    rest = values(iterator)
    for _ in range(2):
        iterator.restore(state)
        assert values(iterator) == rest


def test_a_state_that_is_refused_leaves_the_iterator_where_it_is() -> None:
    iterator = iter(Dataset.range(3))
    next(iterator)
    foreign = iter(Dataset.range(4)).save()
    for state in (foreign, b"", b"nonsense" * 9):
        with pytest.raises(tf.errors.OpError):
            iterator.restore(state)
    assert values(iterator) == [1, 2]


def test_the_present_pass_gives_way_where_memory_allows_only_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    iterator = iter(Dataset.range(3))
    next(iterator)
    state, held = iterator.save(), iterator._pass
    opened = sw.Dataset.__iter__

    def one_at_a_time(dataset: Any) -> Any:
        if not held.closed:
            raise sw.errors.BudgetError("there is room for one")
        return opened(dataset)

    monkeypatch.setattr(sw.Dataset, "__iter__", one_at_a_time)
    iterator.restore(state)
    assert values(iterator) == [1, 2]


def test_a_numpy_iterator_saves_a_tensor_and_takes_it_back() -> None:
    iterator = Dataset.range(4).as_numpy_iterator()
    assert isinstance(iterator, tf.data.NumpyIterator)
    assert isinstance(next(iterator), np.int64)
    state = iterator.save()
    assert state.dtype == tf.string and state.shape == ()
    assert [int(x) for x in iterator] == [1, 2, 3]
    for given in (state, state.numpy()):
        iterator.restore(given)
        assert iterator.next() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar string"):
        iterator.restore(3)
    with pytest.raises(TypeError, match="not supported for datasets"):
        Dataset.range(2).window(1).as_numpy_iterator()


def test_an_iterator_can_be_closed_and_audited() -> None:
    ds = Dataset.range(4).filter(lambda x: x % 2 == 0)
    with iter(ds) as iterator:
        assert values(iterator) == [0, 2]
        assert iterator.audit().filtered == 2
    assert list(iterator) == []
    assert ds.audit().delivered == 2


# ---- Options


def test_options_come_back_from_a_dataset_as_they_went_in() -> None:
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = experimental.AutoShardPolicy.DATA
    options.experimental_external_state_policy = experimental.ExternalStatePolicy.WARN
    options.autotune.autotune_algorithm = experimental.AutotuneAlgorithm.HILL_CLIMB
    options.experimental_deterministic = False
    options.experimental_threading.private_threadpool_size = 3
    got = Dataset.range(1).with_options(options).options()
    assert got.experimental_distribute.auto_shard_policy is experimental.AutoShardPolicy.DATA
    assert got.experimental_external_state_policy is experimental.ExternalStatePolicy.WARN
    assert got.autotune.autotune_algorithm is experimental.AutotuneAlgorithm.HILL_CLIMB
    assert got.deterministic is False
    assert got.threading.private_threadpool_size == 3
    assert got == options


def test_options_are_shown_by_tensorflows_defaults_and_refusals() -> None:
    options = tf.data.Options()
    assert options.experimental_distribute.auto_shard_policy == experimental.AutoShardPolicy.AUTO
    assert options == tf.data.Options()
    with pytest.raises(TypeError, match='Property "deterministic" must be of type'):
        options.deterministic = 3
    with pytest.raises(TypeError, match="ExternalStatePolicy"):
        options.experimental_external_state_policy = "WARN"
    with pytest.raises(TypeError, match="got: None"):
        options.deterministic = None
    with pytest.raises(TypeError, match="incompatible options"):
        options.merge(3)  # type: ignore[arg-type]
    assert experimental.OptimizationOptions() == experimental.OptimizationOptions()
    with pytest.raises(AttributeError, match="Cannot set the property nothing"):
        options.nothing = 3
    with pytest.raises(ValueError, match="Mutating"):
        Dataset.range(1).options().threading.private_threadpool_size = 1


# ---- What is not here


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (lambda: Dataset.range(2).ragged_batch(2), "padded_batch"),
        (lambda: Dataset.range(2).sparse_batch(2), "not here yet"),
        (lambda: Dataset.range(2).nothing, "has no 'nothing'"),
        (lambda: tf.data.SqlDatset, "has no 'SqlDatset'"),
        (lambda: tf.data.experimental.suffle_and_repeat, "nearest is 'shuffle_and_repeat'"),
        (lambda: tf.data.experimental.get_model_proto, "TensorFlow's, and not here yet"),
        (lambda: tf.RaggedTensor, "TensorFlow's, and not here yet"),
        (lambda: tf.train.Chekpoint, "nearest is 'Checkpoint'"),
        (lambda: tf.errors.OutOfRange, "nearest is 'OutOfRangeError'"),
        (lambda: tf.nest.flaten, "nearest is 'flatten'"),
        (lambda: tf.compat.v1.GraphDef, "TensorFlow's, and not here yet"),
    ],
)
def test_a_name_that_is_not_here_says_so(ask: Any, text: str) -> None:
    with pytest.raises(AttributeError, match=text):
        ask()


def test_tensor_ops_are_merged_into_the_modules_of_their_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from spillway.tf import _names

    ops, ops_random = types.ModuleType("spillway.ops"), types.ModuleType("spillway.ops.random")
    ops_random.draw_for_test = lambda: 4  # type: ignore[attr-defined]
    ops_random.set_seed = None  # type: ignore[attr-defined]
    ops.random = ops_random  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "spillway.ops", ops)
    monkeypatch.setitem(sys.modules, "spillway.ops.random", ops_random)
    before = dict(vars(tf.random))
    try:
        _names.merge("random")
        assert tf.random.draw_for_test() == 4
        assert tf.random.set_seed is sw.set_seed, "what a module has itself stays"
        with pytest.raises(AttributeError, match="nearest is 'draw_for_test'"):
            tf.random.draw_for_tests  # noqa: B018
    finally:
        vars(tf.random).clear()
        vars(tf.random).update(before)


def test_an_op_module_that_cannot_be_imported_is_not_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from spillway.tf import _names

    def broken(name: str) -> Any:
        raise ModuleNotFoundError("No module named 'elsewhere'", name="elsewhere")

    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="elsewhere"):
        _names.merge("random")


def test_errors_are_tensorflows_and_spillways_at_once() -> None:
    error = tf.errors.InvalidArgumentError(None, None, "boom")
    assert (error.message, error.op, error.node_def) == ("boom", None, None)
    assert error.code == error.error_code == tf.errors.INVALID_ARGUMENT == 3
    assert isinstance(error, tf.errors.OpError) and tf.errors.OpError is sw.errors.SpillwayError
    assert sw.errors.class_of_code(tf.errors.UNAUTHENTICATED) is tf.errors.UnauthenticatedError
    names = [name for name in tf.errors.__all__ if name.isupper() and name != "OK"]
    assert len(names) == 16
    for name in names:
        cls = sw.errors.class_of_code(getattr(tf.errors, name))
        assert getattr(tf.errors, cls.__name__) is cls


def test_the_version_tells_that_this_is_spillway() -> None:
    assert "spillway" in tf.__version__ and sw.__version__ in tf.__version__
    assert tf.executing_eagerly()


def test_a_global_seed_gives_tensorflows_orders() -> None:
    # Recorded from TensorFlow 2.21.
    tf.random.set_seed(1)
    try:
        assert values(Dataset.range(10).shuffle(10)) == [6, 7, 0, 3, 4, 8, 9, 5, 1, 2]
        assert values(Dataset.random().take(2)) == [2923514672, 188269990]
    finally:
        tf.random.set_seed(None)
