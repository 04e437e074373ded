"""How large the elements of each stage will be, from what is declared; nothing is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spillway.stages import PipelineStage

_GATHER = ("batch", "padded_batch", "rebatch")


@dataclass(frozen=True)
class Size:
    """Of one element. `bytes` None: not known before one is there, because of `why`.

    `lead`: what stands for a first dimension that the spec leaves open (a last batch may be
    smaller). `declared`: the engine knows it too, and reserves it when the pass opens.
    """

    bytes: int | None
    lead: int | None = None
    declared: bool = False
    why: str = ""


def sizes_of(stages: list[PipelineStage]) -> list[Size]:
    """One for each stage.

    >>> import spillway as sw
    >>> from spillway.stages import stages_of
    >>> ds = sw.Dataset.range(100).batch(10).map(lambda x: x * 2)
    >>> [size.bytes for size in sizes_of(stages_of(ds._node))]
    [8, 80, 80]
    """
    found: list[Size] = []
    for stage in stages:
        found.append(_size(stage, [found[i] for i in stage.inputs]))
    return found


def _size(stage: PipelineStage, inputs: list[Size]) -> Size:
    node = stage.node
    first = inputs[0] if inputs else Size(None)
    if node.static_bytes >= 0:
        return Size(node.static_bytes, None, True)
    if stage.op in _GATHER:
        count = _batch_size(stage)
        if count is None or first.bytes is None or stage.op != "batch":
            return _open(stage, count)
        return Size(count * first.bytes, count)
    if _same_elements(stage):
        return first if first.bytes is not None else _open(stage, first.lead)
    return _open(stage, first.lead)


def _same_elements(stage: PipelineStage) -> bool:
    unchanged = ("shuffle", "cache", "filter", "snapshot")
    passes = stage.node.passes_rows and stage.op not in ("zip", "unbatch")
    return (passes or stage.op in unchanged) and bool(stage.inputs)


def _batch_size(stage: PipelineStage) -> int | None:
    value = stage.node.param("batch_size")
    return value if isinstance(value, int) and value > 0 else None


def _open(stage: PipelineStage, lead: int | None) -> Size:
    """By the spec, with `lead` for first dimensions that it leaves open."""
    structure = stage.node.structure
    if structure is None:
        return Size(
            None, lead, why="its function tells with the first element; or output_signature="
        )
    total = 0
    for leaf in structure.leaves():
        count = _leaf_bytes(leaf, lead)
        if count is None:
            return Size(None, lead, why=_why(leaf))
        total += count
    return Size(total, lead)


def _leaf_bytes(leaf: Any, lead: int | None) -> int | None:
    from spillway.dtypes import as_dtype

    if leaf.kind != "tensor" or leaf.dtype == "string" or leaf.shape is None:
        return None
    dims = list(leaf.shape)
    if dims and dims[0] is None and lead is not None:
        dims[0] = lead
    if any(dim is None for dim in dims):
        return None
    count = as_dtype(leaf.dtype).size
    for dim in dims:
        count *= dim
    return int(count)


def _why(leaf: Any) -> str:
    if leaf.kind != "tensor":
        return "its elements hold datasets or Optionals"
    if leaf.dtype == "string":
        return "strings have any length"
    shape = "any shape" if leaf.shape is None else f"shape {_shape(leaf.shape)}"
    return f"its elements have {shape}"


def _shape(dims: Any) -> str:
    return "(" + ", ".join("?" if dim is None else str(dim) for dim in dims) + ")"
