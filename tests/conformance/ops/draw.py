"""Random operands: what a case of the table draws from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..values import Array, numpy_dtype

INTS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = (*INTS, *FLOATS)
NUMBERS = (*REAL, *COMPLEX)
ALL = (*NUMBERS, "bool", "string")

TEXTS = [
    *(text.encode() for text in ("", "a", "abc", "A b  c", " x ", "12", "-3.5", "1e3", "nan")),
    *(
        text.encode()
        for text in ("0x1F", "12x", "\u00e4\u00f6 \u00dc", "\u65e5\u672c\u8a9e", "a,b,,c")
    ),
    *(text.encode() for text in ("aXbXc", "\n\tq\r", "\U0001f600!", "9223372036854775807")),
    *(b"hello world", b"YWJj", b"x" * 20, b"\xff\xfe", b"nul\0in"),
]


class Draw:
    """One program being drawn: its operands so far, and choices.

    `turn` counts the programs of the same function before: what must not be missed goes by it.
    """

    def __init__(self, rng: random.Random, rows: int, turn: int = 0) -> None:
        self.rng = rng
        self.rows = rows
        self.turn = turn
        self.operands: list[Array] = []
        self.dtype_drawn = ""
        self.tame = rng.random() < 0.6  # without NaN, Inf and extremes

    def chance(self, of_one: float) -> bool:
        return self.rng.random() < of_one

    def choice(self, options: Sequence[Any]) -> Any:
        return self.rng.choice(options)

    def in_turn(self, options: Sequence[Any]) -> Any:
        """One after another from program to program."""
        return options[self.turn % len(options)]

    def dtype(self, usual: Sequence[str]) -> str:
        """Mostly one that is usual here; sometimes any, which may be refused.

        Strings and complex numbers have ops of their own: every fifth program has each of them,
        where they are usual.
        """
        complexes = [name for name in usual if name in COMPLEX]
        common = [name for name in usual if name in ("float32", "int32", "int64", "float64")]
        roll = self.rng.random()
        if "string" in usual and (self.turn % 5 == 2 or self.chance(0.1)):
            found = "string"
        elif complexes and self.turn % 5 == 4:
            found = self.choice(complexes)
        elif roll < 0.07:
            found = self.choice(ALL)
        elif roll < 0.45 and common:
            found = self.choice(common)
        else:
            found = self.choice(usual)
        self.dtype_drawn = str(found)
        return self.dtype_drawn

    def shape(self, low: int = 0, high: int = 4) -> list[int]:
        rank = min(high, max(low, self.choice((0, 1, 1, 1, 2, 2, 2, 3, 3, 4))))
        return [self.choice((0, 1, 1, 2, 2, 3, 3, 4, 5)) if self.chance(0.5) else
                self.choice((1, 2, 3, 4)) for _ in range(rank)]  # fmt: skip

    def beside(self, shape: Sequence[int]) -> list[int]:
        """A shape that mostly broadcasts with another."""
        if self.chance(0.04):
            return self.shape()
        if self.chance(0.4):
            return list(shape)
        out = [1 if self.chance(0.3) else dim for dim in shape]
        return out[self.rng.randint(0, len(out)) :] if self.chance(0.5) else out

    def operand(self, dtype: str, shape: Sequence[int], values: Any = "any") -> str:
        """A new operand's name; `values`: "any", "small", "positive", "unit", or (low, high)."""
        full = [self.rows, *shape]
        self.operands.append(self.array(dtype, full, values))
        return "abcdefgh"[len(self.operands) - 1]

    def given(self, array: Array) -> str:
        """An operand of this value in every row."""
        self.operands.append(np.stack([array] * self.rows))
        return "abcdefgh"[len(self.operands) - 1]

    def array(self, dtype: str, shape: Sequence[int], values: Any = "any") -> Array:
        count = int(np.prod(shape, dtype=np.int64))
        array = np.empty(count, dtype=numpy_dtype(dtype))
        for i in range(count):
            array[i] = self.item(dtype, values)
        return array.reshape(shape)

    def item(self, dtype: str, values: Any) -> Any:
        rng = self.rng
        if dtype == "string":
            return self.choice(TEXTS)
        if dtype == "bool":
            return rng.random() < 0.5
        if isinstance(values, tuple):
            low, high = values
            if "int" in dtype:
                return max(int(low), 0) if dtype[0] == "u" and high < 0 else rng.randint(
                    max(int(low), 0 if dtype[0] == "u" else int(low)), int(high))  # fmt: skip
            return low + (high - low) * rng.random()
        if "int" in dtype:
            return self._int(dtype, values)
        if dtype.startswith("complex"):
            # Infinities and NaNs of complex numbers depend on how they are multiplied.
            values = "small" if values == "any" else values
            return complex(self._float("float32", values), self._float("float32", values))
        return self._float(dtype, values)

    def _int(self, dtype: str, values: str) -> int:
        info = np.iinfo(dtype)
        if values == "any" and not self.tame and self.rng.random() < 0.25:
            return int(self.choice((info.min, info.max, info.max - 1, self.rng.randint(
                int(info.min), int(info.max)))))  # fmt: skip
        low = 1 if values == "positive" else max(int(info.min), -9)
        return self.rng.randint(low, 9)

    def _float(self, dtype: str, values: str) -> float:
        rng = self.rng
        if values == "unit":
            return rng.uniform(-1, 1)
        if values == "any" and not self.tame and rng.random() < 0.2:
            return float(self.choice((np.nan, np.inf, -np.inf, -0.0, 0.0, 3e4, -3e4, 1e-3)))
        if rng.random() < 0.4:
            number = float(rng.randint(-6, 6)) / self.choice((1, 1, 2))
        else:
            number = rng.gauss(0, 1) * 10.0 ** rng.uniform(-1, 1.3)
        number = float(np.asarray(number).astype(numpy_dtype(dtype)))
        return abs(number) + 0.25 if values == "positive" else number

    def ints(self, values: Any) -> str:
        """Integers as a program may write them: a list, a tensor, an array."""
        roll = self.rng.random()
        text = repr(values)
        if roll < 0.7:
            return text
        if values == []:
            return "np.zeros(0, np.int32)"
        if roll < 0.85:
            return f"tf.constant({text})"
        if roll < 0.93:
            return f"tf.constant({text}, tf.int64)"
        return f"np.array({text}, np.int32)"

    def axis(self, rank: int, wrong: float = 0.03) -> int:
        if rank == 0 or self.chance(wrong):
            return self.rng.randint(-rank - 1, rank)
        return self.rng.randint(-rank, rank - 1)

    def axes(self, rank: int) -> str:
        """`axis=` of a reduction, or nothing."""
        roll = self.rng.random()
        if roll < 0.3:
            return ""
        if roll < 0.65:
            return f", axis={self.axis(rank)}"
        some = self.rng.sample(range(rank), self.rng.randint(0, rank))
        return ", axis=" + self.ints([a - rank if self.chance(0.3) else a for a in some])
