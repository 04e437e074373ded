"""Programs of ops and functions in TensorFlow: JSON lines in, an outcome line out for each."""

from __future__ import annotations

from ..run_tf import classes, message, tf
from . import running
from .running import Data, Engine
from .serving import serve

ENGINE = Engine(tf, classes, message)


def outcome(program: Data) -> Data:
    """Each row's result, and the element spec of a map over them."""
    out: Data = {"rows": running.eager(ENGINE, program)}
    function = running.op_function(ENGINE, program)
    try:
        out["spec"] = ENGINE.spec(running.source(ENGINE, program).map(function))
    except Exception as error:
        out["refused"] = ENGINE.failed(error)
    return out


def main() -> None:
    tf.autograph.set_verbosity(0)
    serve(outcome)


if __name__ == "__main__":
    main()
