# mypy: disable-error-code="untyped-decorator, misc"
"""Graphs and sessions under TensorFlow's names."""

from __future__ import annotations

import gc
import json
import re
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf
from spillway import _native, modes, tracked
from tests import session_programs

tf: Any = spillway.tf
v1: Any = tf.compat.v1


@pytest.fixture(autouse=True)
def clean() -> Iterator[None]:
    yield
    tf.enable_eager_execution()
    tf.reset_default_graph()
    assert modes.innermost() is None


@pytest.mark.parametrize("name", list(session_programs.PROGRAMS))
def test_a_program_gives_what_tensorflow_gave(name: str) -> None:
    found = json.loads(json.dumps(session_programs.PROGRAMS[name](tf)))
    assert found == session_programs.recorded()[name]


def test_every_name_of_tensorflow_1_is_in_both_places() -> None:
    for name in ("Session", "placeholder", "get_variable", "ConfigProto", "random_normal"):
        assert getattr(tf, name) is getattr(v1, name)
        assert name in tf.__all__ and name in v1.__all__
    assert v1.matmul is tf.matmul and v1.float32 is tf.float32


def test_a_name_that_is_not_here_is_told_as_before() -> None:
    with pytest.raises(AttributeError, match="the nearest is 'Session'"):
        _ = v1.Sesion
    with pytest.raises(AttributeError, match="not here yet"):
        _ = tf.RaggedTensor


@pytest.mark.parametrize("name", ["GradientTape", "gradients"])
def test_what_has_no_gradients_says_what_to_use(name: str) -> None:
    with pytest.raises(AttributeError, match=r"spillway\.guarded.*docs/handover\.md"):
        getattr(tf, name)
    with pytest.raises(AttributeError, match="guarded"):
        getattr(v1, name)


def test_a_session_runs_what_was_made_eagerly() -> None:
    big = tf.ones([300, 300]) * 2.0  # waits until it is asked for
    with v1.Session() as session:
        total, same = session.run([tf.reduce_sum(big), big])
    assert total == 180000.0 and same.shape == (300, 300)
    same[0, 0] = 7.0
    assert float(big[0, 0]) == 2.0


def test_results_are_arrays_of_the_callers_own() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        w = tf.Variable(tf.zeros([500, 500]))
        session.run(v1.global_variables_initializer())
        first = session.run(w)
        first += 1.0
        assert session.run(w).sum() == 0.0
        x = v1.random_normal([500, 500])
        drawn = session.run(x)
        drawn[:] = 0.0
        assert drawn.sum() == 0.0


def test_ten_thousand_cubed_is_refused_with_the_numbers_before_anything_runs() -> None:
    with tf.Graph().as_default():
        a = tf.random.normal([10000, 10000, 10000], dtype=tf.float32)
        b = tf.random.normal([10000, 10000, 10000], dtype=tf.float32)
        c = tf.matmul(a, b)
        with v1.Session() as session, pytest.raises(tf.errors.ResourceExhaustedError) as caught:
            session.run(c)
    assert isinstance(caught.value, sw.errors.BudgetError)
    text = str(caught.value)
    assert "3.64 TiB" in text and "matmul" in text and "test_tf_sessions.py" in text
    assert "memory limit" in text


def test_shapes_that_do_not_fit_are_refused_at_their_line_with_both_shapes() -> None:
    x = np.zeros([10, 30, 3], np.float32)
    a, b = tf.constant(x), tf.constant(x)
    with pytest.raises(ValueError, match="matmul") as caught:
        tf.matmul(a, b)
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)
    assert str(caught.value).count("[10,30,3]") >= 2 or str(caught.value).count("30, 3") >= 2
    assert str(caught.value).count("test_tf_sessions.py") >= 2
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError):
        tf.add(tf.constant(np.zeros([10, 10])), tf.constant(np.zeros([20, 20])))


