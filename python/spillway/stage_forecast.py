"""What each stage of a pipeline will hold: the rules of the engine's buffers, in numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from spillway import _native
from spillway._native import format_bytes
from spillway.element_sizes import Size, sizes_of
from spillway.forecast import Forecast, StageForecast
from spillway.stages import PipelineStage, stages_of

if TYPE_CHECKING:
    from spillway.dataset import Dataset

MIB = 1 << 20
_CHUNK = 256 * 1024  # rows travel together up to so much
_BLOCK = 64 * MIB  # of a generator's rows; one is filled while another is read
_BLOCK_ROWS = 1024
_PREFETCH_BYTES = 64 * MIB
_PREFETCH_ROWS = 512
_MOST_CALLS = 64
_ROW = 32  # beside each row that is kept: place, length, origin
# Of a pass that is no element: notes for checkpoints, reports; of each stage pages of rows, lists
# of what it keeps, rows under way.
_PASS = 64 * 1024
_STAGE = 16 * 1024
_SPILLS = "goes to disk"
_FEWER = "fewer at a time"


def forecast_dataset(dataset: Dataset) -> Forecast:
    """`Dataset.forecast`."""
    stages = stages_of(dataset._node)
    sizes = sizes_of(stages)
    made = [_stage(stage, sizes[stage.number], sizes) for stage in stages]
    ledger = _native.ledger()
    idle = sum(row["held"] for row in ledger["rows"] if row["name"] == "idle slabs")
    limit, held = ledger["effective"], max(0, ledger["used"] - idle)
    total = sum(each.bytes or 0 for each in made)
    floors = sum(each.guaranteed for each in made) + _beside(stages, sizes)
    others = sum(row["floor"] for row in ledger["rows"])
    room = limit - held
    firm = sum(_firm(each) for each in made)
    if floors + others > limit:
        outcome, fits = "refused", False
    elif firm > room:
        outcome, fits = "spills", False
    elif total > room:
        outcome, fits = "shrinks", True
    elif any(each.bytes is None for each in made):
        outcome, fits = "unknown", None
    else:
        outcome, fits = "fits", True
    kept = others if outcome == "refused" else held
    help_ = _suggest(stages, sizes, made, limit - kept, kept, outcome) if fits is False else []
    least = floors + _beside_elements(stages, sizes)
    floor = None if any(size.bytes is None for size in sizes) else least
    return Forecast(total, limit, fits, made, held, outcome, help_, floor=floor)


def _firm(told: StageForecast) -> int:
    """What a stage will hold however little room there is: look-ahead only takes what is left."""
    return told.guaranteed if told.short == _FEWER else told.bytes or 0


def _beside(stages: list[PipelineStage], sizes: list[Size]) -> int:
    """What must fit beside the guarantees: a generator makes the next row while one waits."""
    return sum(sizes[s.number].bytes or 0 for s in stages if s.op == "from_generator")


def _beside_elements(stages: list[PipelineStage], sizes: list[Size]) -> int:
    """The element in the user's hand, and what a pass holds that is no element."""
    return floor_of(sizes[-1].bytes or 0) + _PASS + _STAGE * len(stages)


def floor_of(size: int) -> int:
    """What the engine guarantees a stage for one element of `size`: `Run::reserve_floors`."""
    return size + size // 8 + 4096


def _stage(stage: PipelineStage, size: Size, sizes: list[Size]) -> StageForecast:
    below = sizes[stage.inputs[0]] if stage.inputs else Size(0)
    rule = _RULES.get(stage.op, _one_at_a_time)
    held, what, short = rule(stage, size, below)
    floor = 0
    if not stage.node.passes_rows and size.bytes:
        floor = floor_of(size.bytes)
    if held is None:
        what = f"not known: {size.why or below.why}" if size.why or below.why else what
    else:
        held = max(held, floor)
    return StageForecast(stage.name, held, floor, what, short, stage.node.line)


# A rule gives bytes (None: not known), what they are, and what happens when there is no room.
Told = tuple[int | None, str, str]


