"""`Options`: what is chosen for a whole pipeline, with tf.data's names."""

from __future__ import annotations

import enum
import json
from typing import Any, ClassVar

from spillway import _native


class AutoShardPolicy(enum.IntEnum):
    """How a distributed dataset is split, as TensorFlow numbers it."""

    OFF = -1
    AUTO = 0
    FILE = 1
    DATA = 2
    HINT = 3


class AutotuneAlgorithm(enum.Enum):
    """TensorFlow's algorithms; ours tunes in bytes, whatever is chosen."""

    DEFAULT = 0
    HILL_CLIMB = 1
    GRADIENT_DESCENT = 2
    MAX_PARALLELISM = 3
    STAGE_BASED = 4


class ExternalStatePolicy(enum.Enum):
    """What saving does about state outside of the pipeline."""

    WARN = 0
    IGNORE = 1
    FAIL = 2


class _Group:
    _names: ClassVar[dict[str, Any]] = {}
    _defaults: ClassVar[dict[str, Any]] = {}
    _aliases: ClassVar[dict[str, str]] = {}

    def __init__(self) -> None:
        object.__setattr__(self, "_values", {})
        object.__setattr__(self, "_frozen", False)

    def __getattr__(self, name: str) -> Any:
        name = self._aliases.get(name, name)
        if name.startswith("_") or name not in self._names:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self._values.get(name, self._defaults.get(name))

    def __setattr__(self, name: str, value: Any) -> None:
        name = self._aliases.get(name, name)
        if name not in self._names:
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        if self._frozen:
            raise ValueError(
                "Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no "
                "effect. Use `tf.data.Dataset.with_options(options)` to set or update dataset "
                "options."
            )
        wanted = self._names[name]
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            raise TypeError(
                f'Property "{name}" must be of type {wanted}, got: {value} (type: {type(value)})'
            )
        self._values[name] = int(value) if wanted is int else value

    def __eq__(self, other: object) -> bool:
        """Whether the same choices were made."""
        return type(other) is type(self) and self._plain() == other._plain()

    __hash__ = None  # type: ignore[assignment]

    def _plain(self) -> dict[str, Any]:
        return {key: _plain(value) for key, value in self._values.items() if value is not None}

    def _merge(self, values: dict[str, Any]) -> None:
        for key, value in values.items():
            if isinstance(value, dict):
                getattr(self, key)._merge(value)
            elif key == "framework_type":
                self._values[key] = [*self._values.get(key, []), *value]
            else:
                wanted = self._names.get(key)
                if isinstance(wanted, enum.EnumMeta) and isinstance(value, str):
                    value = wanted[value]
                self._values[key] = value

    def _freeze(self) -> None:
        for value in self._values.values():
            if isinstance(value, _Group):
                value._freeze()
        object.__setattr__(self, "_frozen", True)


def _plain(value: Any) -> Any:
    if isinstance(value, _Group):
        return value._plain()
    return value.name if isinstance(value, enum.Enum) else value


class AutotuneOptions(_Group):
    """Accepted for compatibility; the engine tunes in bytes, within the memory limit."""

    _names: ClassVar[dict[str, Any]] = {
        "enabled": bool, "cpu_budget": int, "ram_budget": int,
        "autotune_algorithm": AutotuneAlgorithm,
        "initial_parallelism": int, "min_parallelism": int,
    }  # fmt: skip


class ThreadingOptions(_Group):
    """Accepted for compatibility."""

    _names: ClassVar[dict[str, Any]] = {
        "max_intra_op_parallelism": int,
        "private_threadpool_size": int,
    }


class OptimizationOptions(_Group):
    """`inject_prefetch` or `apply_default_optimizations` False: nothing looks ahead by itself."""

    _names: ClassVar[dict[str, Any]] = dict.fromkeys(
        (
            "apply_default_optimizations", "filter_fusion", "filter_parallelization",
            "inject_prefetch", "map_and_batch_fusion", "map_and_filter_fusion", "map_fusion",
            "map_parallelization", "noop_elimination", "parallel_batch",
            "seq_interleave_prefetch", "shuffle_and_repeat_fusion",
        ),
        bool,
    )  # fmt: skip


class DistributeOptions(_Group):
    """Accepted for compatibility."""

    _names: ClassVar[dict[str, Any]] = {"auto_shard_policy": AutoShardPolicy, "num_devices": int}
    _defaults: ClassVar[dict[str, Any]] = {"auto_shard_policy": AutoShardPolicy.AUTO}


class ServiceOptions(_Group):
    """Accepted for compatibility."""

    _names: ClassVar[dict[str, Any]] = {"pinned": bool}


_GROUPS = {
    "autotune": AutotuneOptions,
    "threading": ThreadingOptions,
    "experimental_optimization": OptimizationOptions,
    "experimental_distribute": DistributeOptions,
    "experimental_service": ServiceOptions,
}


class Options(_Group):
    """Choices for a whole pipeline.

    >>> import spillway as sw
    >>> options = sw.Options()
    >>> options.deterministic = True
    >>> sw.Dataset.range(3).with_options(options).options().deterministic
    True
    """

    _names: ClassVar[dict[str, Any]] = {
        "deterministic": bool, "experimental_slack": bool,
        "experimental_external_state_policy": ExternalStatePolicy,
        "experimental_symbolic_checkpoint": bool, "experimental_warm_start": bool,
        "dataset_name": str, "framework_type": list,
        **_GROUPS,
    }  # fmt: skip
    _aliases: ClassVar[dict[str, str]] = {
        "experimental_deterministic": "deterministic",
        "experimental_threading": "threading",
    }

    def __init__(self) -> None:
        """All choices open."""
        super().__init__()
        for name, group in _GROUPS.items():
            self._values[name] = group()

    def merge(self, options: Options) -> Options:
        """These choices, overridden by what `options` chose."""
        if not isinstance(options, Options):
            raise TypeError(
                f"Could not merge incompatible options of type {type(options)} and {type(self)}."
            )
        merged = Options()
        merged._merge(self._plain())
        merged._merge(options._plain())
        return merged

    def to_json(self) -> str:
        """The choices made, as JSON."""
        return json.dumps(self._plain(), default=str)

    def reads_ahead(self) -> bool:
        """Whether elements may be made before they are asked for."""
        optimization = self.experimental_optimization
        return (
            optimization.inject_prefetch is not False
            and optimization.apply_default_optimizations is not False
        )

    @staticmethod
    def of_node(node: _native.Node) -> Options:
        """Merged over a whole pipeline, the last choice winning; read only."""
        merged = Options()
        stack: list[tuple[_native.Node, bool]] = [(node, False)]
        while stack:
            at, ready = stack.pop()
            if ready:
                if at.op == "with_options":
                    merged._merge(json.loads(str(at.param("options"))))
                continue
            stack.append((at, True))
            stack.extend((below, False) for below in reversed(at.inputs))
        merged._freeze()
        return merged

    def __repr__(self) -> str:
        """The choices made."""
        return f"Options({self._plain()})"
