"""A dataset in a pickle: in a fresh process, in another folder, it is the same dataset."""

from __future__ import annotations

import copy
import json
import pickle
import queue
import subprocess
import sys
import textwrap
import threading
from collections import namedtuple
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import _native

# What a notebook holds: everything here is of __main__, nothing can be imported elsewhere.
NOTEBOOK = """
import cloudpickle, json, os, pathlib, sys
import numpy as np
import spillway as sw
import spillway.tf as tf

folder = pathlib.Path(sys.argv[1])
table = np.arange(10, dtype=np.float32) * 0.5
np.save(folder / "rows.npy", np.arange(12).reshape(6, 2))
with tf.io.TFRecordWriter(str(folder / "rows.tfrecord")) as writer:
    for i in range(5):
        writer.write(f"record {i}".encode())

def look_up(x):
    print(end="")  # keeps it Python
    return table[int(x) % 10] + np.float32(1)

def count(start, step=2):
    for i in range(start, start + 6, step):
        yield np.int64(i)

def windows(ds):
    return ds.window(3, drop_remainder=True).flat_map(lambda w: w.batch(3))

def fails_at_three(x):
    if int(x) == 3:
        raise KeyError("three is missing")
    return x

spec = sw.TensorSpec((), "int64")
everything = {
    "traced": sw.Dataset.range(7).map(lambda x: x * 3 + 1).filter(lambda x: x % 2 == 0),
    "python": sw.Dataset.range(7).map(look_up),
    "closure": sw.Dataset.range(4).map((lambda a: lambda x: (print(end=""), a[int(x)])[1])(table)),
    "generator": sw.Dataset.from_generator(count, args=(3,), output_signature=spec),
    "generator of a lambda": sw.Dataset.from_generator(lambda: iter([1.5, 2.5])),
    "flat_map": sw.Dataset.range(4).flat_map(lambda x: sw.Dataset.range(x).map(lambda y: y + x)),
    "interleave": sw.Dataset.range(4).interleave(
        lambda x: sw.Dataset.from_generator(count, args=(int(x),), output_signature=spec),
        cycle_length=2),
    "shuffle": sw.Dataset.range(50).shuffle(20, seed=7).batch(8).prefetch(2),
    "cache": sw.Dataset.range(6).map(look_up).cache().repeat(2),
    "slices": sw.Dataset.from_tensor_slices({"x": table, "s": [b"%d" % i for i in range(10)]}),
    "window": windows(sw.Dataset.range(10)),
    "zip": sw.Dataset.zip(sw.Dataset.range(3), sw.Dataset.range(5).batch(2), strict=False),
    "choose": sw.Dataset.choose_from_datasets(
        [sw.Dataset.range(3), sw.Dataset.range(10, 13)],
        sw.Dataset.from_tensor_slices(np.array([0, 1, 1, 0], np.int64))),
    "scan": sw.Dataset.range(5).scan(np.int64(0), lambda s, x: (s + x, s * x)),
    "policy": sw.Dataset.range(6).map(fails_at_three, on_error="skip", max_errors=2),
    "isolated": sw.Dataset.range(6).map(look_up, isolate=True, num_parallel_calls=2),
    "isolated generator": sw.Dataset.from_generator(
        count, args=(1,), output_signature=spec, isolate=True),
    "npy": sw.Dataset.from_npy(str(folder / "rows.npy")),
    "records": tf.data.TFRecordDataset(str(folder / "rows.tfrecord")).map(
        lambda r: tf.strings.length(r)),
    "tf": tf.data.Dataset.range(8).map(lambda x: tf.cast(x, tf.float32) / 2).batch(3),
    "tf python": tf.data.Dataset.range(4).map(
        lambda x: tf.numpy_function(lambda a: a + np.int64(table[3] * 2), [x], tf.int64)),
    "tf window": tf.data.Dataset.range(7).window(2).flat_map(lambda w: w.map(lambda x: -x)),
    "options": sw.Dataset.range(4).with_options(sw.Options()),
    "numpy": sw.Dataset.range(1, 6).map(lambda x: np.sqrt(np.float64(2.0) * x) + np.hypot(x, x)),
    "control": tf.data.Dataset.range(6).map(
        lambda x: tf.cond(x % 2 == 0, lambda: x * 10, lambda: x - 100)),
    "loop": tf.data.Dataset.range(5).map(
        lambda x: tf.while_loop(lambda i: i < 20, lambda i: (i * 2 + 1,), [x])[0]),
}

def plain(value):
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, bytes):
        return value.decode()
    return np.asarray(value).tolist()

def facts(ds):
    it = iter(ds)
    first = plain(next(it))
    state = it.save()
    rest = [plain(x) for x in it]
    return {"hash": ds.spec_hash(), "spec": repr(ds.element_spec), "kind": type(ds).__qualname__,
            "text": repr(ds), "elements": [first, *rest], "state": state.hex()}

if __name__ == "__main__":
    (folder / "sent.pickle").write_bytes(cloudpickle.dumps(everything))
    (folder / "facts.json").write_text(
        json.dumps({name: facts(ds) for name, ds in everything.items()}))
"""