def _count(stage: PipelineStage, wanted: int | None) -> int | None:
    """Rows of a buffer of `wanted` (None: all), never more than its input has; None: no bound."""
    inputs = stage.node.inputs
    there = inputs[0].cardinality if inputs else stage.node.cardinality
    known = there if there >= 0 else None
    if wanted is None:
        return known
    return wanted if known is None else min(wanted, known)


def _one_at_a_time(stage: PipelineStage, size: Size, below: Size) -> Told:
    if stage.node.passes_rows:
        return 0, "hands rows on", ""
    if size.bytes is None:
        return None, "one element", ""
    if size.bytes >= _CHUNK:
        one = f"a batch of {size.lead:,}" if size.lead and stage.op == "batch" else "one element"
        return size.bytes, one, ""
    rows = stage.node.cardinality
    most = _CHUNK if rows < 0 else min(_CHUNK, rows * size.bytes)
    return max(size.bytes, most), "elements of about a millisecond", "one at a time"


def _generator(stage: PipelineStage, size: Size, below: Size) -> Told:
    if size.bytes is None or stage.node.param("read_ahead") == 0:
        return size.bytes, "one element", ""
    rows = stage.node.cardinality
    block = min(_BLOCK, _BLOCK_ROWS * size.bytes)
    most = 2 * block if rows < 0 else min(2 * block, rows * size.bytes)
    return max(size.bytes, most), f"reads ahead, up to {format_bytes(most)}", _FEWER


def _shuffle(stage: PipelineStage, size: Size, below: Size) -> Told:
    wanted = stage.param("buffer_size", 1)
    rows = _count(stage, None if wanted < 0 else wanted)
    if rows is None:
        return None, "all elements", _SPILLS
    source = stage.node.inputs[0]
    if source.pure and source.cardinality >= 0 and _has_index(source):
        return rows * 4, f"the places of {rows:,} elements: they are made when drawn", _SPILLS
    if below.bytes is None:
        return None, f"{rows:,} elements", _SPILLS
    return rows * (below.bytes + _ROW), f"{rows:,} elements", _SPILLS


def _has_index(node: Any) -> bool:
    nodes = _native.nodes_below(node)
    return all(each.has_index and each.op != "repeat" for each in nodes)