def test_a_missing_feed_is_named_with_its_line() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 3], name="pixels")
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            session.run(x * 2.0)
    assert "'pixels' with dtype float32 and shape [?,3]" in str(caught.value)
    assert re.search(r"test_tf_sessions\.py:\d+: x = v1\.placeholder", caught.value.line or "")


def test_a_variable_without_a_value_is_named_with_its_line() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("weights", [3])
        with pytest.raises(tf.errors.FailedPreconditionError) as caught:
            session.run(w + 1.0)
    assert "weights" in str(caught.value) and "global_variables_initializer" in str(caught.value)
    assert re.search(
        r'test_tf_sessions\.py:\d+: w = v1\.get_variable\("weights"', str(caught.value)
    )


def test_a_wrong_feed_is_a_value_error_in_tensorflows_words() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], name="x")
        with pytest.raises(ValueError, match=r"Cannot feed value of shape \(3,\) for Tensor 'x:0'"):
            session.run(x, {x: [1, 2, 3]})
        with pytest.raises(TypeError, match="cannot be a tf"):
            session.run(x, {x: x})


def test_a_known_value_cannot_be_fed_and_the_error_says_what_to_write() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        a = tf.constant([1.0, 2.0])
        with pytest.raises(ValueError, match="placeholder_with_default"):
            session.run(a * 2.0, {a: [3.0, 4.0]})


def test_a_closed_session_says_where_it_was_closed() -> None:
    session = v1.Session(graph=tf.Graph())
    session.close()
    with pytest.raises(RuntimeError, match=r"closed Session.*test_tf_sessions\.py"):
        session.run(tf.constant(1))
    session.close()


def test_a_symbolic_tensor_has_no_value_and_says_what_to_do() -> None:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2], name="x")
        assert repr(x) == 'Tensor("x:0", shape=(2,), dtype=float32)'
        for use in (x.numpy, lambda: float(x[0]), lambda: int(x[0]), lambda: bool(x[0] > 0)):
            with pytest.raises((NotImplementedError, TypeError), match=r"session\.run"):
                use()
        with pytest.raises(AttributeError, match="eager"), modes.writing(None):
            _ = tf.constant([1.0, 2.0]).op


def test_what_fails_on_known_values_fails_when_it_runs() -> None:
    with tf.Graph().as_default():
        wrong = tf.constant([1, 2]) // tf.constant([1, 0])
        right = tf.constant([1, 2]) + 1
        with v1.Session() as session:
            assert session.run(right).tolist() == [2, 3]
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(wrong)


def test_an_assertion_runs_where_it_is_a_control_input() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        with tf.control_dependencies([tf.Assert(x > 0.0, ["must be positive", x])]):
            y = tf.identity(x) * 2.0
        assert session.run(y, {x: 2.0}) == 4.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be positive"):
            session.run(y, {x: -2.0})


def test_a_branch_that_would_set_a_variable_is_refused() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(1.0)
        x = v1.placeholder(tf.bool, [])
        with pytest.raises(NotImplementedError, match=r"v\.assign\(tf\.cond"):
            tf.cond(x, lambda: v.assign_add(1.0), lambda: v.read_value())
        step = v.assign(tf.cond(x, lambda: v + 1.0, lambda: v * 1.0))
        session.run(v.initializer)
        assert [float(session.run(step, {x: each})) for each in (True, False)] == [2.0, 2.0]


def test_random_numbers_are_the_same_within_a_run_and_new_in_the_next() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.random.uniform([4])
        a, b = session.run([x, x + 0.0])
        assert (a == b).all()
        assert (session.run(x) != a).any()


def test_an_initial_value_sees_the_variables_started_before_it() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        a = tf.Variable(v1.random_normal([3]), name="a")
        b = tf.Variable(a * 2.0, name="b")
        session.run(v1.global_variables_initializer())
        x, y = session.run([a, b])
        assert (y == x * 2).all()
        session.run(v1.global_variables_initializer())
        x2, y2 = session.run([a, b])
        assert (x2 != x).any() and (y2 == x2 * 2).all()


