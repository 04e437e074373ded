"""Python's own objects: lists, strings, dictionaries, buffers."""

from __future__ import annotations

import random

from tests.notebooks.pieces.registry import KIB, MIB, piece, split


@piece()
def strings_in_a_list(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 60, 20 * KIB)
    return f"KEPT = []\nfor i in range({count}):\n    KEPT.append(str(i) + 'x' * {size})"


@piece()
def rows_as_dictionaries(rng: random.Random, total: int) -> str:
    n = total // 400
    return f"KEPT = [{{'id': i, 'name': f'row {{i}}', 'value': i / 7}} for i in range({n})]"


@piece()
def numbers_in_a_list(rng: random.Random, total: int) -> str:
    n = total // 40
    made = rng.choice(
        [
            "list(range(10**6, 10**6 + {n}))",
            "[i * 1.5 for i in range({n})]",
            "{{i: i for i in range({n} // 3)}}",
            "set(range({n} // 2))",
        ]
    )
    return "KEPT = " + made.format(n=n)


@piece()
def bytes_that_double(rng: random.Random, total: int) -> str:
    kind = rng.choice(["b'x' * 1000", "bytearray(1000)", "'x' * 1000"])
    more = "bytes(KEPT)" if kind.startswith("bytearray") else "KEPT"
    return f"KEPT = {kind}\nwhile len(KEPT) < {total}:\n    KEPT += {more}"


