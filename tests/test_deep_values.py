"""Values that contain themselves, or are very deep, wherever a value may be given: no crash."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Each in a process of its own: what is tested is that the process lives.
HEAD = """
import numpy as np
import spillway as sw, spillway.tf as tf

def nested(wrap, depth=10_000):
    value = 1
    for _ in range(depth):
        value = wrap(value)
    return value

def in_itself(kind):
    if kind == "list":
        made = [1]
        made.append(made)
    elif kind == "twice":
        made = []
        made += [made, made]
    elif kind == "dict":
        made = {"b": 1}
        made["a"] = made
    elif kind == "array":
        made = np.empty(2, object)
        made[0] = made[1] = made
    else:
        inner = []
        made = (inner, 1)
        inner.append(made)
    return made

VALUES = {
    "deep list": nested(lambda x: [x]), "deep tuple": nested(lambda x: (x,)),
    "deep dict": nested(lambda x: {"a": x}), "deep mix": nested(lambda x: ({"a": [x]},)),
    "list in itself": in_itself("list"), "list twice in itself": in_itself("twice"),
    "dict in itself": in_itself("dict"), "array in itself": in_itself("array"),
    "tuple in itself": in_itself("tuple"),
}
ds = sw.Dataset.range(3)
seen = []

def unseen(value):  # runs as Python: it is no function that can be traced
    seen.append(1)
    return value

def one(value):
    yield value

CALLS = {CALLS}
for name, value in VALUES.items():
    for what, call in CALLS.items():
        print(f"{name}, {what}", flush=True)
        try:
            found = call(value)
        except (TypeError, ValueError, sw.errors.SpillwayError) as error:
            print("  refused:", str(error)[:100], flush=True)
        else:
            print("  a value:", type(found).__name__, flush=True)
print("lives")
"""
GROUPS = {
    "results": """{
    "map": lambda v: list(ds.map(lambda x: unseen(v))),
    "map traced": lambda v: list(ds.map(lambda x: v)),
    "map with a signature": lambda v: list(
        ds.map(lambda x: unseen(v), output_signature=tf.TensorSpec(None, "int32"))),
    "filter": lambda v: list(ds.filter(lambda x: unseen(v))),
    "flat_map": lambda v: list(ds.flat_map(lambda x: unseen(v))),
    "generator": lambda v: list(sw.Dataset.from_generator(one, args=(v,))),
    "generator with a signature": lambda v: list(sw.Dataset.from_generator(
        lambda: one(v), output_signature=tf.TensorSpec(None, "int32"))),
    "reduce": lambda v: ds.reduce(np.int64(0), lambda s, x: unseen(v)),
    "bucket": lambda v: list(ds.bucket_by_sequence_length(lambda x: unseen(v), [1], [1, 1])),
    "numpy_function": lambda v: tf.numpy_function(lambda: v, [], tf.int32),
    "py_function": lambda v: tf.py_function(lambda: v, [], tf.int32),
    "cond": lambda v: tf.cond(tf.constant(True), lambda: v, lambda: v),
    "map_fn": lambda v: tf.map_fn(lambda x: v, tf.constant([1, 2])),
}""",
    "sources": """{
    "from_tensors": lambda v: list(sw.Dataset.from_tensors(v)),
    "from_tensor_slices": lambda v: list(sw.Dataset.from_tensor_slices(v)),
    "tf slices": lambda v: list(tf.data.Dataset.from_tensor_slices(v)),
    "from_list": lambda v: list(tf.data.experimental.from_list([v])),
    "output_signature": lambda v: sw.Dataset.from_generator(one, output_signature=v),
    "output_types": lambda v: tf.data.Dataset.from_generator(one, v),
    "output_shapes": lambda v: tf.data.Dataset.from_generator(one, tf.int32, v),
    "tf args": lambda v: list(tf.data.Dataset.from_generator(
        one, args=(v,), output_signature=tf.TensorSpec((), "int32"))),
    "zip": lambda v: tf.data.Dataset.zip(v),
    "padded_shapes": lambda v: list(ds.padded_batch(2, padded_shapes=v)),
    "padding_values": lambda v: list(ds.padded_batch(2, padding_values=v)),
    "initial state": lambda v: list(ds.scan(v, lambda s, x: (s, x))),
    "weights": lambda v: sw.Dataset.sample_from_datasets([ds, ds], v),
    "datasets": lambda v: sw.Dataset.sample_from_datasets(v),
    "files": lambda v: tf.data.TextLineDataset(v),
    "csv defaults": lambda v: sw.Dataset.csv_rows("a.csv", v),
}""",
    "ops": """{
    "constant": lambda v: tf.constant(v),
    "captured": lambda v: list(ds.map(lambda x: tf.constant(v))),
    "add": lambda v: tf.constant(1) + v,
    "index": lambda v: tf.constant([1])[v],
    "zeros": lambda v: tf.zeros(v),
    "flatten": lambda v: tf.nest.flatten(v),
    "map_structure": lambda v: tf.nest.map_structure(lambda x: x, v),
    "assert_same_structure": lambda v: tf.nest.assert_same_structure(v, v),
    "pack_sequence_as": lambda v: tf.nest.pack_sequence_as(v, [1]),
    "while_loop": lambda v: tf.while_loop(lambda *a: False, lambda *a: a, [v]),
    "variable": lambda v: tf.Variable(v),
    "pad_to_bounding_box": lambda v: tf.image.pad_to_bounding_box(tf.zeros([2, 2, 3]), 0, 0, v, 4),
    "random_hue": lambda v: tf.image.random_hue(tf.zeros([2, 2, 3]), v),
    "example": lambda v: tf.train.Feature(int64_list=tf.train.Int64List(value=v)),
}""",
    "workers": """{
    "map in a worker": lambda v: list(ds.map(lambda x: unseen(v), isolate=True)),
    "generator in a worker": lambda v: list(
        sw.Dataset.from_generator(lambda: one(v), isolate=True)),
    "args of a worker": lambda v: list(sw.Dataset.from_generator(one, args=(v,), isolate=True)),
    "guarded": lambda v: sw.guarded(lambda: v)(),
    "argument of guarded": lambda v: sw.guarded(lambda x: 1)(v),
    "sandbox": lambda v: sw.guarded(lambda: v, sandbox=True)(),
    "argument in a sandbox": lambda v: sw.guarded(lambda x: 1, sandbox=True)(v),
}""",
}


def run(calls: str) -> str:
    program = HEAD.replace("{CALLS}", calls)
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", program],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    ended = done.stdout.strip().splitlines()[-1:]
    if done.returncode == 0 and ended == ["lives"]:
        return ""
    return f"exit {done.returncode} after {ended}\n{done.stderr[-3000:]}"


@pytest.mark.parametrize("group", GROUPS)
def test_a_value_without_a_floor_is_refused_or_kept_and_never_ends_the_process(group: str) -> None:
    assert run(GROUPS[group]) == ""