def test_unordered_additions_all_count_and_plain_reads_see_the_value_before() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(1.0)
        one, two = v.assign_add(1.0), v.assign_add(2.0)
        session.run(v.initializer)
        seen, before, *_ = session.run([two, v, one])
        assert (seen, before, session.run(v)) == (4.0, 1.0, 4.0)


def test_a_long_chain_of_control_inputs_needs_no_stack() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        v = tf.Variable(0)
        step = v.assign_add(1)
        for _ in range(1500):
            with tf.control_dependencies([step]):
                step = v.assign_add(1)
        session.run(v.initializer)
        assert session.run(step) == 1501


def test_plans_are_made_once_and_bounded() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None])
        y = x * 2.0
        for n in range(40):
            session.run(y, {x: np.ones(n + 1, np.float32)})
        assert len(session._programs) == 1
        assert 1 <= session.drop_plans() <= 8
        assert session.run(y, {x: [3.0]}).tolist() == [6.0]
        for n in range(100):
            session.run(y + float(n), {x: [1.0]})
        assert len(session._programs) <= 64


def test_nodes_are_counted_by_the_line_that_adds_them() -> None:
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [2])
        for _ in range(50):
            y = x + 1.0
    (line, count), *_ = graph.nodes_by_line().items()
    assert count == 50 and "test_tf_sessions.py" in line and graph.node_count >= 50
    assert y.shape.as_list() == [2]


def test_a_graph_never_freezes_by_itself() -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        assert session.run(tf.random.uniform([]) * 0.0) == 0.0
        assert session.run(tf.random.uniform([]) * 0.0 + 1.0) == 1.0
        assert not graph.finalized


def test_names_are_those_of_the_ops() -> None:
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2, 2])
        assert (x + 1.0).name == "add:0" and (x + 1.0).name == "add_1:0"
        assert tf.matmul(x, x).name == "MatMul:0"
        assert tf.random.normal([2], mean=1.0, stddev=2.0, name="noise").name == "noise:0"
        with tf.name_scope("a") as scope:
            assert scope == "a/" and (x * x).name == "a/mul:0"
        with tf.name_scope("a"):
            assert tf.identity(x, name="y").name == "a_1/y:0"
        assert x.graph is graph and x.op.outputs[0] is x
        assert "MatMul" in [operation.name for operation in graph.get_operations()]


def test_eager_execution_can_be_switched_off_and_on() -> None:
    tf.disable_eager_execution()
    assert not tf.executing_eagerly()
    x = v1.placeholder(tf.float32, [])
    assert x.graph is tf.get_default_graph()
    with v1.Session() as session:
        assert session.run(x * 2.0, {x: 3.0}) == 6.0
    tf.enable_eager_execution()
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        v1.placeholder(tf.float32, [])


def test_datasets_run_as_ever_beside_a_graph() -> None:
    def as_python(x: Any) -> Any:
        return x + len(str(int(x)))

    tf.disable_eager_execution()
    ds = tf.data.Dataset.range(12).map(lambda x: x * 2).map(as_python)
    assert [int(x) for x in ds.take(3)] == [1, 3, 5]
    with v1.Session() as session:
        seen = [session.run(x) for x in ds.take(2)]
    assert seen == [1, 3]


def test_a_graph_takes_elements_of_a_dataset() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        ds = tf.data.Dataset.range(4).map(lambda x: {"x": x, "y": [x, x]})
        it = v1.data.make_initializable_iterator(ds)
        element = it.get_next()
        both = element["x"] + tf.reduce_sum(element["y"])
        with pytest.raises(tf.errors.FailedPreconditionError, match="not been initialized"):
            session.run(both)
        for _ in range(2):
            session.run(it.initializer)
            assert [int(session.run(both)) for _ in range(4)] == [0, 3, 6, 9]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(both)


def test_a_graph_belongs_to_the_thread_that_writes_it() -> None:
    seen: list[Any] = []
    with tf.Graph().as_default():
        thread = threading.Thread(target=lambda: seen.append((tf.constant(2) * 3).numpy()))
        thread.start()
        thread.join()
    assert seen == [6]


