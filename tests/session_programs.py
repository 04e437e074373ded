# mypy: disable-error-code="untyped-decorator, misc"
"""Small programs of graphs, sessions, variables and functions that TensorFlow runs, too.

    python tests/session_programs.py > tests/session_recorded.json     # with TensorFlow

Each is called with a `tf` module and gives something that JSON holds: values, names, shapes, or the
class of an error. `recorded()` is what TensorFlow 2.21 gave.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

PROGRAMS: dict[str, Callable[[Any], Any]] = {}


def program(body: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS[body.__name__] = body
    return body


def plain(value: Any) -> Any:
    """Arrays and scalars as lists and numbers."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return [str(value.dtype), value.tolist()]
    return [str(value.dtype), value.item()] if isinstance(value, np.generic) else value


def error_of(call: Callable[[], Any], *kinds: type[BaseException]) -> str:
    """Which of the classes it raises."""
    try:
        call()
    except Exception as error:
        return next((kind.__name__ for kind in kinds if isinstance(error, kind)), repr(error))
    return "none"


@program
def a_placeholder_is_fed(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        y = tf.reduce_sum(x * 2.0, axis=1)
        one = session.run(y, {x: [[1, 2]]})
        three = session.run(y, feed_dict={"x:0": np.ones([3, 2])})
        return plain([one, three, x.name, x.op.type, x.shape.as_list()])


@program
def fetches_keep_their_nest(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        a, b = tf.constant(2), tf.constant([1.0, 2.0])
        got = session.run({"a": a, "more": [b, (a, b)], "nothing": tf.no_op()})
        return plain(got), type(got["more"][1]).__name__


@program
def what_a_session_refuses(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2])
        w = v1.get_variable("w", [2])
        session = v1.Session()
        errors = tf.errors
        out = [
            error_of(lambda: session.run(x), errors.InvalidArgumentError),
            error_of(lambda: session.run(x, {x: [1, 2, 3]}), ValueError),
            error_of(lambda: session.run(w), errors.FailedPreconditionError),
            error_of(lambda: session.run(3), TypeError),
            error_of(lambda: session.run("nobody:0"), ValueError),
            error_of(lambda: session.run(x, {"nobody:0": 1}), TypeError, KeyError),
            error_of(lambda: x.eval(), ValueError),
            error_of(lambda: bool(x[0] > 0), TypeError),
            error_of(lambda: np.asarray(x), NotImplementedError),
        ]
        session.close()
        out.append(error_of(lambda: session.run(x, {x: [1, 2]}), RuntimeError))
        return out


@program
def a_tensor_of_another_graph_is_refused(tf: Any) -> Any:
    v1 = tf.compat.v1
    one, other = tf.Graph(), tf.Graph()
    with one.as_default():
        x = v1.placeholder(tf.float32, [])
    with other.as_default():
        tf.constant(1)
    with v1.Session(graph=other) as session:
        return error_of(lambda: session.run(x), ValueError)


@program
def variables_live_in_their_session(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v = tf.Variable([1.0, 2.0], name="v")
        more = v.assign_add([1.0, 1.0])
        start = v1.global_variables_initializer()
        first, second = v1.Session(), v1.Session()
        first.run(start)
        second.run(start)
        seen = [first.run(more), first.run(more), second.run(v), first.run(v), first.run(v * 2.0)]
        return plain(seen)


@program
def names_of_variables(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        a = tf.Variable(1.0)
        b = tf.Variable(2.0)
        with tf.name_scope("scope"):
            c = tf.Variable(3.0, name="c")
            d = v1.get_variable("d", [1])
        with tf.name_scope("scope"):
            e = tf.Variable(3.0, name="c")
        with v1.variable_scope("outer"):
            with v1.variable_scope("inner"):
                f = v1.get_variable("w", [1])
            g = tf.Variable(1.0, name="plain")
        return [x.name for x in (a, b, c, d, e, f, g)]


@program
def names_outside_graphs(tf: Any) -> Any:
    with tf.name_scope("my_scope"):
        a = tf.Variable(tf.zeros([2]), name="variable_3")
        with tf.name_scope("inner"):
            b = tf.Variable(1.0)
    return [a.name, b.name, tf.Variable(1, name="x").name, a.shape.as_list(), a.trainable]


@program
def variables_are_shared_by_name(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        with v1.variable_scope("s"):
            a = v1.get_variable("w", [2])
            again = error_of(lambda: v1.get_variable("w", [2]), ValueError)
        with v1.variable_scope("s", reuse=True):
            same = v1.get_variable("w", [2]) is a
            shape = error_of(lambda: v1.get_variable("w", [3]), ValueError)
            unknown = error_of(lambda: v1.get_variable("other", [2]), ValueError)
        with v1.variable_scope("s", reuse=v1.AUTO_REUSE):
            auto = v1.get_variable("w") is a, v1.get_variable("new", [1]).name
        names = [v.name for v in v1.global_variables()]
        return [again, same, shape, unknown, list(auto), names]


@program
def collections_of_variables(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        v1.get_variable("a", [1])
        v1.get_variable("b", [1], trainable=False)
        v1.get_variable("c", [1], collections=["local_variables"], trainable=False)
        found = (v1.global_variables(), v1.trainable_variables(), v1.local_variables())
        return [[v.name for v in each] for each in found]


@program
def control_dependencies_order_what_runs(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=1.0, use_resource=True)
        step = v.assign_add(1.0)
        with tf.control_dependencies([step]):
            after = v.read_value()
            doubled = after * 2.0
            constant = tf.identity(tf.constant(7))
        session.run(v1.global_variables_initializer())
        seen = [session.run(after), session.run(doubled), session.run(constant), session.run(v)]
        return plain(seen)


@program
def chains_of_assignments(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        with tf.control_dependencies([v.assign_add([1.0, 1.0])]):
            tenfold = v.assign(v.read_value() * 10.0)
        with tf.control_dependencies([tenfold]):
            last = v.assign_sub([5.0, 5.0])
            done = tf.group(last, name="done")
        session.run(v1.global_variables_initializer())
        session.run(done)
        return plain([session.run(v), done.name, done.type, session.run(last), session.run(done)])


@program
def random_ops_draw_at_each_run(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.random_normal([3], seed=5)
        y = x - x
        with v1.Session() as session:
            first, second = session.run(x), session.run(x)
            zero = session.run(y)
        with v1.Session() as session:
            again = session.run(x)
        same = np.array_equal(first, second), np.array_equal(first, again)
        return [same[0], same[1], zero.tolist()]


@program
def intermediate_tensors_can_be_fed(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [])
        y = x * 2.0
        z = y + 1.0
        d = v1.placeholder_with_default(5.0, [])
        out = [session.run(z, {x: 1.0}), session.run(z, {y: 10.0})]
        return plain([*out, session.run(d * 2.0), session.run(d * 2.0, {d: 1.0})])


@program
def tensors_are_found_by_name(tf: Any) -> Any:
    v1 = tf.compat.v1
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [2], name="input")
        tf.add(x, 1.0, name="out")
        with tf.name_scope("block"):
            tf.multiply(x, 2.0, name="double")
    with v1.Session(graph=graph) as session:
        got = session.run(["out:0", "block/double:0"], {"input:0": [1.0, 2.0]})
    missing = error_of(lambda: graph.get_tensor_by_name("nobody:0"), KeyError)
    wrong = error_of(lambda: graph.get_tensor_by_name("out"), ValueError)
    operation = graph.get_operation_by_name("out")
    return plain([got, missing, wrong, operation.name, graph.get_tensor_by_name("out:0").name])


@program
def a_graph_can_be_finished(tf: Any) -> Any:
    graph = tf.Graph()
    with graph.as_default():
        tf.compat.v1.placeholder(tf.float32)
        graph.finalize()
        return [
            error_of(lambda: tf.compat.v1.placeholder(tf.float32), RuntimeError),
            error_of(lambda: tf.Variable(1.0), RuntimeError),
            graph.finalized,
        ]


@program
def conditions_and_loops_in_a_graph(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.int32, [])
        y = tf.cond(x > 0, lambda: x * 10, lambda: x - 1)
        n = tf.while_loop(lambda i, s: i < x, lambda i, s: (i + 1, s + i), [0, 0])
        return plain([session.run([y, n], {x: 4}), session.run([y, n], {x: -3})])


@program
def python_functions_in_a_graph(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        y = tf.numpy_function(lambda a: a[::-1] * 2, [x], tf.float32)
        z = tf.py_function(lambda a: a + 1.0, [y], tf.float32)
        return plain(session.run([y, z], {x: [1.0, 2.0]}))


@program
def shapes_are_checked_where_they_are_written(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [10, 10])
        y = v1.placeholder(tf.float32, [20, 20])
        return [
            error_of(lambda: tf.matmul(x, y), ValueError),
            error_of(lambda: tf.add(x, y), ValueError),
            tf.matmul(x, v1.placeholder(tf.float32, [10, None])).shape.as_list(),
        ]


@program
def variables_outside_graphs(tf: Any) -> Any:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    out = [v.numpy(), (v + 1.0).numpy(), (2.0 * v).numpy(), v[0].numpy(), tf.matmul(v, v).numpy()]
    v.assign(v * 2.0)
    out.append(v.assign_sub(tf.ones([2, 2])).numpy())
    out.append(tf.reduce_sum(v).numpy())
    out.append(tf.stack([v, v]).shape.as_list())
    out.append(error_of(lambda: v.assign([1.0]), ValueError))
    out.append(error_of(lambda: hash(v), TypeError))
    out.append(v.dtype.name)
    out.append(tf.is_tensor(v))
    out.append(error_of(lambda: tf.Variable(), ValueError))
    out.append(tf.Variable(lambda: tf.constant([7])).numpy())
    out.append((-v).numpy())
    out.append((v > 0.0).numpy())
    return plain(out)


@program
def dtypes_of_variables(tf: Any) -> Any:
    made = [
        tf.Variable(1),
        tf.Variable(1.5),
        tf.Variable([True]),
        tf.Variable("a"),
        tf.Variable(1, dtype=tf.float64),
        tf.Variable(np.zeros(2)),
    ]
    return [v.dtype.name for v in made]


@program
def functions_read_variables_at_each_call(tf: Any) -> Any:
    v = tf.Variable(2.0)

    @tf.function
    def scaled(x: Any) -> Any:
        return {"y": x * v}

    first = scaled(tf.constant(3.0))["y"].numpy()
    v.assign(10.0)
    return plain([first, scaled(tf.constant(3.0))["y"].numpy()])


@program
def functions_are_traced_once_a_kind(tf: Any) -> Any:
    @tf.function
    def double(x: Any, times: int = 2) -> Any:
        return x * times

    values = [double(tf.constant(1)), double(tf.constant(5)), double(tf.constant([1.0, 2.0]), 3)]
    count = double.experimental_get_tracing_count()
    return plain([[v.numpy() for v in values], count])


@program
def functions_set_variables(tf: Any) -> Any:
    v = tf.Variable(0.0)

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        return v.read_value()

    return plain([step(tf.constant(1.0)).numpy(), step(tf.constant(2.0)).numpy(), v.numpy()])


@program
def functions_with_signatures(tf: Any) -> Any:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(x: Any) -> Any:
        return tf.reduce_sum(x)

    got = [total(tf.constant([1.0, 2.0])).numpy(), total([3.0]).numpy()]
    wrong = error_of(lambda: total(tf.constant([[1.0]])), TypeError, ValueError)
    return plain([got, wrong, total.experimental_get_tracing_count()])


@program
def functions_as_methods(tf: Any) -> Any:
    class Layer(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = tf.Variable([1.0, 2.0], name="w")
            self.frozen = tf.Variable(1.0, trainable=False)

        @tf.function
        def __call__(self, x: Any) -> Any:
            return x * self.w + self.frozen

    layer = Layer()
    first = layer(tf.constant([1.0, 1.0])).numpy()
    layer.w.assign([5.0, 5.0])
    names = [v.name for v in layer.variables], [v.name for v in layer.trainable_variables]
    return plain([first, layer(tf.constant([1.0, 1.0])).numpy(), *names, layer.name])


@program
def functions_branch_on_values(tf: Any) -> Any:
    @tf.function
    def positive(x: Any) -> Any:
        if x > 0:
            return x
        return -x

    return plain([positive(tf.constant(3)).numpy(), positive(tf.constant(-4)).numpy()])


@program
def functions_in_a_graph(tf: Any) -> Any:
    v1 = tf.compat.v1

    @tf.function
    def double(x: Any) -> Any:
        return x * 2.0

    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2])
        return plain(session.run(double(x), {x: [1.0, 2.0]}))


@program
def concrete_functions(tf: Any) -> Any:
    add = tf.function(lambda x, y: x + y)
    spec = tf.TensorSpec([None], tf.float32)
    concrete = add.get_concrete_function(spec, spec)
    return plain(concrete(tf.constant([1.0]), tf.constant([2.0])).numpy())


@program
def a_line_is_fitted_by_hand(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None])
        y = v1.placeholder(tf.float32, [None])
        a = v1.get_variable("a", initializer=0.0, use_resource=True)
        b = v1.get_variable("b", initializer=0.0, use_resource=True)
        error = a * x + b - y
        loss = tf.reduce_mean(tf.square(error))
        steps = [
            a.assign_sub(0.1 * 2.0 * tf.reduce_mean(error * x)),
            b.assign_sub(0.1 * 2.0 * tf.reduce_mean(error)),
        ]
        with tf.control_dependencies(steps):
            train = tf.no_op(name="train")
        session.run(v1.global_variables_initializer())
        data = {x: [0.0, 1.0, 2.0, 3.0], y: [1.0, 3.0, 5.0, 7.0]}
        first = session.run(loss, data)
        for _ in range(300):
            session.run(train, data)
        found = session.run([a, b, loss], data)
        return [round(float(first), 3), *(round(float(value), 2) for value in found)]


@program
def default_sessions_and_eval(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2])
        v = v1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
        with v1.Session().as_default() as session:
            v.initializer.run()
            out = [(x * 2.0).eval({x: [1.0, 2.0]}), v.eval(), v1.get_default_session() is session]
            v1.assign(v, [5.0, 6.0]).eval()
            out += [v.eval(), v1.assign_add(v, [1.0, 1.0]).eval()]
        return plain(out)


@program
def what_variables_start_from(tf: Any) -> Any:
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        made = [
            v1.get_variable("zeros", [2], initializer=v1.zeros_initializer()),
            v1.get_variable("ones", [2], tf.int32, v1.ones_initializer()),
            v1.get_variable("three", [2], initializer=v1.constant_initializer(3)),
            v1.get_variable("given", initializer=tf.constant([4.0])),
            v1.get_variable("count", [2], tf.int32),
        ]
        drawn = [
            v1.get_variable("glorot", [100, 50]),
            v1.get_variable("normal", [500], initializer=v1.random_normal_initializer(5.0, 0.1)),
            v1.get_variable("cut", [500], initializer=v1.truncated_normal_initializer(stddev=2.0)),
            v1.get_variable("even", [500], initializer=v1.random_uniform_initializer(2, 3)),
        ]
        session.run(v1.global_variables_initializer())
        g, n, t, u = session.run(drawn)
        facts = [
            bool(abs(g).max() <= 0.2),
            bool(abs(n.mean() - 5.0) < 0.1),
            bool(abs(t).max() <= 4.0),
            bool(u.min() >= 2.0 and u.max() < 3.0),
        ]
        return plain([session.run(made), facts])


@program
def loops_over_ranges_in_functions(tf: Any) -> Any:
    @tf.function
    def total(n: Any) -> Any:
        found = tf.constant(0)
        for i in tf.range(n):
            found += i
        return found

    return plain([total(tf.constant(5)).numpy(), total(tf.constant(3)).numpy()])


@program
def errors_in_functions(tf: Any) -> Any:
    @tf.function
    def product(x: Any, y: Any) -> Any:
        return tf.matmul(x, y)

    a, b = tf.ones([2, 3]), tf.ones([2, 3])
    gather = tf.function(lambda x, i: tf.gather(x, i))
    errors = tf.errors.InvalidArgumentError
    return [
        error_of(lambda: product(a, b), ValueError, errors),
        error_of(lambda: gather(tf.constant([1, 2]), tf.constant(9)), errors),
    ]


@program
def devices_there_are(tf: Any) -> Any:
    found = tf.config.list_physical_devices("CPU")
    return [len(found), found[0].device_type, found[0].name, tf.config.list_physical_devices("GPU")]


@program
def eager_or_not(tf: Any) -> Any:
    inside: list[bool] = []
    with tf.Graph().as_default():
        inside.append(tf.executing_eagerly())
        with tf.init_scope():
            inside.append(tf.executing_eagerly())
    return [tf.executing_eagerly(), inside]


def run(tf: Any) -> dict[str, Any]:
    """What all of them give."""
    return {name: json.loads(json.dumps(body(tf))) for name, body in PROGRAMS.items()}


def recorded() -> dict[str, Any]:
    with open(os.path.join(os.path.dirname(__file__), "session_recorded.json")) as file:
        found: dict[str, Any] = json.load(file)
    return found


if __name__ == "__main__":
    tensorflow = importlib.import_module("tensorflow")
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in run(tensorflow).items()]
    print("{\n" + ",\n".join(lines) + "\n}")
