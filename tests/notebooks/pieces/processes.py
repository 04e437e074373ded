"""Threads and processes that allocate at once, in the same container."""

from __future__ import annotations

import random

from tests.notebooks.pieces.registry import KIB, MIB, piece, split


@piece()
def threads_that_fill_at_once(rng: random.Random, total: int) -> str:
    threads = rng.randint(2, 8)
    size, count = split(rng, total // threads, 10 * KIB, 8 * MIB)
    made = rng.choice(
        [
            f"np.ones({size // 8})",
            f"bytes({size})",
            f"['x' * 90 for _ in range({max(1, size // 140)})]",
            f"np.zeros({size // 8}) + 1",
            f"bytearray({size}) + b'x'",
        ]
    )
    return (
        "from concurrent.futures import ThreadPoolExecutor\nKEPT = []\n"
        f"def fill(i):\n    for _ in range({count}):\n        KEPT.append({made})\n"
        f"with ThreadPoolExecutor({threads}) as pool:\n    list(pool.map(fill, range({threads})))"
    )


@piece(children=True)
def children_of_a_pool(rng: random.Random, total: int) -> str:
    """Forked copies of the kernel that allocate, or send back much."""
    workers = rng.randint(1, 3)
    each = total // workers
    body = rng.choice(
        [
            f"np.ones({each // 8}).sum()",
            f"np.ones({each // 32})",
            f"len(['x' * 90 + str(j) for j in range({each // 150})])",
        ]
    )
    return (
        "import multiprocessing\n"
        f"def fill(i):\n    return {body}\n"
        f"with multiprocessing.get_context('fork').Pool({workers}) as pool:\n"
        f"    KEPT = pool.map_async(fill, range({workers})).get(20)"
    )


@piece(children=True)
def a_program_that_is_started(rng: random.Random, total: int) -> str:
    """Not guarded: the kernel may end it, and must leave the notebook alone."""
    made = rng.choice(
        [
            f"x = bytearray({total})",
            f"x = ['x' * 90 + str(j) for j in range({total // 150})]",
            f"x = []\\nfor _ in range({max(1, total // MIB)}): x.append(bytearray(b'x') * {MIB})",
        ]
    )
    return (
        "import subprocess, sys\n"
        f"KEPT = subprocess.run([sys.executable, '-S', '-c', \"{made}\"], capture_output=True)\n"
        "print(KEPT.returncode, KEPT.stderr[-300:])"
    )


@piece(children=True)
def what_a_program_prints(rng: random.Random, total: int) -> str:
    return (
        "import subprocess\n"
        f"KEPT = subprocess.run(['head', '-c', '{total}', '/dev/zero'], capture_output=True).stdout"
    )


@piece()
def an_event_loop_that_keeps(rng: random.Random, total: int) -> str:
    tasks = rng.randint(2, 50)
    size, count = split(rng, total // tasks, 10 * KIB, 4 * MIB)
    made = rng.choice([f"np.ones({size // 8})", f"bytes({size})"])
    return (
        "import asyncio\nKEPT = []\nasync def fill():\n"
        f"    for _ in range({count}):\n        KEPT.append({made})\n        await asyncio.sleep(0)\n"
        f"await asyncio.gather(*[fill() for _ in range({tasks})])"
    )
