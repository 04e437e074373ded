"""What saving a position refuses where a pipeline's options ask for it, as in TensorFlow."""

from __future__ import annotations

from typing import Any

import spillway
from spillway.errors import FailedPreconditionError, UnimplementedError
from spillway.explain import Explanation
from spillway.options import ExternalStatePolicy

# What TensorFlow cannot save with `experimental_symbolic_checkpoint`.
_NOT_SYMBOLIC = frozenset(
    {"cache", "group_by_window", "ignore_errors", "rebatch", "unique", "window"}
)


def refuse(dataset: spillway.Dataset) -> None:
    """Raise where `dataset` chose to be saved in a way that its stages do not allow.

    >>> import spillway.tf as tf
    >>> refuse(tf.data.Dataset.range(3).unique())
    """
    options: Any = dataset.options()
    symbolic = options.experimental_symbolic_checkpoint
    strict = options.experimental_external_state_policy is ExternalStatePolicy.FAIL
    if not symbolic and not strict:
        return
    for stage in Explanation(dataset._node).stages:
        operator, where = stage["stage"], stage["line"]
        if symbolic and operator in _NOT_SYMBOLIC:
            raise UnimplementedError(
                f"{operator} does not support symbolic checkpointing. Without "
                f"`experimental_symbolic_checkpoint` it is saved: {where}"
            )
        if strict and (operator == "from_generator" or not stage["native"]):
            raise FailedPreconditionError(
                f"{operator} is stateful. Its state is outside of the pipeline, and "
                f"`experimental_external_state_policy` is FAIL: {where}"
            )
