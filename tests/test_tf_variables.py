# mypy: disable-error-code="untyped-decorator, misc"
"""Variables and modules under TensorFlow's names, outside graphs; inside: test_tf_sessions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf
from spillway import tracked

tf: Any = spillway.tf


def test_a_variable_is_known_by_its_line_and_bytes() -> None:
    v = tf.Variable(tf.zeros([10, 10]))
    found = tracked.live("variable")[-1]
    assert found.obj is v and found.nbytes == 400 and "test_tf_variables.py" in found.line
    serial = found.serial
    del v, found
    assert serial not in [f.serial for f in tracked.live("variable")]


def test_what_was_computed_from_it_keeps_the_value_it_had() -> None:
    v = tf.Variable(tf.ones([300, 300]))
    later = tf.reduce_sum(v * 2.0)  # not computed yet
    kept = v.read_value()
    v.assign_add(tf.ones([300, 300]))
    assert float(later) == 180000.0 and float(kept[0, 0]) == 1.0 and float(v[0, 0]) == 2.0


def test_it_takes_a_copy_of_the_array_it_starts_from() -> None:
    array = np.zeros(100_000)
    v = tf.Variable(array)
    array[0] = 5.0
    assert v.numpy()[0] == 0.0
    out = v.numpy()
    out[1] = 7.0
    assert v.numpy()[1] == 0.0


@pytest.mark.parametrize("make", [
    lambda v: tf.add(v, 1.0), lambda v: tf.add(1.0, v), lambda v: tf.maximum(0.0, v),
    lambda v: tf.concat([v, [1.0]], 0), lambda v: tf.stack([v, v]), lambda v: v / 2.0,
    lambda v: 2.0 ** v, lambda v: np.sqrt(v), lambda v: tf.convert_to_tensor([v[0], 1.0]),
    lambda v: tf.cast(v, tf.int32), lambda v: tf.reduce_sum(v), lambda v: tf.where(v > 1.0, v, 0.0),
    lambda v: tf.gather(v, [0]), lambda v: tf.constant([1.0, 2.0]) * v, lambda v: v == v,
])  # fmt: skip
def test_ops_take_it_as_the_tensor_of_its_value(make: Any) -> None:
    v, x = tf.Variable([1.0, 4.0]), tf.constant([1.0, 4.0])
    assert np.asarray(make(v)).tolist() == np.asarray(make(x)).tolist()


def test_another_dtype_is_refused() -> None:
    v = tf.Variable([1.0])
    with pytest.raises(ValueError, match="float32"):
        v.assign(tf.constant([1.0], tf.float64))
    with pytest.raises((TypeError, ValueError)):
        v.assign_add(["a"])
    assert v.assign([3]).numpy().tolist() == [3.0]


def test_a_shape_may_stay_open() -> None:
    v = tf.Variable([1, 2], shape=[None])
    v.assign([1, 2, 3])
    assert v.numpy().tolist() == [1, 2, 3] and v.shape.as_list() == [None]
    with pytest.raises(ValueError, match="not compatible with the explicitly"):
        tf.Variable([1, 2], shape=[3])


def test_a_checkpoint_saves_and_restores_variables(tmp_path: Any) -> None:
    v = tf.Variable([1.0, 2.0])
    module = tf.Module(name="m")
    module.layers = [tf.Variable(3, name="a"), {"b": tf.Variable([[4.0]])}]
    path = tf.train.Checkpoint(v=v, module=module).save(str(tmp_path / "ckpt"))
    v.assign([0.0, 0.0])
    module.layers[0].assign(0)
    module.layers[1]["b"].assign([[0.0]])
    again = tf.train.Checkpoint(v=v, module=module)
    again.restore(path).assert_consumed()
    assert v.numpy().tolist() == [1.0, 2.0]
    assert module.layers[0].numpy() == 3 and module.layers[1]["b"].numpy().tolist() == [[4.0]]
    other = tf.train.Checkpoint(v=tf.Variable([1.0, 2.0, 3.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        other.restore(path)


def test_a_module_lists_what_it_leads_to() -> None:
    class Inner(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable(1.0, name="w")

    class Outer(tf.Module):
        def __init__(self) -> None:
            super().__init__(name="outer")
            self.parts = [Inner(), Inner()]
            self.fixed = tf.Variable(2.0, trainable=False, name="fixed")

        @tf.Module.with_name_scope
        def grow(self) -> Any:
            return tf.Variable(0.0, name="late")

    outer = Outer()
    assert [v.name for v in outer.variables] == ["fixed:0", "w:0", "w:0"]
    assert len(outer.trainable_variables) == 2 and len(outer.submodules) == 2
    assert outer.grow().name == "outer/late:0"


def test_copies_and_pickles_are_variables_of_their_own() -> None:
    v = tf.Variable([1.0], trainable=False, name="mine")
    for other in (copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        other.assign([2.0])
        assert (other.name, other.trainable, v.numpy().tolist()) == ("mine:0", False, [1.0])


def test_a_dataset_reads_it_for_every_element() -> None:
    v = tf.Variable(1, dtype=tf.int64)
    it = iter(tf.data.Dataset.range(4).map(lambda x: x * v))
    first = [int(next(it)), int(next(it))]
    v.assign(10)
    assert first == [0, 1] and int(v) == 10
    assert [int(x) for x in tf.data.Dataset.range(3).map(lambda x: x * v)] == [0, 10, 20]


def test_one_that_cannot_fit_is_refused_at_its_line() -> None:
    with pytest.raises(sw.errors.BudgetError) as caught:
        tf.Variable(tf.random.normal([10000, 10000, 10000]))
    assert "3.64 TiB" in str(caught.value) and "test_tf_variables.py" in str(caught.value)


def test_a_function_makes_its_variables_once() -> None:
    made: list[Any] = []

    @tf.function
    def once(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(1.0))
        return x + made[0]

    assert [float(once(tf.constant(1.0))) for _ in range(3)] == [2.0, 2.0, 2.0]

    @tf.function
    def always(x: Any) -> Any:
        return x + tf.Variable(1.0)

    always(tf.constant(1.0))
    with pytest.raises(ValueError, match="singleton"):
        always(tf.constant(1.0))