def _prefetch(stage: PipelineStage, size: Size, below: Size) -> Told:
    wanted = stage.param("buffer_size", -1)
    if wanted == 0:
        return 0, "nothing: buffer_size=0", ""
    rows = _count(stage, _PREFETCH_ROWS if wanted < 0 else wanted) or 1
    up_to = "up to " if wanted < 0 else ""
    if below.bytes is None:
        return None, f"{up_to}{rows:,} elements", _FEWER
    most = min(rows * below.bytes, _PREFETCH_BYTES + below.bytes)
    fitting = max(1, most // max(below.bytes, 1))
    return most, f"{up_to}{min(rows, fitting):,} elements", _FEWER


def _map(stage: PipelineStage, size: Size, below: Size) -> Told:
    calls = stage.param("num_parallel_calls", 0)
    if calls in (0, 1) or stage.node.sequential_map:
        return _one_at_a_time(stage, size, below)
    count = _count(stage, _MOST_CALLS if calls < 0 else calls) or 1
    up_to = "up to " if calls < 0 else ""
    if size.bytes is None or below.bytes is None:
        return None, f"{up_to}{count:,} calls", _FEWER
    return count * (size.bytes + below.bytes), f"{up_to}{count:,} calls, each with input", _FEWER


def _cache(stage: PipelineStage, size: Size, below: Size) -> Told:
    if stage.node.param("filename"):
        return _one_at_a_time(stage, size, below)
    rows = _count(stage, None)
    short = "dropped, and made again" if stage.node.inputs[0].repeatable else _SPILLS
    if rows is None or below.bytes is None:
        return None, "all elements", short
    return rows * (below.bytes + _ROW), f"all {rows:,} elements", short


def _window(stage: PipelineStage, size: Size, below: Size) -> Told:
    rows = _count(stage, stage.param("size", 1)) or 1
    if below.bytes is None:
        return None, f"{rows:,} elements", _SPILLS
    return rows * (below.bytes + _ROW), f"{rows:,} elements", _SPILLS


def _groups(stage: PipelineStage, size: Size, below: Size) -> Told:
    return None, "not known: how many keys there are is known at the end", _SPILLS


def _unique(stage: PipelineStage, size: Size, below: Size) -> Told:
    rows = _count(stage, None)
    if rows is None:
        return None, "16 bytes for each different element", _SPILLS
    return rows * 16, f"16 bytes for each of {rows:,} elements", _SPILLS


def _interleave(stage: PipelineStage, size: Size, below: Size) -> Told:
    cycle = max(1, stage.param("cycle_length", 1))
    if size.bytes is None:
        return None, f"{cycle:,} datasets, one element each", _FEWER
    return cycle * size.bytes, f"{cycle:,} datasets, one element each", _FEWER


_RULES: dict[str, Callable[[PipelineStage, Size, Size], Told]] = {
    "from_generator": _generator,
    "shuffle": _shuffle,
    "prefetch": _prefetch,
    "map": _map,
    "cache": _cache,
    "window": _window,
    "group_by_window": _groups,
    "unique": _unique,
    "interleave": _interleave,
}


def _suggest(
    stages: list[PipelineStage],
    sizes: list[Size],
    made: list[StageForecast],
    room: int,
    kept: int,
    outcome: str,
) -> list[str]:
    """What would fit: the sizes of batches and buffers, or of the limit. `kept`: by others."""
    found = _smaller_batches(stages, sizes, made, room) if outcome == "refused" else []
    if outcome == "spills":
        for stage, told in zip(stages, made, strict=True):
            found += _smaller_buffer(stage, told, made, room)
    wanted = sum(each.guaranteed if outcome == "refused" else _firm(each) for each in made)
    wanted += _beside(stages, sizes) + kept
    whole = -(-wanted * 17 // 16 // MIB)  # what is held beside it is not known to the byte
    found.append(f'sw.configure(memory_limit="{whole}MiB")')
    return found


def _smaller_batches(
    stages: list[PipelineStage], sizes: list[Size], made: list[StageForecast], room: int
) -> list[str]:
    """The largest batch with which one element of every stage fits."""
    batches = [stage for stage in stages if stage.op in ("batch", "padded_batch")]
    if len(batches) != 1:
        return []
    batch = batches[0]
    count = stage_count = batch.param("batch_size", 1)
    after = {n for n in range(batch.number, len(stages)) if _comes_after(stages, n, batch.number)}
    fixed = sum(each.guaranteed for n, each in enumerate(made) if n not in after)
    fixed += _beside(stages, sizes)
    while count > 1:
        scaled = sum(
            floor_of(-(-(sizes[n].bytes or 0) * count // stage_count))
            for n in after
            if made[n].guaranteed
        )
        if fixed + scaled <= room:
            break
        # Straight to about the right size, then one by one.
        count = min(count - 1, max(1, int(count * (room - fixed) / max(scaled, 1))))
    scaled_one = sum(made[n].guaranteed for n in after)
    if count < 1 or fixed >= room or scaled_one == 0:
        return []
    return [f"{batch.op}({count:,}) instead of {stage_count:,}, {batch.node.line}"]


def _comes_after(stages: list[PipelineStage], number: int, batch: int) -> bool:
    left, seen = [number], set()
    while left:
        at = left.pop()
        if at == batch:
            return True
        if at > batch and at not in seen:
            seen.add(at)
            left.extend(stages[at].inputs)
    return False


def _smaller_buffer(
    stage: PipelineStage, told: StageForecast, made: list[StageForecast], room: int
) -> list[str]:
    if stage.op != "shuffle" or not told.bytes:
        return []
    rest = sum(_firm(each) for each in made) - told.bytes
    wanted = _count(stage, stage.param("buffer_size", 1)) or 1
    each = max(1, told.bytes // wanted)
    rows = (room - rest) // each
    if rows < 1 or rows >= wanted:
        return []
    return [
        f"shuffle({rows:,}) instead of {wanted:,} holds {format_bytes(rows * each)} in memory, "
        f"{stage.node.line}"
    ]
