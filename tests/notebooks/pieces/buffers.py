"""Bytes that grow outside of NumPy: buffers, streams, pickles, mappings, tables in memory."""

from __future__ import annotations

import random

from tests.notebooks.pieces.registry import KIB, MIB, piece, split


@piece()
def a_bytearray_that_is_resized(rng: random.Random, total: int) -> str:
    step = rng.choice([10 * KIB, MIB, 16 * MIB])
    add = rng.choice(["KEPT.extend(block)", "KEPT += block", "KEPT[len(KEPT):] = block"])
    return f"block, KEPT = b'x' * {step}, bytearray()\nwhile len(KEPT) < {total}:\n    {add}"


@piece()
def a_stream_in_memory(rng: random.Random, total: int) -> str:
    kind, block = rng.choice([("BytesIO", "b'x'"), ("StringIO", "'x'")])
    step = rng.choice([1000, 100 * KIB, 4 * MIB])
    end = rng.choice(["", "\ncopy_of = KEPT.getvalue()"])
    return (
        f"import io\nKEPT = io.{kind}()\nblock = {block} * {step}\n"
        f"for _ in range({total // step // (4 if kind == 'StringIO' else 1) + 1}):\n"
        f"    KEPT.write(block)" + end
    )


@piece()
def pickles_of_large_values(rng: random.Random, total: int) -> str:
    value = rng.choice(
        [
            f"np.ones({total // 24})",
            f"[np.ones(1000) for _ in range({total // 24000})]",
            f"['row %d' % i for i in range({total // 180})]",
            f"{{i: str(i) for i in range({total // 300})}}",
        ]
    )
    call = rng.choice(
        [
            "pickle.dumps(value)",
            "pickle.loads(pickle.dumps(value))",
            "[pickle.dumps(value) for _ in range(3)]",
            "copy.deepcopy(value)",
        ]
    )
    return f"import copy, pickle\nvalue = {value}\nKEPT = {call}"


@piece()
def compressed_data_that_is_expanded(rng: random.Random, total: int) -> str:
    name = rng.choice(["zlib", "bz2", "lzma"])
    block = min(total, 64 * MIB)
    return (
        f"import {name}\npacked = {name}.compress(bytes({block}))\n"
        f"KEPT = [{name}.decompress(packed) for _ in range({max(1, total // block)})]"
    )


@piece()
def a_table_of_sqlite_in_memory(rng: random.Random, total: int) -> str:
    size = rng.choice([200, 20_000, 500_000])
    read = rng.choice(["", "\nrows = KEPT.execute('select * from t').fetchall()"])
    return (
        "import sqlite3\nKEPT = sqlite3.connect(':memory:')\n"
        "KEPT.execute('create table t (i integer, x blob)')\n"
        f"KEPT.executemany('insert into t values (?, ?)', ((i, bytes({size})) for i in range({total // size})))"
        + read
    )


@piece()
def anonymous_mappings(rng: random.Random, total: int) -> str:
    count = rng.randint(1, 6)
    private = rng.choice(["", ", mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS"])
    return (
        "import mmap\n"
        f"KEPT = [mmap.mmap(-1, {total // count}{private}) for _ in range({count})]\n"
        "block = b'x' * (1 << 20)\n"
        "for each in KEPT:\n    for _ in range(len(each) // len(block)):\n        each.write(block)"
    )


@piece()
def memory_of_ctypes(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 10 * KIB, 32 * MIB)
    return (
        "import ctypes\nKEPT = []\n"
        f"for _ in range({count}):\n    KEPT.append(ctypes.create_string_buffer({size}))\n"
        f"    ctypes.memset(KEPT[-1], 1, {size})"
    )


@piece()
def malloc_behind_everybody(rng: random.Random, total: int) -> str:
    """What a C library does on its own."""
    size, count = split(rng, total, 2 * KIB, 16 * MIB)
    return (
        "import ctypes\nlibc = ctypes.CDLL(None)\nlibc.malloc.restype = ctypes.c_void_p\nKEPT = []\n"
        f"for _ in range({count}):\n    at = libc.malloc(ctypes.c_size_t({size}))\n"
        "    if not at:\n        for each in KEPT:\n            libc.free(ctypes.c_void_p(each))\n"
        "        raise MemoryError\n"
        f"    ctypes.memset(at, 1, {size})\n    KEPT.append(at)"
    )
