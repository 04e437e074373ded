"""`spillway forecast MODULE:NAME`: what a dataset will hold, before it runs."""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from typing import Any

from spillway.errors import SpillwayError
from spillway.problems import printable

FITS, DOES_NOT_FIT, USAGE = 0, 1, 2


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the command to the tool's."""
    parser = commands.add_parser(
        "forecast",
        help="What a dataset will hold, before it runs.",
        description="Imports MODULE, which must make the dataset without iterating over it, and "
        "prints what each stage will hold. Exit code 0: it fits or is not known, 1: it is spilled "
        "or refused, 2: wrong usage.",
    )
    parser.add_argument(
        "dataset", metavar="MODULE:NAME", help="a dataset, or a function that returns one"
    )
    parser.add_argument("--memory-limit", metavar="SIZE", help='under another limit: "2GiB"')


def run(given: argparse.Namespace) -> int:
    """The command; its exit code."""
    from spillway.config import configure

    try:
        if given.memory_limit:
            configure(memory_limit=given.memory_limit)
        made = _named(given.dataset).forecast()
    except (SpillwayError, ImportError, AttributeError, TypeError, ValueError) as error:
        print(f"spillway forecast: {printable(str(error))}", file=sys.stderr)
        return USAGE
    print(made)
    return DOES_NOT_FIT if made.fits is False else FITS


def _named(text: str) -> Any:
    from spillway.dataset import Dataset

    module, colon, name = text.partition(":")
    if not colon or not module or not name:
        raise ValueError(f"name the dataset as MODULE:NAME: {text!r}")
    # As `python -m` does: what lies in this folder can be named.
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    made = found if isinstance(found, Dataset) else found() if callable(found) else found
    if not isinstance(made, Dataset):
        raise TypeError(f"{text} must be a dataset, or return one: {type(made).__name__}")
    return made
