"""Spillway: the input pipeline that never kills the kernel.

>>> import spillway as sw
>>> ds = sw.Dataset.range(5).map(lambda x: x * x).batch(2)
>>> [batch.tolist() for batch in ds]
[[0, 1], [4, 9], [16]]
"""

from __future__ import annotations

import atexit as _atexit
from typing import TYPE_CHECKING as _TYPE_CHECKING

from spillway import _native, errors
from spillway import async_loop as _async_loop
from spillway import config as _config
from spillway import flight as _flight
from spillway import growth as _growth
from spillway import guardian as _guardian
from spillway import memory_errors as _memory_errors
from spillway import tracked as _tracked
from spillway.array_files import load_npy, save_npy
from spillway.audit import Audit
from spillway.building import AUTOTUNE
from spillway.competitors import CompetitorWarning
from spillway.config import Memory, configure, memory
from spillway.dataset import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Dataset,
)
from spillway.dtypes import DType, as_dtype
from spillway.forecast import Forecast, forecast
from spillway.interruptions import meaning_of as _meaning_of
from spillway.lines import PACKAGE as _PACKAGE
from spillway.lines import describe as _describe_line
from spillway.optional import Optional
from spillway.options import Options
from spillway.policies import OnError
from spillway.problems import Problem, Problems
from spillway.progress import progress
from spillway.report import Report
from spillway.seeds import set_seed
from spillway.sessions.variable import Variable as _Variable
from spillway.specs import DatasetSpec, NoneSpec, OptionalSpec, TensorSpec
from spillway.symbolic import SymbolicTensor as _SymbolicTensor
from spillway.symbolic import TraceBreak as _TraceBreak
from spillway.tensor import Tensor
from spillway.tensor_convert import integers as _integers
from spillway.tensor_convert import to_tensor as _to_tensor

if _TYPE_CHECKING:
    from spillway.flight_report import postmortem
    from spillway.guard.guarded import guarded
    from spillway.leak_report import leaks, open_sessions

__version__ = "0.1.0"
__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Audit",
    "CompetitorWarning",
    "DType",
    "Dataset",
    "DatasetSpec",
    "Forecast",
    "Memory",
    "NoneSpec",
    "OnError",
    "Optional",
    "OptionalSpec",
    "Options",
    "Problem",
    "Problems",
    "Report",
    "Tensor",
    "TensorSpec",
    "as_dtype",
    "configure",
    "errors",
    "forecast",
    "guarded",
    "leaks",
    "load_npy",
    "memory",
    "open_sessions",
    "postmortem",
    "progress",
    "save_npy",
    "set_seed",
]


def __getattr__(name: str) -> object:
    """What is loaded when it is first asked for."""
    if name == "guarded":
        from spillway.guard.guarded import guarded

        globals()["guarded"] = guarded
        return guarded
    if name == "postmortem":
        from spillway.flight_report import postmortem

        globals()["postmortem"] = postmortem
        return postmortem
    if name in ("leaks", "open_sessions"):
        from spillway import leak_report

        found: object = getattr(leak_report, name)
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _collect_garbage() -> None:
    import gc

    gc.collect()
    for found in _tracked.live("session"):
        session = found.obj
        if session is not None:
            session.drop_plans()


_native.register_types(
    {
        "tensor": Tensor,
        "symbolic": _SymbolicTensor,
        "convert": _to_tensor,
        "integers": _integers,
        "dtype_name": lambda dtype: as_dtype(dtype).name,
        "trace_break": _TraceBreak,
        "describe_line": _describe_line,
        "package": _PACKAGE,
        "dataset": Dataset,
        "make_dataset": Dataset,
        "optional": Optional,
        "make_optional": Optional,
        "make_error": errors.make_error,
        "facts_of": errors.facts_of,
        "meaning_of": _meaning_of,
        "variable": _Variable,
    }
)
_native.set_async_hooks(_async_loop.start, _async_loop.is_async)
_atexit.register(_native.shut_down)
_native.set_garbage_hook(_collect_garbage)
_native.guard_numpy(_config.is_guard_wanted())
_memory_errors.explain()
_guardian.begin()
_native.set_growth_hook(_growth.look)
_native.set_flight_hook(_flight.begin)
_flight.look()
