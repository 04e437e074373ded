"""A checkpoint from a stranger: refused or resumed, never a crash, a hang or another pipeline."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sealed import content, resealed

ROOT = Path(__file__).resolve().parents[1]
PARTS = 4


def _mutated(state: bytes, dice: random.Random) -> bytes:
    """Another content under the right checksum: so that the damage gets behind that."""
    out = bytearray(content(state))
    for _ in range(dice.choice([1, 1, 2, 4])):
        at = dice.randrange(len(out) + 1)
        kind = dice.randrange(4)
        if kind == 0 and at < len(out):
            out[at] = dice.choice([0, 1, 2, 0x7F, 0x80, 0xFE, 0xFF, dice.randrange(256)])
        elif kind == 1:
            out[at:at] = dice.choice([b"\xff" * 9 + b"\x01", b"\x80" * 9 + b"\x01", b"\x02", b"\0"])
        elif kind == 2:
            del out[at : at + dice.randrange(1, 4)]
        else:
            del out[at:]
    return resealed(state, bytes(out))


def attack(part: int) -> None:
    """Runs in a process of its own. Prints how many states were refused and how many taken."""
    import faulthandler

    import spillway as sw
    from tests.conformance.record import load
    from tests.conformance.run_spillway import Exact, Spillway

    dice = random.Random(part)
    taken = refused = 0
    for program, outcome in load()[part::PARTS]:
        if not isinstance(outcome.get("epochs"), list) or program.get("reduce") is not None:
            continue
        faulthandler.dump_traceback_later(250, exit=True)
        builder = Exact(Spillway())
        it: Any = iter(builder.program(program))
        for _ in range(dice.randrange(4)):
            _event(it)
        state = it.save()
        for _ in range(4):
            fresh: Any = iter(builder.again(program))
            try:
                fresh.restore(_mutated(state, dice))
            except (sw.errors.SpillwayError, ValueError):
                refused += 1
                continue
            except Exception as error:  # the program's own functions, called while catching up
                assert getattr(error, "kind", "") == "user", repr(error)
                refused += 1
                continue
            taken += 1
            for _ in range(20):
                if not _event(fresh):
                    break
        builder.close()
    faulthandler.cancel_dump_traceback_later()
    print(refused, taken)


def _event(it: Any) -> bool:
    """Asks for one element; False at the end. Errors of any kind must be ours, and typed."""
    import spillway as sw

    try:
        next(it)
    except StopIteration:
        return False
    except Exception as error:
        assert isinstance(error, sw.errors.SpillwayError), repr(error)
        assert error.kind != "bug", str(error)
    return True


@pytest.mark.parametrize("part", range(PARTS))
def test_damaged_states_are_refused_or_resumed(part: int) -> None:
    code = f"import tests.test_hostile_states as t; t.attack({part})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "SPILLWAY_MEMORY_LIMIT": "256MiB"},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    refused, taken = map(int, done.stdout.split())
    assert refused > 100
    assert taken > 20, "the damage must get behind the header"
