"""Programs written by hand, each for one rule that is easy to get wrong."""

from __future__ import annotations

from typing import Any

Program = dict[str, Any]
Step = dict[str, Any]


def raises(kind: str = "ValueError", mod: int = 4, at: tuple[int, ...] = (1,)) -> dict[str, Any]:
    return {"mod": mod, "at": list(at), "kind": kind}


def fn(name: str, *, rule: dict[str, Any] | None = None, **parameters: Any) -> dict[str, Any]:
    return {"fn": name, **parameters, **({"raise": rule} if rule else {})}


def mapped(name: str, parallel: int | None = None, **parameters: Any) -> Step:
    return {"op": "map", "fn": fn(name, **parameters), "parallel": parallel}


def varied(shape: str) -> Step:
    described = {"fn": "vary", "as": shape, "m": 4, "dtype": "int64"}
    return {"op": "map", "fn": described, "parallel": None}


def wrapped(structure: str) -> Step:
    return {"op": "map", "fn": {"fn": "wrap", "in": structure}, "parallel": None}


def step(op: str, **parameters: Any) -> Step:
    return {"op": op, **parameters}


def source_of(op: str, **parameters: Any) -> dict[str, Any]:
    return {"source": {"op": op, **parameters}}


def program(
    *steps: Step,
    n: int = 8,
    source: dict[str, Any] | None = None,
    epochs: tuple[int | None, ...] = (None, None),
    **more: Any,
) -> Program:
    start = {"op": "range", "args": [n], "dtype": None} if source is None else source["source"]
    return {"source": start, "steps": list(steps), "epochs": list(epochs), **more}


def batch(size: int, drop: bool = False, parallel: int | None = None) -> Step:
    return step("batch", size=size, drop_remainder=drop, parallel=parallel)


def padded(size: int, shapes: Any = None, values: Any = None) -> Step:
    return step("padded_batch", size=size, shapes=shapes, values=values, drop_remainder=False)


def window(size: int, shift: int | None = None, stride: int = 1, drop: bool = False) -> Step:
    return step("window", size=size, shift=shift, stride=stride, drop_remainder=drop)


def shuffle(buffer: int, seed: int = 5, reshuffle: bool | None = None) -> Step:
    return step("shuffle", buffer=buffer, seed=seed, reshuffle=reshuffle)


def ranges(m: int, *steps: Step, rule: dict[str, Any] | None = None) -> Step:
    return {"make": "range", "fn": fn("key", m=m, rule=rule), "steps": list(steps)}


def interleave(body: Step, cycle: int, block: int, parallel: int | None = None) -> Step:
    return step("interleave", body=body, cycle=cycle, block=block, parallel=parallel)


def groups(
    m: int, *steps: Step, size: int | None = 2, size_fn: Any = None, rule: Any = None
) -> Step:
    key = fn("key", m=m, rule=rule)
    return step("group_by_window", key=key, steps=list(steps), size=size, size_fn=size_fn)


def buckets(boundaries: list[int], sizes: list[int], **changes: bool) -> Step:
    flags = {"pad_to_boundary": False, "no_padding": False, "drop_remainder": False, **changes}
    return step(
        "bucket_by_sequence_length",
        length=fn("length"),
        boundaries=boundaries,
        sizes=sizes,
        **flags,
    )


def rebatch(sizes: Any, drop: bool = False) -> Step:
    return step("rebatch", sizes=sizes, drop_remainder=drop)


def choose(inputs: list[Program], picks: list[int], stop: bool, *steps: Step) -> dict[str, Any]:
    values = source_of("from_tensor_slices", value=["int64", [len(picks)], picks])
    choice = program(*steps, source=values)
    return source_of("choose_from_datasets", inputs=inputs, choice=choice, stop=stop)


def sample(
    inputs: list[Program], weights: Any = None, stop: bool = False, again: Any = None
) -> Any:
    return source_of(
        "sample_from_datasets",
        inputs=inputs,
        weights=weights,
        seed=3,
        stop=stop,
        rerandomize=again,
    )


