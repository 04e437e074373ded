"""`tf.config`: the one device there is.

>>> import spillway.tf as tf
>>> [device.device_type for device in tf.config.list_physical_devices()]
['CPU']
>>> tf.config.list_physical_devices("GPU")
[]
"""

from __future__ import annotations

from typing import Any

from spillway.sessions.devices import (
    LogicalDevice,
    PhysicalDevice,
    get_threads,
    set_threads,
    set_visible_devices,
)
from spillway.sessions.devices import get_device_details as _details
from spillway.sessions.devices import get_memory_growth as _growth
from spillway.sessions.devices import logical_devices as list_logical_devices
from spillway.sessions.devices import physical_devices as list_physical_devices
from spillway.sessions.devices import set_memory_growth as _set_growth
from spillway.sessions.function import functions_run_eagerly, run_functions_eagerly
from spillway.tf import _names

__all__ = [
    "LogicalDevice",
    "PhysicalDevice",
    "experimental",
    "functions_run_eagerly",
    "get_visible_devices",
    "list_logical_devices",
    "list_physical_devices",
    "run_functions_eagerly",
    "set_visible_devices",
    "threading",
]

get_visible_devices = list_physical_devices


class threading:  # noqa: N801  (a module in TensorFlow)
    """How many threads compute."""

    @staticmethod
    def set_intra_op_parallelism_threads(num_threads: int) -> None:
        """The same as `spillway.configure(threads=)`."""
        set_threads("intra", num_threads)

    @staticmethod
    def get_intra_op_parallelism_threads() -> int:
        """What was set; 0: left to the machine."""
        return get_threads("intra")

    @staticmethod
    def set_inter_op_parallelism_threads(num_threads: int) -> None:
        """Kept only: steps share the threads that compute."""
        set_threads("inter", num_threads)

    @staticmethod
    def get_inter_op_parallelism_threads() -> int:
        """What was set; 0: left to the machine."""
        return get_threads("inter")


class experimental:  # noqa: N801  (a module in TensorFlow)
    """The older places of the same names."""

    list_physical_devices = staticmethod(list_physical_devices)
    list_logical_devices = staticmethod(list_logical_devices)
    set_visible_devices = staticmethod(set_visible_devices)
    get_visible_devices = staticmethod(list_physical_devices)
    set_memory_growth = staticmethod(_set_growth)
    get_memory_growth = staticmethod(_growth)
    get_device_details = staticmethod(_details)


def __getattr__(name: str) -> Any:
    raise _names.missing(__name__, name)
