"""Where the user wrote a stage: `train.py:12`, or `In[5] line 7` in a notebook."""

from __future__ import annotations

import os
import sys
import sysconfig
from types import CodeType, FrameType
from typing import Any

PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep
# Folders of what is installed.
LIBRARIES = tuple(
    {
        *(os.path.join(sysconfig.get_path(name), "") for name in ("stdlib", "purelib", "platlib")),
        *(
            os.path.join(folder, "")
            for folder in sys.path
            if os.path.basename(folder) in ("site-packages", "dist-packages")
        ),
    }
)
_OURS = (PACKAGE, "<spillway")  # functions that are made of definitions have no file


def _notebook() -> dict[str, int]:
    """File names IPython gave to cells, with their execution counts."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    counts: Any = getattr(getattr(shell, "compile", None), "_filename_map", None)
    return counts if isinstance(counts, dict) else {}


def users_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame from `frame` on that is neither ours nor a library's."""
    while frame is not None and frame.f_code.co_filename.startswith(
        (PACKAGE, "<frozen", *LIBRARIES)
    ):
        frame = frame.f_back
    return frame


def user_line() -> str:
    """The nearest caller outside this package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OURS):
        if frame.f_back is None:
            return ""
        frame = frame.f_back
    return describe(frame.f_code, frame.f_lineno)


def describe(code: CodeType, number: int) -> str:
    """A line of a code object in words."""
    return describe_at(code.co_filename, number)


def describe_at(file: str, number: int) -> str:
    """A line of a file, or of a notebook's cell, in words."""
    cell = _notebook().get(file)
    return f"{file}:{number}" if cell is None else f"In[{cell}] line {number}"


def in_cells(text: str) -> str:
    """A stack as another process tells it, with the notebook's cells by their numbers."""
    if 'File "' not in text:
        return text
    for file, cell in _notebook().items():
        text = text.replace(f'File "{file}", line ', f"In[{cell}] line ")
    return text


def with_source(line: str) -> str:
    """Adds the text of the line, when it can still be found."""
    import linecache

    file, _, number = line.rpartition(":")
    if line.startswith("In[") and "] line " in line:
        cell, _, number = line[3:].partition("] line ")
        counts = {str(count): name for name, count in _notebook().items()}
        file = counts.get(cell, "")
    if not file or not number.isdigit():
        return line
    text = linecache.getline(file, int(number)).strip()
    return f"{line}: {text}" if text else line