@piece()
def one_large_object(rng: random.Random, total: int) -> str:
    made = rng.choice(
        [
            "bytes({n})",
            "bytearray({n})",
            "[0] * {w}",
            "'x' * {n}",
            "'ab'.join('x' * 1000 for _ in range({k}))",
        ]
    )
    return "KEPT = " + made.format(n=total, w=total // 8, k=total // 1000)


@piece()
def objects_of_a_class(rng: random.Random, total: int) -> str:
    return (
        "class Record:\n    def __init__(self, i):\n        self.i, self.text = i, 'record %d' % i\n"
        f"KEPT = []\nfor i in range({total // 300}):\n    KEPT.append(Record(i))"
    )


@piece()
def text_in_and_out(rng: random.Random, total: int) -> str:
    call = rng.choice(
        ["json.dumps(rows)", "pickle.dumps(rows)", "copy.deepcopy(rows)", "repr(rows)"]
    )
    return (
        "import json, pickle, copy\n"
        f"rows = [['row', i, i / 3] for i in range({total // 600})]\nKEPT = [{call} for _ in range(3)]"
    )


@piece()
def a_file_read_whole(rng: random.Random, total: int) -> str:
    mode, block = rng.choice([("rb", "b'line of text\\n'"), ("r", "b'line of text\\n'")])
    read = (
        rng.choice(["f.read()", "f.readlines()", "f.read().split()"])
        if total < 600 * MIB
        else "f.read()"
    )
    return (
        "import os, tempfile\n"
        "path = os.path.join(tempfile.gettempdir(), 'file.txt')\n"
        "with open(path, 'wb') as f:\n"
        f"    for _ in range({max(1, total // 8 // MIB)}):\n        f.write({block} * {MIB // 13})\n"
        f"with open(path, '{mode}') as f:\n    KEPT = {read}"
    )


@piece()
def a_thread_that_fills(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 100 * KIB, 4 * MIB)
    made = rng.choice(
        [f"np.ones({size // 8})", f"bytes({size})", f"['x' * 90 for _ in range({size // 140})]"]
    )
    return (
        "import threading\nKEPT = []\ndef fill():\n"
        f"    for _ in range({count}):\n        KEPT.append({made})\n"
        "def quiet(args):\n    print('thread:', args.exc_type.__name__, str(args.exc_value)[:60])\n"
        "threading.excepthook = quiet\n"
        "worker = threading.Thread(target=fill)\nworker.start()\nworker.join()"
    )


@piece()
def tries_again_after_an_error(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 200 * KIB, 8 * MIB)
    made = rng.choice(
        [f"np.ones({size // 8})", f"['x' * 90 + str(j) for j in range({size // 150})]"]
    )
    return (
        "KEPT = []\nfor attempt in range(3):\n    try:\n"
        f"        for _ in range({count}):\n            KEPT.append({made})\n"
        "    except MemoryError:\n        KEPT.clear()"
    )


@piece()
def a_dictionary_or_set_that_grows(rng: random.Random, total: int) -> str:
    n = total // 150
    add = rng.choice(
        [
            "KEPT[i] = (i, i)",
            "KEPT['key %d' % i] = i",
            "KEPT.setdefault(i % 1000, []).append([i])",
            "KEPT[(i, i + 1)] = None",
        ]
    )
    if rng.random() < 0.4:
        return f"KEPT = set()\nfor i in range({n}):\n    KEPT.add({rng.choice(['i', 'str(i)'])})"
    return f"KEPT = {{}}\nfor i in range({n}):\n    {add}"


@piece()
def bytes_in_a_comprehension(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 100, 4 * MIB)
    made = rng.choice(["bytes({n})", "bytearray({n})", "'x' * {n}", "b'ab' * ({n} // 2)"])
    return f"KEPT = [{made.format(n=size)} for _ in range({count})]"


@piece()
def a_deque_that_grows(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 60, 200 * KIB)
    return (
        "from collections import deque\nKEPT = deque()\n"
        f"for i in range({count}):\n    KEPT.append({rng.choice(['bytes', 'bytearray'])}({size}))"
    )


@piece()
def text_that_is_added_to(rng: random.Random, total: int) -> str:
    if rng.random() < 0.5:  # in place
        return (
            f"def grow(end):\n    text = ''\n    while len(text) < end:\n"
            f"        text += 'y' * {rng.choice([max(total // 8000, 1000), 100_000])}\n    return text\n"
            f"KEPT = grow({total})"
        )
    how = rng.choice(["KEPT += 'y' * {s}", "KEPT = KEPT + 'y' * {s}"])
    return f"KEPT = ''\nwhile len(KEPT) < {total}:\n    " + how.format(s=total // 30)


@piece()
def text_that_is_parsed(rng: random.Random, total: int) -> str:
    call = rng.choice(
        [
            "json.loads(text)",
            "[json.loads(text) for _ in range(3)]",
            "text.split(',')",
            "text.encode().decode('utf-8')",
            "re.findall('[0-9]+', text)",
            "list(text)",
            "text.replace('1', 'one hundred')",
        ]
    )
    n = total // 800
    return (
        f"import json, re\ntext = json.dumps([[i, i / 3, 'item %d' % i] for i in range({n})])\n"
        f"KEPT = {call}"
    )


@piece()
def a_generator_made_into_a_list(rng: random.Random, total: int) -> str:
    n = total // 200
    made = rng.choice(["list", "tuple", "sorted", "set"])
    return (
        "def rows(n):\n    for i in range(n):\n        yield 'row %d' % i + 'x' * 100\n"
        f"KEPT = {made}(rows({n}))"
    )


@piece()
def a_recursion_that_keeps(rng: random.Random, total: int) -> str:
    depth = rng.choice([50, 400, 900])
    made = rng.choice(["np.ones({n} // 8)", "bytes({n})", "['x' * 90 for _ in range({n} // 140)]"])
    made = made.format(n=max(1000, total // depth))
    return (
        f"def grow(n):\n    kept = {made}\n    return (grow(n - 1) if n else 0) + len(kept)\n"
        f"KEPT = grow({depth})"
    )


@piece()
def large_numbers(rng: random.Random, total: int) -> str:
    return rng.choice(
        [
            f"KEPT = 1 << {total * 8}",
            f"KEPT = [1 << {MIB * 8} for _ in range({max(1, total // MIB)})]",
            f"KEPT = (1 << {total * 4}) * 3 + 1",
        ]
    )


@piece()
def a_cache_of_results(rng: random.Random, total: int) -> str:
    size, count = split(rng, total, 1000, MIB)
    return (
        "import functools\n@functools.lru_cache(None)\ndef KEPT(i):\n"
        f"    return {rng.choice(['bytes', 'bytearray'])}({size})\n"
        f"for i in range({count}):\n    KEPT(i)"
    )


@piece()
def cycles_that_are_garbage(rng: random.Random, total: int) -> str:
    """Fits always: all of it is garbage. Nothing may be refused that a collection gives back."""
    size, count = split(rng, total * 4, 50 * KIB, MIB)
    made = rng.choice(["np.ones({n} // 8)", "bytes({n})"])
    return (
        "class Node:\n    pass\n"
        f"for i in range({count}):\n    KEPT = Node()\n    KEPT.me, KEPT.data = KEPT, {made.format(n=size)}"
    )