def test_python_functions_in_a_graph_run_eagerly() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])

        def tripled(a: Any) -> Any:
            assert tf.executing_eagerly()
            return np.asarray(tf.reduce_sum(a * 3.0).numpy())

        y = tf.py_function(tripled, [x], tf.float32)
        assert session.run(y + 1.0, {x: [1.0, 2.0]}) == 10.0


def test_sessions_nest_and_leave_the_default_as_it_was() -> None:
    assert v1.get_default_session() is None
    graph = tf.Graph()
    with graph.as_default(), v1.Session() as outer:
        x = tf.constant(4) + 0
        with v1.Session() as inner:
            assert v1.get_default_session() is inner
        assert v1.get_default_session() is outer and x.eval() == 4
        assert outer.as_default() is not None
    assert v1.get_default_session() is None
    interactive = tf.InteractiveSession(graph=graph)
    assert v1.get_default_session() is interactive and tf.get_default_graph() is graph
    interactive.close()
    assert v1.get_default_session() is None and tf.executing_eagerly()


def test_an_error_inside_with_closes_the_session() -> None:
    with pytest.raises(KeyError), v1.Session() as session:
        raise KeyError("mine")
    assert session.closed and tf.executing_eagerly()


def test_settings_of_a_session_are_kept() -> None:
    config = tf.ConfigProto(allow_soft_placement=True, device_count={"GPU": 0})
    config.gpu_options.allow_growth = True
    config.gpu_options.per_process_gpu_memory_fraction = 0.4
    assert config.gpu_options.allow_growth and config.log_device_placement == 0
    with tf.Session(config=config) as session:
        assert session.run(tf.constant(1)) == 1


def test_sessions_are_known_by_their_line_and_what_they_hold() -> None:
    before = {found.serial for found in tracked.live("session")}
    with tf.Graph().as_default():
        tf.Variable(tf.zeros([1000, 100]))
        session = v1.Session()
        session.run(v1.global_variables_initializer())
    (found,) = [f for f in tracked.live("session") if f.serial not in before]
    assert found.obj is session and found.nbytes == 400_000
    assert "test_tf_sessions.py" in found.line
    session.close()
    assert found.nbytes == 0


def held() -> int:
    return sum(row["held"] for row in _native.ledger()["rows"] if row["name"] == "tensors")


def test_what_a_session_holds_goes_when_nobody_can_reach_it() -> None:
    gc.collect()
    before = held()
    graph = tf.Graph()
    with graph.as_default():
        tf.Variable(tf.random.normal([1000, 1000]))
        start = v1.global_variables_initializer()
    session = v1.Session(graph=graph)
    session.run(start)
    assert held() >= before + 4_000_000
    gone = weakref.ref(session)
    del session
    gc.collect()
    assert gone() is None and held() < before + 1_000_000


def test_resetting_the_default_graph_drops_what_its_sessions_hold() -> None:
    tf.disable_eager_execution()
    v = tf.Variable(tf.random.normal([500, 500]))
    session = v1.Session()
    session.run(v1.global_variables_initializer())
    before = held()
    tf.reset_default_graph()
    assert held() <= before - 1_000_000
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(v)
    with tf.Graph().as_default(), pytest.raises(AssertionError, match="nested graphs"):
        tf.reset_default_graph()


def test_memory_growth_does_nothing_and_says_so_once() -> None:
    from spillway.sessions import devices

    devices._growth_told = False
    (cpu,) = tf.config.list_physical_devices("CPU")
    with pytest.warns(UserWarning, match="memory_limit"):
        tf.config.experimental.set_memory_growth(cpu, True)
    tf.config.experimental.set_memory_growth(cpu, True)
    assert tf.config.list_logical_devices("GPU") == []
    tf.config.threading.set_inter_op_parallelism_threads(2)
    assert tf.config.threading.get_inter_op_parallelism_threads() == 2
