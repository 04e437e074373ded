"""Runs one hostile call with either engine's `tf` and says how it ended."""

from __future__ import annotations

import importlib
import itertools
import os
import sys
import tarfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tests.conformance.ops.packing import unpack

from .values import Boom, make

Data = dict[str, Any]
_MOST = 12  # elements of a dataset that are looked at
_SHOWN = 600


def look(value: Any, depth: int = 0) -> str:
    """Everything computed, and told shortly."""
    if isinstance(value, (list, tuple)) and depth < 4:
        inside = ", ".join(look(item, depth + 1) for item in value[:4])
        return f"{type(value).__name__}({inside})"
    if hasattr(value, "numpy") and hasattr(value, "shape"):
        found = np.asarray(value.numpy())
        items = found.reshape(-1)[:4].tolist() if found.size else []
        return f"{found.dtype}{found.shape}{items}"[:200]
    return type(value).__name__


def ended(error: BaseException) -> Data:
    """An error as facts."""
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "end": "error",
        "boom": isinstance(error, Boom) or isinstance(error.__cause__, Boom),
        "classes": [cls.__name__ for cls in type(error).__mro__],
        "message": _text(error)[:_SHOWN],
        "line": str(getattr(error, "line", "") or ""),
        "stage": str(getattr(error, "stage", "") or ""),
        "file": str(getattr(error, "file", "") or ""),
        "kind": str(getattr(error, "kind", "") or ""),
        "where": f"{frames[-1].filename}:{frames[-1].lineno}" if frames else "",
    }


def _text(error: BaseException) -> str:
    try:
        return getattr(error, "message", None) or str(error)
    except Exception as again:
        return f"its text raises {type(again).__name__}"


def op(tf: Any, program: Data) -> Data:
    """Calls a function of tensors at once."""
    given = []
    for data in program["operands"]:
        given.append(tf.constant(unpack(data)[0], dtype=getattr(tf, data[0])))
    space: Data = {"tf": tf, "np": np, "H": make(program["value"], tf)}
    function = eval(compile(program["source"], "<hostile>", "eval"), space)
    return _run(lambda: look(function(*given)))


def dataset(tf: Any, program: Data) -> Data:
    """Builds what a method gives, and looks at some of its elements."""
    ours = tf.__name__.startswith("spillway")
    front = sys.modules["spillway"] if program["path"].startswith("sw.") else tf.data
    kind = front.Dataset
    rows = kind.range(5).map(lambda x: tf.fill([x], x))
    space: Data = {
        "tf": tf,
        "np": np,
        "tde": tf.data.experimental,
        "DS": kind,
        "ds": kind.range(5),
        "rows": rows,
    }
    space |= {
        "sw": sys.modules.get("spillway"),
        "numbers": _numbers,
        "H": make(program["value"], tf),
    }
    if "pairs" in program["source"]:
        space["pairs"] = kind.from_tensor_slices({"a": [1, 2], "b": [1.0, 2.0]})
    if ours and not os.path.exists("a.npy"):
        files()
    if "table" in program["source"]:
        pyarrow = importlib.import_module("pyarrow")
        space["table"] = pyarrow.table({"a": [1, 2], "b": [1.0, 2.0]})
    call = compile(program["source"], "<hostile>", "eval")
    return _run(lambda: _elements(eval(call, space)))


def _numbers() -> Iterator[int]:
    yield from range(5)


def _elements(made: Any) -> str:
    if isinstance(made, (str, bytes, dict, list, tuple)) or not hasattr(made, "element_spec"):
        return look(made)
    return f"{look(list(itertools.islice(made, _MOST)))} {made.element_spec}"[:_SHOWN]


def files() -> None:
    """Small files of every kind, in the current folder."""
    import spillway.tf as tf

    pyarrow = importlib.import_module("pyarrow")
    importlib.import_module("pyarrow.parquet")

    np.save("a.npy", np.arange(6).reshape(3, 2))
    np.savez("a.npz", a=np.arange(3))
    Path("a.text").write_text("one\ntwo\n")
    Path("a.csv").write_text("a,b\n1,2\n3,4\n")
    pyarrow.parquet.write_table(pyarrow.table({"a": [1, 2]}), "a.parquet")
    with tf.io.TFRecordWriter("a.record") as file:
        file.write(b"one")
    with tarfile.open("a.tar", "w") as tar:
        tar.add("a.text")
    tf.data.Dataset.range(3).save("saved")


def _run(call: Any) -> Data:
    try:
        return {"end": "value", "shown": call()}
    except Exception as error:
        return ended(error)
