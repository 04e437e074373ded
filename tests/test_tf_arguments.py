"""What arguments mean, and how wrong ones are refused, as a test of tf.data would ask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import spillway.tf as tf

Dataset = tf.data.Dataset
AUTOTUNE = tf.data.AUTOTUNE


def values(dataset: Any) -> list[Any]:
    return [x.tolist() if hasattr(x, "tolist") else x for x in dataset.as_numpy_iterator()]


def rows_of_their_length(stop: int = 4) -> Any:
    return Dataset.range(1, stop).map(lambda n: tf.fill([n], n))


# ---- Functions


def test_a_list_that_a_function_returns_is_a_tuple_and_one_within_it_is_a_tensor() -> None:
    ds = Dataset.range(2).map(lambda x: [x, [x, x]])
    assert ds.element_spec == (tf.TensorSpec([], tf.int64), tf.TensorSpec([2], tf.int64))
    first = next(iter(ds))
    assert isinstance(first, tuple)
    assert first[1].numpy().tolist() == [0, 0]


def test_a_list_that_a_function_returns_as_python_is_a_tuple_as_well() -> None:
    seen = []

    def note(x: Any) -> Any:
        seen.append(int(x))
        return [x, -x]

    assert [(int(a), int(b)) for a, b in Dataset.range(3).map(note)] == [(0, 0), (1, -1), (2, -2)]
    assert seen == [0, 1, 2]


def test_several_results_of_a_numpy_function_are_a_tuple() -> None:
    def both(x: Any) -> Any:
        return tf.numpy_function(lambda v: (v * 2, np.float32(1)), [x], (tf.int64, tf.float32))

    assert [(int(a), float(b)) for a, b in Dataset.range(2).map(both)] == [(0, 1.0), (2, 1.0)]


@pytest.mark.parametrize("op", ["square", "negative"])
def test_an_op_can_be_handed_to_map_as_it_is(op: str) -> None:
    ds = Dataset.range(4).map(getattr(tf, op))
    assert ds.element_spec == tf.TensorSpec([], tf.int64)
    assert values(ds) == {"square": [0, 1, 4, 9], "negative": [0, -1, -2, -3]}[op]


def test_sizes_of_fill_may_mix_tensors_and_numbers() -> None:
    ds = Dataset.range(1, 3).map(lambda n: tf.fill([n, 2], "a"))
    assert ds.element_spec == tf.TensorSpec([None, 2], tf.string)
    assert [x.shape for x in ds.as_numpy_iterator()] == [(1, 2), (2, 2)]


def test_strings_in_a_list_beside_a_tensor_are_stacked() -> None:
    ds = Dataset.from_tensor_slices(["a", "b"]).map(lambda s: {"pair": [s, "z"]})
    assert ds.element_spec == {"pair": tf.TensorSpec([2], tf.string)}
    assert [x["pair"].tolist() for x in ds.as_numpy_iterator()] == [[b"a", b"z"], [b"b", b"z"]]
    assert tf.convert_to_tensor([tf.constant("a"), "b"]).numpy().tolist() == [b"a", b"b"]


@pytest.mark.parametrize(
    ("scan_func", "text"),
    [
        (lambda s, x: s, "should return a pair"),
        (lambda s, x: (s, s, s), "should return a pair"),
        (lambda s, x: (tf.cast(s, tf.int32), s), "The element types for the new state must match"),
        (lambda s, x: ((s, s), s), "The element classes for the new state must match"),
    ],
)
def test_scan_refuses_a_wrong_result_when_it_is_written(scan_func: Any, text: str) -> None:
    with pytest.raises(TypeError, match=f"Invalid `scan_func`.*{text}"):
        Dataset.range(5).scan(np.int64(0), scan_func)


def test_group_by_window_refuses_a_window_size_that_is_no_scalar_when_it_is_written() -> None:
    with pytest.raises(ValueError, match=r"must return a single `tf\.int64` scalar"):
        Dataset.range(9).group_by_window(
            lambda x: x % 2,
            lambda key, window: window.batch(3),
            window_size_func=lambda key: tf.constant([1], tf.int64),
        )


@pytest.mark.parametrize(
    "stage",
    [
        lambda ds: ds.map(lambda x: 10 // x),
        lambda ds: ds.map(lambda x: 10 // x, num_parallel_calls=2),
        lambda ds: ds.filter(lambda x: 10 // x > 0),
        lambda ds: ds.flat_map(lambda x: Dataset.from_tensors(10 // x)),
        lambda ds: ds.interleave(lambda x: Dataset.from_tensors(10 // x), cycle_length=1),
    ],
)
def test_an_error_in_a_function_names_its_transformation_in_tensorflows_words(stage: Any) -> None:
    words = (
        r"Error in user-defined function passed to .* transformation with iterator: Iterator::Root"
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        next(iter(stage(Dataset.range(1))))


# ---- Numbers


COUNTS = [
    *((method, "") for method in ("take", "skip", "repeat", "prefetch", "batch", "window")),
    *((method, "") for method in ("shuffle", "padded_batch", "enumerate")),
    ("interleave", "cycle_length"),
    ("interleave", "block_length"),
    ("map", "num_parallel_calls"),
]


def counted(method: str, argument: str, count: Any) -> Any:
    made = getattr(Dataset.range(5), method)
    return made(lambda x: Dataset.from_tensors(x), **{argument: count}) if argument else made(count)


@pytest.mark.parametrize(("method", "argument"), COUNTS)
def test_a_fraction_is_no_count(method: str, argument: str) -> None:
    with pytest.raises(TypeError, match=r"convert 2\.5"):
        counted(method, argument, 2.5)
    with pytest.raises(ValueError, match="must be an integer"):
        counted(method, argument, tf.constant(2.5))


@pytest.mark.parametrize("bounds", [(1.5,), (0, 2.5), (0, 5, 1.5)])
def test_a_range_has_whole_bounds(bounds: tuple[float, ...]) -> None:
    with pytest.raises(TypeError, match=r"range: st\w+ must be an integer"):
        Dataset.range(*bounds)


@pytest.mark.parametrize("count", [np.float64(2), np.float32(2.5), np.array(2.5), np.int8(2), True])
def test_numpys_numbers_are_counts_as_they_are_int64(count: Any) -> None:
    assert values(Dataset.range(5).take(count)) == list(range(int(count)))
    assert len(Dataset.range(count)) == int(count)


@pytest.mark.parametrize("count", [[2], np.array([2])])
def test_a_count_is_one_number(count: Any) -> None:
    for make in (Dataset.range, Dataset.range(5).batch, Dataset.range(5).shuffle):
        with pytest.raises(tf.errors.InvalidArgumentError):
            make(count)


def test_a_count_fits_into_64_bits() -> None:
    with pytest.raises(ValueError, match="must be an integer"):
        Dataset.range(3).batch(2**70)


def test_a_seed_of_a_dataset_is_an_integer() -> None:
    pair = (Dataset.range(2), Dataset.range(2))
    half: Any = 1.5
    with pytest.raises(TypeError, match="seed must be an integer"):
        Dataset.range(5).shuffle(3, seed=half)
    with pytest.raises(TypeError, match="seed must be an integer"):
        Dataset.random(seed=half)
    with pytest.raises(TypeError, match="seed must be an integer"):
        Dataset.sample_from_datasets(pair, seed=half)


# ---- Lists of values


@pytest.mark.parametrize(
    "mixed",
    [[1, "a"], ["a", 1], [[1], ["a"]], ["a", None], [True, 1], [True, 1.5], [1, 2j], [1, 2**64]],
)
def test_a_list_of_several_types_is_no_tensor(mixed: list[Any]) -> None:
    for make in (Dataset.from_tensors, Dataset.from_tensor_slices, tf.constant):
        with pytest.raises(ValueError, match=r"must"):
            make(mixed)


def test_a_list_may_widen_the_type_it_begins_with() -> None:
    assert values(Dataset.from_tensors([1, 2.5])) == [[1.0, 2.5]]
    assert values(Dataset.from_tensors([1, True])) == [[1, 1]]
    assert values(Dataset.from_tensors([2j, 1])) == [[2j, 1]]


def test_bytes_in_a_list_keep_the_zeros_at_their_end() -> None:
    assert values(Dataset.from_tensor_slices([b"a\0", b"\0", b""])) == [b"a\0", b"\0", b""]


def test_a_cycle_length_may_be_left_to_the_engine() -> None:
    ds = Dataset.range(3).interleave(lambda x: Dataset.from_tensors(x), cycle_length=AUTOTUNE)
    assert sorted(values(ds)) == [0, 1, 2]


def test_shuffle_and_repeat_refuses_to_repeat_no_times() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="count must be greater than zero"):
        Dataset.range(4).apply(tf.data.experimental.shuffle_and_repeat(2, count=0))


def test_the_file_of_a_cache_may_be_named_by_a_tensor(tmp_path: Any) -> None:
    ds = Dataset.range(3).cache(tf.constant(str(tmp_path / "cache")))
    assert values(ds) == [0, 1, 2]
    assert list(tmp_path.iterdir())


# ---- padded_batch


def test_a_padding_value_has_the_dtype_of_its_component() -> None:
    value = np.int64(-1)
    ds = rows_of_their_length(3).padded_batch(2, padding_values=value)
    assert values(ds) == [[[1, -1], [2, 2]]]


@pytest.mark.parametrize("value", [-1, 1.5, "a", tf.constant(1.0), np.float32(1)])
def test_a_padding_value_of_another_type_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match=r"Invalid `padding_values`.*does not match type"):
        rows_of_their_length().padded_batch(2, padding_values=value)


def test_a_padding_value_must_be_a_scalar() -> None:
    with pytest.raises(ValueError, match="should be scalars"):
        rows_of_their_length().padded_batch(2, padding_values=tf.constant([1], tf.int64))


def test_padded_shapes_may_be_integers_of_any_width_but_no_fractions() -> None:
    ds = rows_of_their_length(3).padded_batch(2, tf.constant([3], tf.int32))
    assert ds.element_spec == tf.TensorSpec([None, 3], tf.int64)
    with pytest.raises(
        TypeError, match=r"must be a `tf\.int64` vector tensor, but its element type was"
    ):
        rows_of_their_length().padded_batch(2, tf.constant([3.0]))


@pytest.mark.parametrize("shapes", [{"a": [None]}, {"a": [None], "c": []}, [None]])
def test_padded_shapes_must_have_the_form_of_the_elements(shapes: Any) -> None:
    ds = rows_of_their_length().map(lambda x: {"a": x, "b": 1})
    with pytest.raises(ValueError, match="same sequence length"):
        ds.padded_batch(2, padded_shapes=shapes)


def test_datasets_of_datasets_cannot_be_padded() -> None:
    with pytest.raises(TypeError, match="not supported for datasets of datasets"):
        Dataset.range(4).window(2).padded_batch(2)


# ---- from_generator


def test_a_generator_must_be_callable() -> None:
    with pytest.raises(TypeError, match="`generator` must be a Python callable"):
        Dataset.from_generator([1, 2], tf.int64)


@pytest.mark.parametrize("argument", ["output_types", "output_shapes"])
def test_a_signature_takes_the_place_of_types_and_shapes(argument: str) -> None:
    given: dict[str, Any] = {argument: {"output_types": tf.int64, "output_shapes": []}[argument]}
    with pytest.raises(TypeError, match=f"The `{argument}` argument can not be used together"):
        Dataset.from_generator(
            lambda: iter([1]), output_signature=tf.TensorSpec([], tf.int64), **given
        )


def test_a_generator_may_yield_an_empty_list_for_any_type() -> None:
    assert values(Dataset.from_generator(lambda: iter([[], [1]]), tf.int64, [None])) == [[], [1]]


# ---- Choosing from datasets


def test_weights_of_sample_from_datasets_may_change_with_every_element() -> None:
    first, second = Dataset.range(3), Dataset.range(10, 13)
    only_second_then_first = Dataset.from_tensor_slices([[0.0, 1.0]] * 3 + [[1.0, 0.0]] * 3)
    ds = Dataset.sample_from_datasets([first, second], weights=only_second_then_first, seed=1)
    assert ds.element_spec == tf.TensorSpec([], tf.int64)
    assert values(ds) == [10, 11, 12, 0, 1, 2]


def test_weights_that_change_choose_in_their_shares() -> None:
    ones, twos = Dataset.from_tensors(1).repeat(), Dataset.from_tensors(2).repeat()
    weights = Dataset.from_tensors([0.2, 0.8]).repeat()
    ds = Dataset.sample_from_datasets([ones, twos], weights=weights, seed=3).take(2000)
    assert 0.75 < np.mean([x == 2 for x in values(ds)]) < 0.85


@pytest.mark.parametrize("error", [ValueError, tf.errors.InvalidArgumentError])
def test_both_distributions_of_rejection_resample_must_have_one_length(error: Any) -> None:
    with pytest.raises(error, match="Incompatible shapes"):
        Dataset.range(4).rejection_resample(lambda x: x % 2, [0.5, 0.5], [0.5, 0.3, 0.2])


def test_weights_must_be_as_many_as_datasets() -> None:
    with pytest.raises(ValueError, match="should have the same length as `datasets`"):
        Dataset.sample_from_datasets([Dataset.range(3), Dataset.range(3)], weights=[0.5])


# ---- Others


def test_a_batch_of_different_shapes_is_refused_in_the_words_of_a_fused_map_too() -> None:
    ds = rows_of_their_length().batch(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="number of elements does not match"):
        next(iter(ds))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors with different"):
        next(iter(ds))


def test_get_single_element_is_of_datasets() -> None:
    no_dataset: Any = "x"
    with pytest.raises(TypeError, match="Invalid `dataset`"):
        tf.data.experimental.get_single_element(no_dataset)


def test_options_merge_with_options_only() -> None:
    no_options: Any = 3
    with pytest.raises(TypeError, match="Could not merge incompatible options"):
        tf.data.Options().merge(no_options)


def test_the_older_name_of_enable_async_means_the_same() -> None:
    assert tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True).enable_async
    assert not tf.train.CheckpointOptions().enable_async


def test_an_error_has_no_payloads() -> None:
    assert tf.errors.InvalidArgumentError(None, None, "x").experimental_payloads == {}


@pytest.mark.parametrize(
    ("key_func", "text"),
    [
        (lambda x: tf.constant([1]), "Invalid `key_func`"),
        (lambda x: x > 1, "Invalid `key_func`"),
    ],
)
def test_group_by_reducer_refuses_a_key_that_is_no_number(key_func: Any, text: str) -> None:
    reducer = tf.data.experimental.Reducer(
        lambda key: np.int64(0), lambda state, x: state + x, lambda state: state
    )
    with pytest.raises(ValueError, match=text):
        Dataset.range(4).apply(tf.data.experimental.group_by_reducer(key_func, reducer))


@pytest.mark.parametrize(
    "make",
    [
        lambda: Dataset.from_tensors({1: 2}),
        lambda: Dataset.range(1).map(lambda x: {1: x}),
        lambda: Dataset.zip({1: Dataset.range(2)}),
    ],
)
def test_keys_of_a_dict_are_strings(make: Any) -> None:
    with pytest.raises(TypeError, match="dict keys of an element must be strings"):
        make()


def test_an_error_is_made_by_tensorflows_keywords() -> None:
    error = tf.errors.NotFoundError(node_def=None, op=None, message="gone")
    assert (error.message, error.error_code) == ("gone", tf.errors.NOT_FOUND)
    assert tf.errors.OpError(None, None, "lost", tf.errors.DATA_LOSS).error_code == 15


def test_a_boolean_is_no_number_of_threads() -> None:
    options: Any = tf.data.Options()
    with pytest.raises(TypeError, match="private_threadpool_size"):
        options.threading.private_threadpool_size = True


def test_buffers_and_counts_below_one_are_refused() -> None:
    ds: Any = tf.data.Dataset.range(3)
    weave = tf.data.experimental.parallel_interleave
    with pytest.raises(tf.errors.InvalidArgumentError, match="buffer_output_elements"):
        ds.apply(weave(lambda x: tf.data.Dataset.range(x), 2, buffer_output_elements=-1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="count must be greater than zero"):
        ds.apply(tf.data.experimental.shuffle_and_repeat(3, count=-2))


def test_a_choice_that_is_no_dataset_is_named_by_its_class() -> None:
    ds: Any = tf.data.Dataset.range(3)
    with pytest.raises(TypeError, match=r"`choice_dataset` should be a `tf.data.Dataset` but is"):
        ds.choose_from_datasets([ds, ds], 3)


def test_a_range_may_be_of_short_floats() -> None:
    for dtype in (tf.float16, tf.bfloat16):
        ds: Any = tf.data.Dataset.range(2, 9, 3, output_type=dtype)
        assert ds.element_spec == tf.TensorSpec([], dtype)
        assert [float(x) for x in ds] == [2.0, 5.0, 8.0]


def test_optionals_have_no_numpy_values() -> None:
    ds: Any = tf.data.Dataset.from_tensors(tf.experimental.Optional.from_value(1))
    with pytest.raises(TypeError, match="not supported for datasets that produce values of type"):
        ds.as_numpy_iterator()


@pytest.mark.parametrize("value", [object(), {1, 2}, tf.int32, (i for i in range(3))])
def test_what_is_no_tensor_is_no_element(value: Any) -> None:
    text = "Attempt to convert a value .* with an unsupported type .* to a Tensor"
    for make in (tf.data.Dataset.from_tensors, tf.data.Dataset.from_tensor_slices):
        with pytest.raises(ValueError, match=text):
            make((1, value) if make is tf.data.Dataset.from_tensors else value)
