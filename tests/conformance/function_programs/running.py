"""A program of functions as a pipeline of either engine."""

from __future__ import annotations

from typing import Any

from ..ops.packing import unpack
from ..ops.running import Data, Engine


def pipeline(engine: Engine, program: Data) -> Any:
    tf = engine.tf
    tensors = [tf.constant(unpack(data), dtype=getattr(tf, data[0])) for data in program["data"]]
    given: Any = tensors[0]
    if program["form"] == "tuple":
        given = tuple(tensors)
    elif program["form"] == "dict":
        given = dict(zip(program["names"], tensors, strict=True))
    ds = tf.data.Dataset.from_tensor_slices(given)
    if program["batch"]:
        ds = ds.batch(program["batch"])
    return getattr(ds, program["use"])(engine.function(program["source"]))


def outcome(engine: Engine, program: Data, plain: Any = lambda ds: ds) -> tuple[Data, Any]:
    """What it gives, or how it is refused; and the pipeline."""
    try:
        ds = plain(pipeline(engine, program))
        made: Data = {"spec": engine.spec(ds), "cardinality": int(ds.cardinality())}
    except Exception as error:
        return {"refused": engine.failed(error)}, None
    made["events"] = list(engine.events(ds))
    return made, ds
