"""Programs of functions in TensorFlow: JSON lines in, an outcome line out for each."""

from __future__ import annotations

from typing import Any

from ..ops.run_tf import ENGINE
from ..ops.serving import serve
from ..run_tf import tf
from .running import outcome


def plain(ds: Any) -> Any:
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.autotune.enabled = False
    options.deterministic = True
    return ds.with_options(options)


def main() -> None:
    tf.autograph.set_verbosity(0)

    def run(program: dict[str, Any]) -> dict[str, Any]:
        if program["numpy"]:
            return {"skipped": "TensorFlow cannot trace NumPy's functions"}
        return outcome(ENGINE, program, plain)[0]

    serve(run)


if __name__ == "__main__":
    main()
