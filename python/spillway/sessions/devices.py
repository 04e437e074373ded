"""`tf.config`: the one device there is, and settings that have nothing to set."""

from __future__ import annotations

import os
import warnings
from typing import Any, NamedTuple


class PhysicalDevice(NamedTuple):
    """A device as `list_physical_devices` shows it."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as `list_logical_devices` shows it."""

    name: str
    device_type: str


_CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_LOGICAL = LogicalDevice("/device:CPU:0", "CPU")
_growth_told = False
_threads = {"inter": 0, "intra": 0}


def physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The CPU; there are no others.

    >>> physical_devices("GPU"), physical_devices()
    ([], [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')])
    """
    return [_CPU] if device_type in (None, "CPU") else []


def logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The CPU; there are no others.

    >>> logical_devices("CPU")
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]
    """
    return [_LOGICAL] if device_type in (None, "CPU") else []


def set_memory_growth(device: Any, enable: bool) -> None:
    """Does nothing, and says so once: memory is taken as it is needed, up to the limit."""
    global _growth_told
    if not _growth_told:
        _growth_told = True
        warnings.warn(
            "set_memory_growth does nothing here: memory is taken as it is needed, and never more "
            'than the limit; set that by spillway.configure(memory_limit="2GiB")',
            stacklevel=2,
        )


def get_memory_growth(device: Any) -> bool:
    """Always: memory is taken as it is needed."""
    return True


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Refuses to hide the CPU; there is nothing else to hide."""
    if device_type == "CPU" and not devices:
        raise RuntimeError("the CPU cannot be hidden: it is the only device")


def get_device_details(device: Any) -> dict[str, Any]:
    """Nothing is told of a CPU, as in TensorFlow."""
    return {}


def set_threads(kind: str, count: int) -> None:
    """How many threads compute: the larger of what is asked for, `spillway.configure(threads=)`."""
    from spillway.config import configure

    if count < 0:
        raise ValueError(f"the number of threads must not be negative: {count}")
    _threads[kind] = count
    if kind == "intra" and count:
        configure(threads=min(count, os.cpu_count() or count))


def get_threads(kind: str) -> int:
    """What was set; 0: left to the machine."""
    return _threads[kind]
