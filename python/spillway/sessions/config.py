"""`tf.compat.v1.ConfigProto`: what TensorFlow would be told about a session. Kept, and no more."""

from __future__ import annotations

from typing import Any, ClassVar


class Options:
    """Settings by name. Any can be set; those that were not are 0, False or empty, as they read.

    >>> options = ConfigProto(allow_soft_placement=True)
    >>> options.gpu_options.allow_growth = True
    >>> options
    ConfigProto(allow_soft_placement=True, gpu_options=GPUOptions(allow_growth=True))
    """

    _groups: ClassVar[dict[str, type[Any]]] = {}

    def __init__(self, **settings: Any) -> None:
        """With these settings."""
        for name, value in settings.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        """A group that was not used yet, or a setting that was not set."""
        if name.startswith("__"):
            raise AttributeError(name)
        group = self._groups.get(name)
        if group is None:
            return 0
        made = group()
        setattr(self, name, made)
        return made

    def CopyFrom(self, other: Options) -> None:  # noqa: N802  (TensorFlow's own name)
        """Takes over the settings of another."""
        vars(self).clear()
        vars(self).update(vars(other))

    def __eq__(self, other: object) -> bool:
        """Whether the settings are the same."""
        return type(other) is type(self) and vars(other) == vars(self)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """What was set."""
        given = ", ".join(f"{name}={value!r}" for name, value in sorted(vars(self).items()))
        return f"{type(self).__name__}({given})"


class GPUOptions(Options):
    """There is no GPU: kept only."""


class OptimizerOptions(Options):
    """Kept only."""

    L0, L1, OFF, ON_1, ON_2, DEFAULT = -1, 0, -1, 1, 2, 0


class RewriterConfig(Options):
    """Kept only."""

    OFF, ON = 2, 1


class GraphOptions(Options):
    """Kept only."""

    _groups: ClassVar[dict[str, type[Any]]] = {
        "optimizer_options": OptimizerOptions,
        "rewrite_options": RewriterConfig,
    }


class ConfigProto(Options):
    """How a session of TensorFlow's is set up. The memory limit is `spillway.configure`'s."""

    _groups: ClassVar[dict[str, type[Any]]] = {
        "gpu_options": GPUOptions,
        "graph_options": GraphOptions,
        "device_count": dict,
    }


class RunOptions(Options):
    """Kept only."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = 0, 1, 2, 3


class RunMetadata(Options):
    """Always empty."""