def generator(signature: Any, *items: Any) -> dict[str, Any]:
    return source_of("from_generator", signature=signature, items=list(items))


def raw(data: Any) -> dict[str, Any]:
    return {"raw": data}


def joined(*inputs: Program) -> dict[str, Any]:
    return source_of("zip", inputs={"tuple": list(inputs)}, spread=False)


BAD = mapped("identity", rule=raises())
ALL_BAD = mapped("identity", rule=raises(mod=1, at=(0,)))
VARY = varied("vector")
RANKS = varied("rank")
REJOIN: Step = {"make": "windows", "steps": []}
REJOIN_BATCH: Step = {"make": "windows", "steps": [batch(3)]}
SUM: Any = ["int64", [], [0]]


def predicate(kind: str, op: str) -> Step:
    return step(op, fn=fn("mod_in", m=7, keep=[0, 2, 3, 4, 6], rule=raises(kind)))


EDGES: dict[str, Program] = {
    "take does not count errors": program(BAD, step("take", count=3)),
    "take of a negative count takes all": program(step("take", count=-1)),
    "skip begins again after an error": program(BAD, step("skip", count=3)),
    "skip of a negative count skips all": program(step("skip", count=-1)),
    "skip of all of an infinite input": program(
        step("repeat", count=None), step("skip", count=-1), n=3
    ),
    "shard begins its skip again after an error": program(BAD, step("shard", n=3, index=0)),
    "shard does not count errors": program(BAD, step("shard", n=3, index=1)),
    "enumerate counts errors": program(BAD, step("enumerate", start=0)),
    "repeat repeats errors": program(BAD, step("repeat", count=2), n=3),
    "repeat for ever repeats errors": program(BAD, step("repeat", count=-1), n=2, epochs=(9,)),
    "repeat for ever ends after an epoch of errors": program(
        ALL_BAD, step("repeat", count=None), n=2, epochs=(9,)
    ),
    "repeat for ever of nothing ends": program(step("repeat", count=None), n=0),
    "repeat zero times": program(step("repeat", count=0)),
    "batch drops what it holds at an error": program(BAD, batch(3)),
    "batch that drops the remainder at an error": program(BAD, batch(3, drop=True)),
    "a parallel batch drops what it holds at an error": program(BAD, batch(3, parallel=2)),
    "padded_batch drops what it holds at an error": program(BAD, padded(3)),
    "batch of unequal shapes": program(VARY, batch(2)),
    "a parallel batch of unequal shapes": program(VARY, batch(2, parallel=2)),
    "batch of unequal ranks": program(RANKS, batch(3)),
    "padding to a fixed length that is too short": program(VARY, padded(2, [[2]])),
    "padding to another rank": program(RANKS, padded(2, [[-1]])),
    "padding with a value": program(VARY, padded(3, values=[["int64", [], [-7]]])),
    "shuffle gives an error at once": program(BAD, shuffle(3)),
    "shuffle of a large buffer gives errors first": program(BAD, shuffle(100)),
    "shuffle of unknown size": program(BAD, shuffle(-2)),
    "shuffle of errors only": program(ALL_BAD, shuffle(3), n=4),
    "shuffle each epoch anew": program(shuffle(10, reshuffle=True), step("repeat", count=3)),
    "shuffle each epoch alike": program(shuffle(10, reshuffle=False), step("repeat", count=3)),
    "repeat once draws a seed more": program(
        shuffle(10), step("repeat", count=1), n=6, epochs=(None, None, None)
    ),
    "a repeat that is cut short draws none more": program(
        shuffle(10), step("repeat", count=2), step("take", count=12), n=6
    ),
    "a repeat of a repeat": program(
        shuffle(10), step("repeat", count=2), step("repeat", count=2), n=4
    ),
    "an iterator that is not read draws a seed": program(shuffle(10), n=6, epochs=(0, None)),
    "two shuffles": program(shuffle(3, 1), shuffle(4, 2), step("repeat", count=2)),
    "a shuffle of a repeat": program(step("repeat", count=2), shuffle(4, 42)),
    "seeds are taken modulo a prime": program(shuffle(10, 2**31 - 1), shuffle(10, -5)),
    "concatenate after errors": program(BAD, step("concatenate"), n=3),
    "cache forgets errors": program(BAD, step("cache"), n=4, epochs=(None, None, None)),
    "cache is complete when the known size is read": program(
        shuffle(9), step("cache"), n=4, epochs=(4, None, None)
    ),
    "cache is dropped when not read to the end": program(
        shuffle(9), step("cache"), n=4, epochs=(2, None, None)
    ),
    "cache below take is never complete": program(
        shuffle(9), step("cache"), step("take", count=3), n=6, epochs=(None, None, None)
    ),
    "cache below repeat": program(shuffle(9), step("cache"), step("repeat", count=2), n=4),
    "a window with an error in it is an error": program(BAD, window(2)),
    "windows that share an error": program(BAD, window(2, 1), step("flat_map", body=REJOIN), n=5),
    "windows that step over errors": program(
        BAD, window(3, 2, 2), step("flat_map", body=REJOIN_BATCH)
    ),
    "windows with gaps": program(
        BAD, window(2, 3, 1, drop=True), step("flat_map", body=REJOIN_BATCH)
    ),
    "windows with gaps to the end": program(window(2, 4), step("flat_map", body=REJOIN_BATCH), n=6),
    "windows that shrink": program(window(2, 1, 3), step("flat_map", body=REJOIN_BATCH), n=5),
    "windows of pairs": program(
        wrapped("tuple"), window(3, 2), step("flat_map", body=REJOIN_BATCH)
    ),
    "windows of dicts as elements": program(wrapped("dict"), window(3), n=4),
    "unbatch after errors": program(BAD, mapped("stack", n=2), step("unbatch")),
    "unbatch of no rows": program(mapped("stack", n=0), step("unbatch"), n=2),
    "unbatch of scalars of unknown rank": program(RANKS, step("unbatch"), n=6),
    "rebatch keeps rows over an error": program(
        mapped("stack", n=3, rule=raises()), rebatch(2), n=4
    ),
    "rebatch in turns": program(batch(3), rebatch([1, 0, 2])),
    "rebatch ends after an empty batch": program(batch(3), rebatch([2, 0]), n=4),
    "rebatch with an empty batch first": program(batch(3), rebatch([0, 2], drop=True), n=5),
    "rebatch to a static size": program(batch(3, drop=True), rebatch(4, drop=True), n=9),
    "scan keeps its state over an error in its input": program(
        BAD, step("scan", initial=SUM, fn=fn("scan_sum", give="both"))
    ),
    "scan keeps its state over its own error": program(
        step("scan", initial=SUM, fn=fn("scan_sum", give="both", rule=raises()))
    ),
    "scan widens a growing state": program(
        step("scan", initial=["int64", [0], []], fn=fn("scan_grow")), n=4
    ),
    "reduce ends at the first error": program(BAD, reduce={"initial": SUM, "fn": fn("reduce_sum")}),
    "take_while goes on after an error": program(BAD, predicate("ValueError", "take_while")),
    "flat_map goes on after an error in its input": program(
        BAD, step("flat_map", body=ranges(3)), n=6
    ),
    "flat_map goes on after an error in its function": program(
        step("flat_map", body=ranges(3, rule=raises())), n=6
    ),
    "flat_map goes on after an error in a dataset": program(
        step("flat_map", body=ranges(4, mapped("identity", rule=raises(mod=3)))), n=6
    ),
    "flat_map to a dataset that cannot be made": program(
        step("flat_map", body=ranges(4, batch(0))), n=4
    ),
    "unique after errors": program(BAD, mapped("key", m=3), step("unique")),
    "group_by_window after an error in its input": program(BAD, groups(2, batch(2))),
    "group_by_window goes on after an error in its key": program(
        groups(2, batch(2), rule=raises())
    ),
    "group_by_window of size zero fails for each element": program(groups(2, size=0), n=4),
    "group_by_window of size zero for one key": program(
        groups(3, batch(2), size=None, size_fn=fn("key", m=3)), n=9
    ),
    "group_by_window asks again for a size that failed": program(
        groups(3, batch(2), size=None, size_fn=fn("key", m=9, rule=raises(mod=3))), n=9
    ),
    "group_by_window with an error in a group": program(groups(2, BAD, batch(4), size=3)),
    "group_by_window with errors between elements": program(groups(2, BAD, size=3)),
    "group_by_window that repeats its groups": program(groups(2, step("repeat", count=2), size=3)),
    "group_by_window to nothing": program(groups(2, step("take", count=0))),
    "buckets": program(VARY, buckets([2, 3], [2, 1, 1])),
    "buckets padded to their boundary": program(
        VARY, buckets([2, 5], [2, 2, 2], pad_to_boundary=True)
    ),
    "buckets without padding": program(VARY, buckets([2], [2, 2], no_padding=True)),
    "buckets that drop the remainder": program(
        VARY, buckets([2, 3], [2, 2, 2], drop_remainder=True)
    ),
    "ignore_errors over batch": program(BAD, batch(3), step("ignore_errors")),
    "ignore_errors over shuffle": program(BAD, shuffle(3), step("ignore_errors")),
    "zip advances all inputs at an error": program(
        source=joined(program(BAD), program(step("skip", count=1), BAD))
    ),
    "zip of one dataset object with itself": program(shuffle(9), step("zip"), n=5),
    "zip of one cache with itself": program(shuffle(9), step("cache"), step("zip"), n=4),
    "zip pulls later inputs when one has ended": program(
        source=joined(
            program(shuffle(9, 1), step("cache"), n=3), program(shuffle(9, 2), step("cache"), n=3)
        )
    ),
    "zip does not complete a longer cache": program(
        source=joined(
            program(shuffle(9, 1), step("cache"), n=3), program(shuffle(9, 2), step("cache"), n=5)
        )
    ),
    "concatenate of one dataset object with itself": program(shuffle(9), step("concatenate"), n=4),
    "concatenate of one cache with itself": program(
        shuffle(9), step("cache"), step("concatenate"), n=4
    ),
    "choose stops at an empty dataset": program(
        source=choose([program(n=2), program(step("skip", count=5))], [0, 0, 1, 0, 1, 1, 1], True)
    ),
    "choose skips an empty dataset": program(
        source=choose([program(n=2), program(step("skip", count=5))], [0, 0, 1, 0, 1, 1, 1], False)
    ),
    "choose goes on after an index out of range": program(
        source=choose([program(n=4), program(n=3)], [0, 2, 1, -1, 1, 0, 0], False)
    ),
    "choose goes on after an error in an input": program(
        source=choose([program(BAD), program(n=3)], [0, 0, 1, 0, 1, 0, 0], False)
    ),
    "choose goes on after an error in the choice": program(
        source=choose(
            [program(n=4), program(n=3)], [0, 0, 1, 0, 1], False, mapped("identity", rule=raises())
        )
    ),
    "sample of one dataset is that dataset": program(source=sample([program(BAD, n=4)], [0.3])),
    "sample by weights": program(source=sample([program(n=6), program(n=6)], [0.3, 0.7])),
    "sample alike until one is empty": program(
        source=sample([program(n=4), program(n=4)], stop=True)
    ),
    "sample leaves out what weighs nothing": program(
        source=sample([program(n=4), program(n=4), program(n=2)], [0.3, 0.0, 0.5])
    ),
    "sample anew each epoch": program(source=sample([program(n=4), program(n=4)], again=True)),
    "sample after errors": program(source=sample([program(BAD), program(n=4)])),
    "random numbers": program(
        step("take", count=4), source=source_of("random", seed=4, rerandomize=None)
    ),
    "random numbers anew each epoch": program(
        step("take", count=4), source=source_of("random", seed=-5, rerandomize=True)
    ),
    "list_files sorts and keeps duplicates": program(
        source=source_of(
            "list_files", files=["b", "a", "B"], patterns=["*", "a"], shuffle=False, seed=None
        )
    ),
    "list_files shuffles anew each epoch": program(
        source=source_of(
            "list_files", files=["b", "a", "c", "d"], patterns=["*"], shuffle=None, seed=5
        )
    ),
    "a generator that raises has ended": program(
        source=generator(["int64", []], raw(1), {"raise": "KeyError"}, raw(2))
    ),
    "a generator that raises StopIteration": program(
        source=generator(["int64", []], raw(1), {"raise": "StopIteration"}, raw(2))
    ),
    "a generator goes on after an element of the wrong type": program(
        source=generator(
            ["int64", []],
            *map(raw, [1, 2.5, True, "x", [1], {"tuple": [1, 2]}, 2**40]),
            {"value": ["float32", [], [2.5]]},
        )
    ),
    "a generator wraps numbers that do not fit": program(
        source=generator(["int8", []], raw(1), raw(300), {"value": ["int64", [], [300]]}, raw(True))
    ),
    "a generator of pairs": program(
        source=generator(
            {"tuple": [["float16", []], ["bool", []]]},
            *map(raw, [{"tuple": [1, 1]}, {"tuple": [1.5, True]}, [1, 0], {"tuple": [1]}, 5]),
        )
    ),
    "a generator of dicts": program(
        source=generator(
            {"dict": {"a": ["int32", [None]]}},
            {"value": {"dict": {"a": ["int32", [2], [1, 2]]}}},
            {"value": {"dict": {"b": ["int32", [2], [1, 2]]}}},
            {"value": ["int32", [2], [1, 2]]},
        )
    ),
    "a counter wraps": program(
        step("take", count=6), source=source_of("counter", start=100, step=30, dtype="int8")
    ),
    "a range wraps": program(source=source_of("range", args=[250, 260], dtype="uint8")),
}

