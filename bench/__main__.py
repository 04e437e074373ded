"""Dispatch `python -m bench NAME ...` to a suite: engine, functions, files, images or workers."""

import sys

from bench import engine
from bench.suites import SUITES


def main(arguments: list[str]) -> int:
    """Run the suite named first; without a known name, list the names."""
    if not arguments or arguments[0] not in SUITES:
        print(f"usage: python -m bench {{{','.join(SUITES)}}} ...", file=sys.stderr)
        return 2
    return engine.main(SUITES[arguments[0]], arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
