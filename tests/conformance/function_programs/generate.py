"""Random programs: a source of elements, and steps whose functions are source text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..ops.packing import pack
from .expressions import Dims, Term, Writer

DTYPES = ("int32", "int64", "float32", "float64", "bool", "string", "int32", "float32", "uint8")
WORDS = (b"a", b"b c", b"", b"Ab", b" x ", b"12", b"q,r")


def _component(rng: random.Random, rows: int) -> tuple[Any, str, Dims]:
    dtype = rng.choice(DTYPES)
    shape = rng.choice(((), (), (), (2,), (3,), (3,), (2, 3), (1, 2), (4,)))
    count = rows * int(np.prod(shape, dtype=int))
    if dtype == "string":
        array = np.empty(count, object)
        array[:] = [rng.choice(WORDS) for _ in range(count)]
    elif dtype == "bool":
        array = np.array([rng.random() < 0.5 for _ in range(count)], bool)
    elif "float" in dtype:
        array = np.array([rng.randint(-20, 20) / 4 for _ in range(count)], dtype)
    else:
        array = np.array(
            [rng.randint(0 if dtype[0] == "u" else -5, 9) for _ in range(count)], dtype
        )
    return array.reshape((rows, *shape)), dtype, shape


def _broken(rng: random.Random, writer: Writer) -> str:
    """A statement that fails: when it is traced, or for some elements."""
    x = writer.rng.choice(writer.names).text
    return str(rng.choice((
        f"{x} = tf.reshape({x}, [7, 7])",
        f"{x} = {x} + tf.constant('s')",
        f"{x} = tf.concat([{x}, 1], 5)",
        f"{x} = {x}['key']",
        f"{x} = tf.gather(tf.range(2), tf.cast(tf.size({x}) + 5, tf.int32))",
        f"{x} = undefined_name",
        f"{x} = tf.constant(3) // (tf.size({x}) - tf.size({x}))",
        f"tf.debugging.assert_less(tf.size({x}), 2)",
        f"{x} = tf.strings.to_number('x{rng.randint(0, 9)}')",
        "raise ValueError('as written')",
        f"{x} = {x}.no_such_attribute",
    )))  # fmt: skip


def _statements(rng: random.Random, writer: Writer) -> list[str]:
    lines: list[str] = []
    for i in range(rng.choice((0, 0, 1, 2, 3))):
        made = writer.term(2)
        name = f"t{i}"
        roll = rng.random()
        if (
            roll < 0.15
            and made.number
            and made.size < 1e4
            and made.dtype in ("int32", "int64", "float32")
        ):
            lines += [f"{name} = {made.text}", "for i in range(3):", f"    {name} = {name} + i"]
            made = Term(made.text, made.dtype, made.shape, made.exact, made.size + 3)
        elif roll < 0.3:
            lines += ["if FLAG:", f"    {name} = {made.text}", "else:", f"    {name} = None"]
        elif roll < 0.4:
            lines += [f"pair = ({made.text}, K)", f"{name}, _ = pair"]
        elif roll < 0.5:
            lines += [f"kept = {{'v': {made.text}}}", f"{name} = kept['v']"]
        else:
            lines.append(f"{name} = {made.text}")
        writer.names.append(Term(name, made.dtype, made.shape, made.exact, made.size))
    return lines


def _result(rng: random.Random, writer: Writer) -> str:
    terms = [writer.term(3).text for _ in range(rng.choice((1, 1, 1, 2, 2, 3)))]
    if len(terms) == 1:
        return str(
            rng.choice((terms[0], terms[0], terms[0], f"({terms[0]},)", f"{{'k': {terms[0]}}}"))
        )
    if rng.random() < 0.35:
        return "{" + ", ".join(f"'{'zyx'[i]}': {term}" for i, term in enumerate(terms)) + "}"
    if rng.random() < 0.25:
        return f"({terms[0]}, {{'n': {', '.join(terms[1:2])}, 'c': K}})"
    if rng.random() < 0.1:
        return f"({terms[0]}, 2.5, 'text')"
    return "(" + ", ".join(terms) + ")"


def _predicate(writer: Writer) -> str:
    made = writer.term(3, lambda t: t.dtype == "bool")
    return made.text if made.rank == 0 else f"tf.reduce_any({made.text})"


def _datasets(rng: random.Random, writer: Writer) -> str:
    made = writer.term(2)
    roll = rng.random()
    text = f"tf.data.Dataset.from_tensors({made.text})"
    if roll < 0.35 and made.rank and made.shape[0] is not None:
        text = f"tf.data.Dataset.from_tensor_slices({made.text})"
    elif roll < 0.55:
        count = writer.term(2, lambda t: t.dtype in ("int32", "int64") and t.rank == 0 and t.exact)
        if count.dtype in ("int32", "int64") and count.rank == 0:
            text = f"tf.data.Dataset.range(tf.cast(abs({count.text}) % 4, tf.int64))"
    elif roll < 0.65:
        text = f"tf.data.Dataset.from_tensors(({made.text}, {rng.choice(writer.names).text}))"
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        more = rng.choice((".repeat(2)", ".take(2)", ".repeat(K)", ".take(1)", ".skip(1)",
                           ".enumerate()", ".batch(2)", ".map(lambda *e: e)"))  # fmt: skip
        text += more
    return text


def program(rng: random.Random) -> dict[str, Any]:
    """One program."""
    rows = rng.choice((0, 1, 3, 4, 5, 5))
    form = rng.choice(("single", "tuple", "dict", "tuple"))
    many = 1 if form == "single" else rng.randint(1, 3)
    components = [_component(rng, rows) for _ in range(many)]
    batch = rng.choice((0, 0, 0, 0, 2))
    use = rng.choice(("map", "map", "map", "filter", "flat_map"))
    names = ["x", "y", "z"][:many]
    terms = []
    for name, (_, dtype, shape) in zip(names, components, strict=True):
        dims: Dims = (None, *shape) if batch else shape
        terms.append(Term(f"e['{name}']" if form == "dict" else name, dtype, dims))
    writer = Writer(rng, terms, numpy=rng.random() < 0.15)
    head = "e" if form == "dict" else ", ".join(names)
    lines = _statements(rng, writer)
    broken = rng.random() < 0.06
    broken = broken and form != "dict"
    if broken:
        lines.append(_broken(rng, writer))
    body = {"map": _result, "filter": lambda _, w: _predicate(w), "flat_map": _datasets}[use](
        rng, writer
    )
    if not lines and rng.random() < 0.6:
        function = f"f = lambda {head}: {body}\n"
    else:
        inside = "".join(f"    {line}\n" for line in lines)
        decorator = "@tf.function\n" if use == "map" and rng.random() < 0.05 else ""
        function = f"{decorator}def f({head}):\n{inside}    return {body}\n"
    constants = f"K = {rng.choice((1, 2, 3))}\nFLAG = True\n"
    return {
        "source": constants + "".join(writer.helpers) + function,
        "form": form,
        "names": names,
        "data": [pack(array) for array, _, _ in components],
        "batch": batch,
        "use": use,
        "broken": broken,
        "numpy": ("np." in function + "".join(writer.helpers) and "np.float32(" not in function)
        or writer.used_numpy,
    }


def programs(count: int, seed: int) -> Iterator[dict[str, Any]]:
    rng = random.Random(seed)
    for _ in range(count):
        yield program(rng)