for _parallel in (None, 2):
    _how = "" if _parallel is None else "a parallel "
    EDGES |= {
        f"{_how}interleave": program(interleave(ranges(4), 3, 2, _parallel)),
        f"{_how}interleave after errors": program(BAD, interleave(ranges(3), 2, 2, _parallel)),
        f"{_how}interleave whose function fails": program(
            interleave(ranges(3, rule=raises()), 2, 1, _parallel)
        ),
        f"{_how}interleave whose datasets fail": program(
            interleave(ranges(4, mapped("identity", rule=raises(mod=3))), 2, 2, _parallel)
        ),
        f"{_how}map that raises StopIteration": program(
            mapped("identity", _parallel, rule=raises("StopIteration")), n=4
        ),
    }
for _kind in ("StopIteration", "KeyError", "MemoryError", "NotImplementedError"):
    EDGES |= {
        f"filter whose function raises {_kind}": program(predicate(_kind, "filter")),
        f"take_while whose function raises {_kind}": program(predicate(_kind, "take_while")),
        f"map whose function raises {_kind}": program(mapped("identity", rule=raises(_kind))),
        f"flat_map whose function raises {_kind}": program(
            step("flat_map", body=ranges(3, rule=raises(_kind))), n=6
        ),
        f"scan whose function raises {_kind}": program(
            step("scan", initial=SUM, fn=fn("scan_sum", give="sum", rule=raises(_kind)))
        ),
        f"reduce whose function raises {_kind}": program(
            reduce={"initial": SUM, "fn": fn("reduce_sum", rule=raises(_kind))}
        ),
        f"group_by_window whose key raises {_kind}": program(
            groups(2, batch(2), rule=raises(_kind))
        ),
    }
