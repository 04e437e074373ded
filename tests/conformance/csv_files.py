"""Random CSV files through `CsvDataset` and `make_csv_dataset`, in TensorFlow and here.

    build/venv-tf/bin/python -m tests.conformance.csv_files 1500 1 OUT.jsonl.gz

writes what TensorFlow makes of them; `tests/test_csv_conformance.py` compares.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
import tempfile
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).with_name("csv_recorded.jsonl.gz")
MOST = 40  # events of a case

Case = dict[str, Any]

_TYPES = ["int32", "int64", "float32", "float64", "string"]
_WORDS = ["", "a", "NA", "x y", " ", "\u00e9", "word", "b" * 70, "0", "true"]
_NUMBERS = [
    "", "0", "1", "-1", "12", " 7", "7 ", "+5", "--5", "2147483647", "2147483648", "-2147483648",
    "9223372036854775807", "9223372036854775808", "1.5", "-0.25", "1e3", "1E-7", ".5", "5.", "inf",
    "-Infinity", "nan", "1e39", "1e400", "1e-50", "0x10", "0x1p3", "NA", "abc", "1,5", "1.5.2",
    "3.4028235e38", "16777217", "0.1", "123456789.123456789", "1_000", "1f", "\t3", "e5", "-", "+",
]  # fmt: skip
_ABOVE = ("OpError", "Exception", "BaseException", "object")
_SOUP = ',";\n\r a1.-\n,"'


def cases(count: int, seed: int) -> Iterator[Case]:
    """Programs, the same for the same seed."""
    for number in range(count):
        rng = random.Random(f"{seed}:{number}")
        kind = rng.choice(["plain", "plain", "quoted", "soup", "make"])
        if kind == "make":
            yield _make_case(rng)
        else:
            yield _csv_case(rng, kind)


def _field(rng: random.Random, dtype: str, quoted: bool, delimiter: str) -> str:
    good = rng.random() < 0.9
    if dtype == "string":
        text = rng.choice(_WORDS)
    elif dtype.startswith("int"):
        text = str(rng.randrange(-1000, 1000)) if good else rng.choice(_NUMBERS)
    else:
        text = repr(rng.uniform(-100, 100)) if good else rng.choice(_NUMBERS)
    if not quoted or rng.random() < 0.5:
        return text
    text += rng.choice(["", "", delimiter, "\n", '"', "\r\n", "\r"])
    text = text if dtype == "string" else text.strip('",;\r\n\t')
    text = text.replace('"', '""')
    return f'"{text}"' + rng.choice([""] * 20 + ["x", '"'])


def _lines(rng: random.Random, types: list[str], quoted: bool, delimiter: str) -> str:
    ends = rng.choice([["\n"], ["\r\n"], ["\n", "\r\n", "\r"]])
    text = ""
    for _ in range(rng.randrange(8)):
        width = len(types) + (rng.choice([-1, 1]) if rng.random() < 0.05 else 0)
        fields = [
            _field(rng, types[min(i, len(types) - 1)], quoted, delimiter) for i in range(width)
        ]
        text += delimiter.join(fields) + rng.choice(ends)
    if rng.random() < 0.1:
        text = "\ufeff" + text
    if rng.random() < 0.1:
        at = rng.randrange(len(text) + 1)
        text = text[:at] + "\n" + text[at:]
    return text[:-1] if rng.random() < 0.3 else text


def _csv_case(rng: random.Random, kind: str) -> Case:
    types = [rng.choice(_TYPES) for _ in range(rng.randrange(1, 5))]
    delimiter = rng.choice([",", ",", ",", ";", "\t", " ", '"', "\n"])
    options: dict[str, Any] = {}
    if rng.random() < 0.3:
        options["header"] = True
    if delimiter != ",":
        options["field_delim"] = delimiter
    if rng.random() < 0.2:
        options["use_quote_delim"] = False
    if rng.random() < 0.3:
        options["na_value"] = rng.choice(["NA", "0", "a", '"'])
    if rng.random() < 0.1:
        options["buffer_size"] = rng.choice([1, 2, 7, 64, 0, -1])
    if rng.random() < 0.15:
        options["compression_type"] = rng.choice(["GZIP", "ZLIB", ""])
    wanted = list(range(len(types)))
    if rng.random() < 0.25:
        wanted = sorted(rng.sample(wanted, rng.randrange(1, len(types) + 1)))
        options["select_cols"] = wanted if rng.random() < 0.9 else rng.choice([[1, 0], [-1], [9]])
    elif rng.random() < 0.2:
        left = sorted(rng.sample(wanted, rng.randrange(len(types))))
        options["exclude_cols"] = left if rng.random() < 0.9 else rng.choice([[1, 0], [-1], [0, 9]])
        wanted = [i for i in wanted if i not in left]
    files = []
    for _ in range(rng.choice([1, 1, 2])):
        if kind == "soup":
            files.append("".join(rng.choice(_SOUP) for _ in range(rng.randrange(60))))
        else:
            files.append(_lines(rng, types, kind == "quoted", delimiter))
    defaults = [[types[i], rng.random() < 0.3] for i in wanted]  # type, required
    return {"make": False, "files": files, "defaults": defaults, "options": options}


def _make_case(rng: random.Random) -> Case:
    types = [rng.choice(_TYPES) for _ in range(rng.randrange(1, 5))]
    names = [f"c{i}" for i in range(len(types))]
    options: dict[str, Any] = {
        "batch_size": rng.randrange(1, 4),
        "num_epochs": rng.choice([1, 1, 2]),
        "shuffle": False,
    }
    if rng.random() < 0.4:
        options["label_name"] = rng.choice([*names, "none"])
    if rng.random() < 0.4:
        chosen: list[Any] = rng.sample(names, rng.randrange(1, len(names) + 1))
        if rng.random() < 0.5:
            chosen = [names.index(name) for name in chosen]
        options["select_columns"] = chosen if rng.random() < 0.9 else [0, 0]
    if rng.random() < 0.3:
        options["na_value"] = "NA"
    if rng.random() < 0.3:
        options["num_rows_for_inference"] = rng.choice([1, 2, None])
    if rng.random() < 0.3:
        options["ignore_errors"] = True
    if rng.random() < 0.2:
        options["num_parallel_reads"] = 2
    header = rng.random() < 0.8
    if not header:
        options["header"] = False
        if rng.random() < 0.9:
            options["column_names"] = names
    quoted = rng.random() < 0.5
    files = []
    for _ in range(rng.choice([1, 1, 2])):
        heads = names if rng.random() < 0.95 else names[::-1]
        text = _lines(rng, types, quoted, ",").replace("\r", "").lstrip("\ufeff")
        files.append((",".join(heads) + "\n" if header else "") + text)
    defaults = None
    if rng.random() < 0.3:
        wanted = options.get("select_columns", names)
        defaults = [[rng.choice(types), rng.random() < 0.3] for _ in wanted]
    return {"make": True, "files": files, "defaults": defaults, "options": options}


def outcome(tf: Any, case: Case, folder: Path) -> dict[str, Any]:
    """What a library makes of a case: its spec and events, or its refusal."""
    paths = []
    for number, text in enumerate(case["files"]):
        path = folder / f"{number}.csv"
        path.write_bytes(_packed(text.encode(), case["options"].get("compression_type")))
        paths.append(str(path))
    try:
        ds = _dataset(tf, case, paths)
    except Exception as error:
        return {"refused": _words(error)}
    return {"spec": _spec(ds.element_spec), "events": list(_events(ds))}


def _packed(content: bytes, how: str | None) -> bytes:
    if how == "GZIP":
        return gzip.compress(content)
    return zlib.compress(content) if how == "ZLIB" else content


def _dataset(tf: Any, case: Case, paths: list[str]) -> Any:
    defaults = None
    if case["defaults"] is not None:
        defaults = [
            getattr(tf, dtype)
            if required
            else tf.constant(["d" if dtype == "string" else 7], getattr(tf, dtype))
            for dtype, required in case["defaults"]
        ]
    if not case["make"]:
        return tf.data.experimental.CsvDataset(paths, defaults, **case["options"])
    options = dict(case["options"])
    size = options.pop("batch_size")
    return tf.data.experimental.make_csv_dataset(paths, size, column_defaults=defaults, **options)


def _events(ds: Any) -> Iterator[Any]:
    it = iter(ds)
    for _ in range(MOST):
        try:
            yield _shown(next(it))
        except StopIteration:
            return
        except Exception as error:
            yield "!" + _words(error)


def _spec(spec: Any) -> Any:
    if isinstance(spec, dict):
        return {key: _spec(value) for key, value in sorted(spec.items())}
    if isinstance(spec, tuple):
        return [_spec(value) for value in spec]
    return f"{spec.dtype.name}{list(spec.shape)}"


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _shown(inner) for key, inner in sorted(value.items())}
    if isinstance(value, tuple):
        return [_shown(inner) for inner in value]
    flat = value.numpy()
    return _item(flat) if value.shape == () else [_item(item) for item in flat.tolist()]


def _item(item: Any) -> Any:
    if isinstance(item, bytes):
        return item.decode("latin-1")
    number = item.item() if hasattr(item, "item") else item
    return number.hex() if isinstance(number, float) else number


def _words(error: Exception) -> str:
    text = str(error)
    text = re.sub(r"\{\{function_node .*?\}\} ", "", text)
    text = re.sub(r" \[Op:\w+\].*", "", text, flags=re.DOTALL)
    text = re.sub(r"\n\t.*", "", text, flags=re.DOTALL)
    names = [kind.__name__ for kind in type(error).__mro__ if kind.__name__ not in _ABOVE]
    return f"{'/'.join(names)}: {text}"


def same(theirs: Any, ours: Any) -> bool:
    """Whether an outcome is TensorFlow's; of errors the class, and what they say within ours."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        return theirs.keys() == ours.keys() and all(same(theirs[k], ours[k]) for k in theirs)
    if isinstance(theirs, list) and isinstance(ours, list):
        return len(theirs) == len(ours) and all(map(same, theirs, ours))
    if not (isinstance(theirs, str) and isinstance(ours, str)):
        return bool(theirs == ours)
    if "Error: " not in theirs or "Error: " not in ours:
        return theirs == ours
    kinds, text = theirs.lstrip("!").split(": ", 1)
    our_kinds, our_text = ours.lstrip("!").split(": ", 1)
    text = text.removesuffix(": set().")  # TensorFlow means to name what is there twice
    return kinds.split("/")[0] in our_kinds.split("/") and text in our_text


def main() -> None:
    tf = import_module("tensorflow")
    count, seed, out = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    with (
        tempfile.TemporaryDirectory() as folder,
        open(out, "wb") as raw,
        gzip.GzipFile("", "wb", 9, raw, 0) as file,
    ):
        for case in cases(count, seed):
            found = outcome(tf, case, Path(folder))
            line = json.dumps([case, found], separators=(",", ":")).replace(folder, "FOLDER")
            file.write(line.encode() + b"\n")


if __name__ == "__main__":
    main()
