"""Dispatch `python -m bench NAME ...` to a benchmark; the only one so far is `engine`."""

import sys

from bench import engine

BENCHMARKS = {"engine": engine.main}


def main(arguments: list[str]) -> int:
    """Run the benchmark named first; without a known name, list the names."""
    if not arguments or arguments[0] not in BENCHMARKS:
        print(f"usage: python -m bench {{{','.join(BENCHMARKS)}}} ...", file=sys.stderr)
        return 2
    return BENCHMARKS[arguments[0]](arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
