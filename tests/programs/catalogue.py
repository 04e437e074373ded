"""The fifteen programs, and the end each of them must come to.

A program is a file of `sources`, in cells: `# %%`. A cell marked `[spillway]` shows what only
Spillway can do and is left out for TensorFlow; all other lines are the same but for one import.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "sources"
IMPORTS = {"spillway": "import spillway.tf as tf", "tensorflow": "import tensorflow as tf"}
_MARK = re.compile(r"^# %%(?: \[(\w+)\])?\n", re.MULTILINE)


@dataclass(frozen=True)
class Cell:
    """One cell of a program."""

    kind: str  # "code", "markdown", or "spillway": code of ours only
    text: str


@dataclass(frozen=True)
class End:
    """An end that is of use: a result, or an error of a class, and words the user must see."""

    kind: str  # "result", or the name of the error's class
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind}: {', '.join(self.words)}"


@dataclass(frozen=True)
class Program:
    """One program. `ends`: any of them will do, the first is what its author wanted."""

    key: str
    file: str
    about: str
    ends: tuple[End, ...]
    shows: tuple[str, ...] = ()  # what the cells of ours must say
    # (line, its short form): what the quick test replaces, and the words that then are right.
    short: tuple[tuple[str, str], ...] = ()

    def text(self, library: str = "spillway", short: bool = False) -> str:
        """The source for one library."""
        text = (SOURCES / self.file).read_text()
        assert text.count(IMPORTS["spillway"] + "\n") == 1, self.file
        if short:
            for line, other in self.short:
                text = text.replace(line, other)
        return text.replace(IMPORTS["spillway"], IMPORTS[library])

    def cells(self, library: str = "spillway", short: bool = False) -> list[Cell]:
        """Its cells in order, without those that are not for this library."""
        marks = list(_MARK.finditer(text := self.text(library, short)))
        ends = [mark.start() for mark in marks[1:]] + [len(text)]
        cells = [
            Cell(mark[1] or "code", text[mark.end() : end].strip())
            for mark, end in zip(marks, ends, strict=True)
        ]
        return [cell for cell in cells if library == "spillway" or cell.kind != "spillway"]

    def expected(self, short: bool = False) -> tuple[End, ...]:
        """The ends, in the words of the short form where that is what runs."""
        return tuple(End(end.kind, self._words(end.words, short)) for end in self.ends)

    def shown(self, short: bool = False) -> tuple[str, ...]:
        """What the cells of ours must say, likewise."""
        return self._words(self.shows, short)

    def _words(self, words: tuple[str, ...], short: bool) -> tuple[str, ...]:
        changed = dict(self.short) if short else {}
        return tuple(changed.get(word, word) for word in words)


def _result(*words: str) -> End:
    return End("result", words)


PROGRAMS = (
    Program(
        "0.1",
        "p0_1_whole_files.py",
        "a generator that loads whole `.npy` files",
        (_result("3000 rows, sum 1536000"),),
        ("measured/year.npy", "from_npy", "streamed: 3000 rows", "(100, 256)"),
    ),
    Program(
        "0.2",
        "p0_2_inner_datasets.py",
        "a dataset inside a generator, with prefetch",
        (_result("48 batches, sum 1536000"),),
    ),
    Program(
        "0.3",
        "p0_3_missing_file.py",
        "a missing and a damaged file, caught in the generator",
        (_result("32 batches", "measured/lost.npy", "measured/cut.npy"),),
        ("files read: 2", "put aside: ['measured/lost.npy', 'measured/cut.npy']"),
    ),
    Program(
        "1.1",
        "p1_1_image_paths.py",
        "100,000 image paths: decode, resize, batch, prefetch",
        (_result("100000 images"),),
        ("[32, 29]", "images/lost.jpg", "images/cut.jpg", "images/text.jpg"),
        (("IMAGES = 100_000", "IMAGES = 1_000"), ("100000 images", "1000 images")),
    ),
    Program(
        "1.2",
        "p1_2_slow_map.py",
        "a map that waits 0.1 s, 10,000 elements of 4 MiB",
        (_result("10000 rows of 4 MiB"),),
        short=(
            ("ELEMENTS = 10_000", "ELEMENTS = 128"),
            ("10000 rows of 4 MiB", "128 rows of 4 MiB"),
        ),
    ),
    Program(
        "1.3",
        "p1_3_text_files.py",
        "1,000 text files, some cut, empty or not UTF-8",
        (_result("1000 files"),),
        ("texts/100.txt", "texts/400.txt", "texts/700.txt", "0xE9"),
    ),
    Program(
        "2.1",
        "p2_1_two_large_constants.py",
        "two 10000x10000x3 constants that cannot be multiplied",
        (
            End("ShapeError", ("[10000,10000,3]",)),
            # Where the user's own array is beyond the limit, it cannot get so far.
            End("MemoryError", ("2.24 GiB", "does not fit")),
            End("BudgetError", ("1.12 GiB", "fit")),
        ),
        ("[10000,10000,3]", "mean square of the product"),
        (("SIZE = 10000", "SIZE = 1000"),),
    ),
    Program(
        "2.2",
        "p2_2_constants_in_a_list.py",
        "10,000 constants kept in a list",
        (_result("10000 constants, mean 0.50"),),
        ("tensor created 10,000 x",),
        (
            ("COUNT = 10_000", "COUNT = 1_000"),
            ("10000 constants, mean 0.50", "1000 constants, mean 0.50"),
            ("tensor created 10,000 x", "tensor created 1,000 x"),
        ),
    ),
    Program(
        "2.3",
        "p2_3_shapes_that_differ.py",
        "10x10 plus 20x20, caught as InvalidArgumentError",
        (_result("caught: ", "[10,10]", "[20,20]"),),
    ),
    Program(
        "3.1",
        "p3_1_four_terabytes.py",
        "two 10000x10000x10000 tensors and their product",
        (
            End("BudgetError", ("(10000, 10000, 10000)", "memory limit", "hours", "would fit")),
            End("ResourceExhaustedError", ("10000,10000,10000",)),
        ),
        ("BudgetError after",),
    ),
    Program(
        "3.2",
        "p3_2_variables_and_scopes.py",
        "variables with and without name scopes, made in a loop",
        (_result("encoder/weights:0", "encoder/bias:0", "1000 variables"),),
        ("variable created 1,000 x",),
    ),
    Program(
        "3.3",
        "p3_3_open_session.py",
        "a session that is never closed",
        (_result("open: ()", "closed: ()"),),
        ("OpenSession(line='In[2] line 2'",),
    ),
    Program(
        "4.1",
        "p4_1_slow_generator.py",
        "a generator that sleeps 0.1 s an item",
        (_result("10 items", "with 1.00 s of the consumer's own work"),),
    ),
    Program(
        "4.2",
        "p4_2_thread_and_queue.py",
        "a thread and a queue, handed over through `args`",
        (_result("10 items"),),
    ),
    Program(
        "4.3",
        "p4_3_async_generator.py",
        "an async generator, awaited item by item",
        (_result("10 items"),),
        ("taken directly",),
    ),
)
BY_KEY = {program.key: program for program in PROGRAMS}
