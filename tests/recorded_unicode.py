"""Calls of tf.strings.unicode_transcode, and what TensorFlow 2.21 gave.

`python tests/recorded_unicode.py` with TensorFlow installed writes them anew.
"""

from __future__ import annotations

import importlib
import json
import random
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".jsonl")
_COUNT = 400
_MARKS = ("\xfe\xff", "\xff\xfe")
_INPUTS = ("UTF-8", "UTF-8", "UTF-16-BE", "UTF-32-BE", "UTF-16", "utf-16le", "UTF-32", "latin1")
_PIECES = (
    b"a", b"Z\n", b"\0", b"\t", b"\x7f", "é".encode(), "€".encode(), "😀".encode(), b"\xff",
    b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80",
    b"\x80", b"\0a", b"\xd8\x3d\xde\0", b"\xd8\0", b"\xdc\0", b"\xfe\xff", b"\xff\xfe", b"\0\0\0a",
    b"\0\1\xf6\0", b"\0\0\xd8\0", b"\0\x11\0\0", b"\xef\xbb\xbf", b"\xef\xbf\xbe",
)  # fmt: skip


def calls() -> list[dict[str, Any]]:
    """The arguments; the text as Latin-1."""
    draw = random.Random(7)
    out = []
    for _ in range(_COUNT):
        text = b"".join(draw.choice(_PIECES) for _ in range(draw.randrange(6)))
        out.append(
            {
                "input": text.decode("latin-1"),
                "input_encoding": draw.choice(_INPUTS),
                "output_encoding": draw.choice(("UTF-8", "UTF-8", "UTF-16-BE", "UTF-32-BE")),
                "errors": draw.choice(("strict", "replace", "ignore")),
                "replacement_char": draw.choice((65533, 65533, 63, 0x1F600, 0xD800, 0)),
                "replace_control_characters": draw.random() < 0.3,
            }
        )
    # Of nothing but a byte order mark TensorFlow makes U+FFFF, which is not in it.
    return [call for call in out if call["input"] not in _MARKS]


def outcome(tf: Any, call: dict[str, Any]) -> str:
    """The result as Latin-1, or the class of the error."""
    given = dict(call, input=call["input"].encode("latin-1"))
    try:
        made: bytes = tf.strings.unicode_transcode(**given).numpy()
    except tf.errors.InvalidArgumentError:
        return "!InvalidArgumentError"
    return made.decode("latin-1")


if __name__ == "__main__":
    theirs = importlib.import_module("tensorflow")
    lines = [json.dumps({**call, "gave": outcome(theirs, call)}) for call in calls()]
    FILE.write_text("\n".join(lines) + "\n")
