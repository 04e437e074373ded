"""Plain Python and NumPy: `numpy` is vectorised by hand, `generator` is the bare loop."""

from __future__ import annotations

import functools
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.function_tasks import (
    JOINT,
    MAPS,
    NOISE_SHAPE,
    PATTERN,
    REPLACEMENT,
    TAIL,
    FunctionCase,
    pause,
    vector,
    word_length,
)

ENVIRONMENT = "limits"
ITEMS = {"sleep": 64}
THREADS = 32  # of `sleep`: as many as a batch has elements


def _batched(
    items: Iterable[Any], size: int, stack: Callable[[list[Any]], object] = np.array
) -> Iterator[object]:
    source = iter(items)
    while held := list(islice(source, size)):
        yield stack(held)
        held.clear()


def p3__numpy(case: FunctionCase) -> Iterator[object]:
    """Blocks of 65,536, cut into batches."""
    rest = np.empty(0, np.int64)
    for begin in range(0, case.n, 65_536):
        x = np.arange(begin, min(begin + 65_536, case.n)) * 2 + 1
        rest = np.concatenate([rest, x[x % 3 == 0]])
        for _ in range(len(rest) // 256):
            yield rest[:256]
            rest = rest[256:]
    if len(rest):
        yield rest


def p3__generator(case: FunctionCase) -> Iterable[object]:
    """A generator expression, 256 at a time into an array."""
    doubled = (x * 2 + 1 for x in range(case.n))
    return _batched((x for x in doubled if x % 3 == 0), 256)


def _maps(case: FunctionCase) -> Iterable[int]:
    items: Iterable[int] = range(case.n)
    for _ in range(MAPS):
        items = (x + 1 for x in items)
    return items


def p4__numpy(case: FunctionCase) -> Iterator[object]:
    """Ten additions on blocks that stay in cache."""
    last = None
    for last in p4_batch__numpy(case, 4_096):  # noqa: B007
        pass
    assert isinstance(last, np.ndarray)
    yield last[-1]


def p4__generator(case: FunctionCase) -> Iterator[object]:
    """Ten generator expressions one over the other."""
    yield deque(_maps(case), 1)[0]


def p4_batch__numpy(case: FunctionCase, size: int = 256) -> Iterator[object]:
    """Ten additions in place a batch."""
    for begin in range(0, case.n, size):
        x = np.arange(begin, min(begin + size, case.n))
        for _ in range(MAPS):
            x += 1
        yield x


def p4_batch__generator(case: FunctionCase) -> Iterable[object]:
    """Ten generator expressions one over the other, 256 at a time into an array."""
    return _batched(_maps(case), 256)


def _rows_of_channels(case: FunctionCase) -> tuple[NDArray[Any], NDArray[Any]]:
    mean, std = case.channels
    rows, columns, _ = case.image.shape
    return np.tile(mean, (rows, columns)), np.tile(std, (rows, columns))


def image__numpy(case: FunctionCase) -> Iterator[object]:
    """Three loops an image, none of which allocates but for the result."""
    out_type = np.float32 if case.image.dtype == np.uint8 else np.float16
    mean, std = _rows_of_channels(case)
    room = np.empty(mean.shape, np.float32)
    for image in case.image_stream():
        out = np.empty(image.shape, out_type)
        _into(image, mean, std, room, out)
        yield out


def _into(
    image: NDArray[Any],
    mean: NDArray[Any],
    std: NDArray[Any],
    room: NDArray[Any],
    out: NDArray[Any],
) -> None:
    np.subtract(image.reshape(mean.shape), mean, out=room)
    np.divide(room, std, out=room)
    np.clip(room, -2, 2, out=room)
    out.reshape(mean.shape)[...] = room


def image__generator(case: FunctionCase) -> Iterator[object]:
    """The expression as one writes it."""
    mean, std = case.channels
    for image in case.image_stream():
        out = np.clip((image - mean) / std, -2, 2)
        yield out if image.dtype == np.uint8 else out.astype(np.float16)


def image_batch__numpy(case: FunctionCase) -> Iterator[object]:
    """The same, straight into the batch."""
    out_type = np.float32 if case.image.dtype == np.uint8 else np.float16
    mean, std = _rows_of_channels(case)
    room = np.empty(mean.shape, np.float32)
    source = case.image_stream()
    while held := list(islice(source, 32)):
        batch = np.empty((len(held), *case.image.shape), out_type)
        for image, out in zip(held, batch, strict=True):
            _into(image, mean, std, room, out)
        yield batch


def image_batch__generator(case: FunctionCase) -> Iterable[object]:
    """The expression as one writes it, and np.stack."""
    return _batched(image__generator(case), 32, np.stack)


def image_u8__numpy(case: FunctionCase) -> Iterator[object]:
    """Three loops an image, none of which allocates but for the result."""
    return image__numpy(case)


def image_u8__generator(case: FunctionCase) -> Iterator[object]:
    """The expression as one writes it."""
    return image__generator(case)


def image_u8_batch__numpy(case: FunctionCase) -> Iterator[object]:
    """The same, straight into the batch."""
    return image_batch__numpy(case)


def image_u8_batch__generator(case: FunctionCase) -> Iterable[object]:
    """The expression as one writes it, and np.stack."""
    return image_batch__generator(case)


def sin__numpy(case: FunctionCase) -> Iterator[object]:
    """Straight into the batch."""
    x = vector()
    for begin in range(0, case.n, 32):
        batch = np.empty((min(32, case.n - begin), len(x)))
        for row in batch:
            np.sin(x, out=row)
            row *= 2
        yield batch


def sin__generator(case: FunctionCase) -> Iterable[object]:
    """The expression as one writes it, and np.stack."""
    return _batched((np.sin(vector()) * 2 for _ in range(case.n)), 32, np.stack)


def strings__numpy(case: FunctionCase) -> Iterator[object]:
    """A batch as one text: one lower and one substitution for all its lines."""
    pattern, tail = re.compile(PATTERN.encode()), len(JOINT + TAIL)
    source = case.words()
    while held := list(islice(source, 256)):
        text = pattern.sub(REPLACEMENT.encode(), b"\n".join(held).lower())
        yield np.fromiter(map(len, text.split(b"\n")), np.int32, len(held)) + tail


def strings__generator(case: FunctionCase) -> Iterable[object]:
    """Python's own methods and re.sub, word by word."""
    return _batched(map(word_length, case.words()), 256)


def py__generator(case: FunctionCase) -> Iterable[object]:
    """Three NumPy calls an element."""
    items = np.arange(case.n, dtype=np.float32)
    return _batched((np.maximum(np.square(x) * 0.5, 1) for x in items), 256)


def py__numpy(case: FunctionCase) -> Iterator[object]:
    """Three NumPy calls a batch."""
    for begin in range(0, case.n, 256):
        x = np.arange(begin, min(begin + 256, case.n), dtype=np.float32)
        yield np.maximum(np.square(x) * 0.5, 1)


def eager__numpy(case: FunctionCase) -> Iterator[object]:
    """A NumPy scalar and a Python number."""
    return (float(np.float32(1.0) + 2.0) for _ in range(case.n))


def eager__array(case: FunctionCase) -> Iterator[object]:
    """An array of rank 0 and a Python number."""
    return (float(np.array(1.0, np.float32) + 2.0) for _ in range(case.n))


def _noise(seed: int) -> NDArray[np.float32]:
    pause()
    return np.random.default_rng(seed).standard_normal(NOISE_SHAPE, np.float32)


def sleep__threads(case: FunctionCase) -> Iterator[object]:
    """Thirty-two threads and nothing that holds memory back but the queue's length."""
    with ThreadPoolExecutor(THREADS) as pool:
        seeds = iter(range(case.n))
        ahead: deque[Future[Any]] = deque(pool.submit(_noise, i) for i in islice(seeds, THREADS))
        held = []
        while ahead:
            held.append(ahead.popleft().result())
            ahead.extend(pool.submit(_noise, i) for i in islice(seeds, 1))
            if len(held) == 32 or not ahead:
                yield np.stack(held)
                held.clear()


def sleep__generator(case: FunctionCase) -> Iterable[object]:
    """One call after the other."""
    return _batched(map(_noise, range(case.n)), 32, np.stack)


@functools.cache
def _memory(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Two arrays of `size` bytes, touched before anything is timed."""
    return np.ones(size // 8, np.int64), np.ones(size // 8, np.int64)


def bandwidth__copy(case: FunctionCase) -> Iterator[object]:
    """256 MB to another place in memory."""
    a, b = _memory(256_000_000)
    for _ in range(case.n // 256):
        np.copyto(b, a)
        yield b


def bandwidth__read(case: FunctionCase) -> Iterator[object]:
    """256 MB read once."""
    a, _ = _memory(256_000_000)
    for _ in range(case.n // 256):
        yield a.max()


def bandwidth__copy_cached(case: FunctionCase) -> Iterator[object]:
    """256 MB as an image of 602 KB copied again and again."""
    a, b = _memory(602_112)
    for _ in range(case.n // 256):
        for _ in range(256_000_000 // a.nbytes):
            np.copyto(b, a)
        yield b