ELSEWHERE = """
import json, pathlib, pickle, sys
import numpy as np

folder = pathlib.Path(sys.argv[1])
arrived = pickle.loads((folder / "sent.pickle").read_bytes())
there = json.loads((folder / "facts.json").read_text())

def plain(value):
    if hasattr(value, "numpy"):
        value = value.numpy()
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    if isinstance(value, bytes):
        return value.decode()
    return np.asarray(value).tolist()

found = {}
for name, ds in arrived.items():
    elements = [plain(x) for x in ds]
    it = iter(ds)
    it.restore(bytes.fromhex(there[name]["state"]))
    found[name] = {"hash": ds.spec_hash(), "spec": repr(ds.element_spec),
                   "kind": type(ds).__qualname__, "text": repr(ds),
                   "elements": elements, "rest": [plain(x) for x in it]}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the notebook had, and what a fresh process in another folder found in its pickle."""
    notebook = tmp_path_factory.mktemp("notebook")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (notebook / "notebook.py").write_text(NOTEBOOK)
    _run(notebook / "notebook.py", notebook, notebook)
    (elsewhere / "other.py").write_text(ELSEWHERE)
    found = _run(elsewhere / "other.py", notebook, elsewhere)
    return json.loads((notebook / "facts.json").read_text()), json.loads(found)


def _run(script: Path, folder: Path, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(script), str(folder)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _names() -> list[str]:
    import ast

    tree = ast.parse(NOTEBOOK)
    made = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "everything"
    )
    assert isinstance(made, ast.Dict)
    return [str(ast.literal_eval(key)) for key in made.keys if key is not None]


@pytest.mark.parametrize("name", _names())
def test_hash_elements_and_checkpoint_are_the_same_in_another_process(sent: Any, name: str) -> None:
    here, there = sent[0][name], sent[1][name]
    assert there["hash"] == here["hash"]
    assert there["spec"] == here["spec"]
    assert there["kind"] == here["kind"]
    assert there["elements"] == here["elements"]
    assert there["rest"] == here["elements"][1:]
    assert there["text"] == here["text"]  # with the lines of the notebook


def test_an_error_names_the_line_of_the_notebook_in_another_process(tmp_path: Path) -> None:
    def fails(x: Any) -> Any:
        if int(x) == 2:
            raise KeyError("label")
        return x

    ds = sw.Dataset.range(4).map(fails)
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        (tmp_path / "ds.pickle").write_bytes(cloudpickle.dumps(ds))
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    script = tmp_path / "other.py"
    script.write_text(
        textwrap.dedent(
            """
            import pickle, sys
            ds = pickle.loads(open("ds.pickle", "rb").read())
            try:
                list(ds)
            except KeyError as error:
                print(error.line, error.index, error.stage)
            """
        )
    )
    line, index, _ = _run(script, tmp_path, tmp_path).split()
    assert line.startswith(__file__)
    assert index == "2"


def again(value: Any) -> Any:
    """Through a pickle, in this process."""
    return pickle.loads(cloudpickle.dumps(value))


def test_nodes_that_datasets_share_are_shared_where_they_arrive() -> None:
    base = sw.Dataset.range(4).map(lambda x: (print(end=""), x)[1]).cache()
    left, right = again((base.map(lambda x: x + 1), base.batch(2)))
    assert left._node.inputs[0].hash == right._node.inputs[0].hash
    nodes = [_native.nodes_below(ds._node) for ds in (left, right)]
    assert [a is b for a, b in zip(*nodes, strict=True)] == [True, True, True, False]


def test_captured_values_of_a_traced_function_are_those_of_its_line() -> None:
    factor = np.float32(2)

    def scaled(x: Any) -> Any:
        return tf.cast(x, tf.float32) * factor

    ds = sw.Dataset.range(3).map(scaled)
    factor = np.float32(100)
    assert list(again(ds)) == list(ds) == [0, 2, 4]


