"""A process that runs hostile calls: programs come in as lines of JSON, outcomes go out."""

from __future__ import annotations

import sys
from typing import Any

from tests.conformance.ops.serving import serve

from . import running


def ours() -> Any:
    import spillway as sw
    import spillway.tf as tf

    sw.configure(memory_limit="256MiB")
    return tf


def theirs() -> Any:
    import tensorflow as tf

    return tf


def main() -> None:
    """`theirs`: with TensorFlow."""
    tf = theirs() if sys.argv[1:] == ["theirs"] else ours()
    kinds = {"op": running.op, "dataset": running.dataset}
    serve(lambda program: kinds[program["kind"]](tf, program))


if __name__ == "__main__":
    main()