def test_a_pipeline_of_a_thousand_stages_travels() -> None:
    ds = sw.Dataset.range(3)
    for _ in range(1000):
        ds = ds.take(5)
    assert [int(x) for x in again(ds)] == [0, 1, 2]


def test_copies_are_the_dataset_itself() -> None:
    ds = tf.data.Dataset.range(3)
    assert copy.copy(ds) is ds
    assert copy.deepcopy({"a": [ds]})["a"][0] is ds


def test_plain_pickle_takes_what_can_be_imported() -> None:
    ds = sw.Dataset.range(3).map(lambda x: x + 1).batch(2)  # traced: no function is left
    assert [x.tolist() for x in pickle.loads(pickle.dumps(ds))] == [[1, 2], [3]]


Point = namedtuple("Point", "x y")


def test_namedtuples_arrays_of_all_kinds_and_optionals_arrive_as_they_were() -> None:
    ds = sw.Dataset.from_tensors(
        Point(np.arange(6, dtype=np.int8).reshape(2, 3), {"s": b"\xff\x00", "b": True})
    )
    (arrived,) = again(ds)
    assert type(arrived).__name__ == "Point"
    assert arrived.x.dtype == np.int8
    assert arrived.y["s"] == b"\xff\x00"
    inner = again(sw.Dataset.from_tensors((sw.Dataset.range(2), sw.Optional.from_value(3))))
    (parts,) = inner
    assert [int(x) for x in parts[0]] == [0, 1]
    assert int(parts[1].get_value()) == 3


def test_a_dataset_that_a_form_made_travels_with_its_values() -> None:
    ds = sw.Dataset.range(2, 4).map(lambda n: sw.Dataset.range(n).map(lambda y: y * 10 + n))
    inner = list(ds)
    assert [[int(x) for x in again(each)] for each in inner] == [[2, 12], [3, 13, 23]]


def test_a_dataset_as_a_captured_value_travels_in_the_function() -> None:
    lookup = sw.Dataset.range(100, 103)

    def work(x: Any) -> Any:
        print(end="")
        return list(lookup)[int(x)]

    ds = sw.Dataset.range(3).map(work)
    assert [int(x) for x in again(ds)] == [100, 101, 102]
    assert [int(x) for x in sw.Dataset.range(3).map(work, isolate=True)] == [100, 101, 102]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (threading.Lock(), "_thread.lock"),
        (queue.Queue(), "queue.Queue"),
        ((i for i in "a"), "generator"),
    ],
)
def test_what_cannot_travel_is_named_with_its_stage_and_line(value: Any, kind: str) -> None:
    def work(x: Any) -> Any:
        print(end="")
        return x if value else None

    ds = sw.Dataset.range(3).map(work).batch(2)
    with pytest.raises(TypeError) as caught:
        cloudpickle.dumps(ds)
    text = str(caught.value)
    assert text.startswith(f"map, {__file__}:")
    assert "work cannot go to another process, because of `value`" in text
    assert kind in text
    assert [x.tolist() for x in ds] == [[0, 1], [2]]  # it is as good as before


def test_an_iterator_that_runs_cannot_travel() -> None:
    it = iter(sw.Dataset.range(3))
    with pytest.raises(TypeError):
        cloudpickle.dumps(it)
    ds = sw.Dataset.from_generator(iter([1, 2]))
    with pytest.raises(TypeError, match=r"from_generator, .*running iterator cannot travel"):
        cloudpickle.dumps(ds)


def test_an_argument_of_a_generator_that_cannot_travel_is_named() -> None:
    ds = sw.Dataset.from_generator(lambda q: iter([1]), args=(queue.Queue(),))
    with pytest.raises(
        TypeError, match=r"from_generator, .*an argument cannot go to another.*Queue"
    ):
        cloudpickle.dumps(ds)


def test_constants_of_sets_hash_alike_whatever_the_order_of_the_set(tmp_path: Path) -> None:
    script = tmp_path / "hash.py"
    script.write_text(
        "import spillway as sw\n"
        "ds = sw.Dataset.range(3).map(lambda x: str(int(x)) in {'a', 'b', 'c', 'd', 'e'})\n"
        "print(ds.spec_hash())\n"
    )
    hashes = set()
    for seed in ("1", "2", "3"):
        done = subprocess.run(
            [sys.executable, str(script)],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            timeout=500,
            check=True,
        )
        hashes.add(done.stdout)
    assert len(hashes) == 1
