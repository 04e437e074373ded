"""`rejection_resample`, made of other operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

import spillway
from spillway.shown import shown
from spillway.tensor_convert import array_of, refuse

if TYPE_CHECKING:
    from spillway.tf.data.dataset import Dataset

_SEEN_BEFORE = 10  # of each class, before the first: TensorFlow's smoothing
_DRAWS = 2.0**32  # what `Dataset.random` draws from


def resample(
    ds: Dataset,
    class_func: Callable[..., Any],
    target_dist: Any,
    initial_dist: Any,
    seed: int | None,
    name: str | None,
) -> Dataset:
    """Keeps an element with a probability in proportion to wanted over found."""
    from spillway.tf.data.inference import result_spec

    wanted = array_of(target_dist, np.float64)
    known = None if initial_dist is None else array_of(initial_dist, np.float64)
    for name_, given in (("target_dist", wanted), ("initial_dist", known)):
        if given is not None and not (np.isfinite(given) & (given >= 0)).all():
            refuse("ValueError", f"`{name_}` must be finite and not negative: {shown(given)}")
    if known is not None and known.shape != wanted.shape:
        refuse(
            "ValueError",
            "Incompatible shapes: `initial_dist` and `target_dist` must have the same shape: "
            f"{known.shape} and {wanted.shape}",
        )

    if known is not None and np.array_equal(known, wanted):  # as they are: nothing is rejected
        return ds.map(lambda *data: (class_func(*data), _one(data)), name=name)

    def decide(seen: Any, drawn_and_data: Any) -> Any:
        drawn, data = drawn_and_data
        label = class_func(*data) if isinstance(data, tuple) else class_func(data)
        counts = np.array(seen)
        counts[int(label)] += 1
        found = known if known is not None else counts / counts.sum()
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(found > 0, wanted / found, 0.0)
        accepted = ratio[int(label)] / ratio.max()
        return counts, (np.bool_(float(drawn) / _DRAWS < accepted), label, data)

    draws = spillway.Dataset.random(seed=seed, rerandomize_each_iteration=True)
    seen = np.full(wanted.shape, _SEEN_BEFORE, np.int64)
    pairs = type(ds).zip(draws, ds).scan(seen, decide, name=name)
    kept: Any = pairs.filter(lambda keep, label, data: keep, name=name)
    element = ds.element_spec
    label = result_spec(class_func, element)
    signature = None if label is None else (label, element)
    return kept.map(  # type: ignore[no-any-return]
        lambda keep, label, data: (label, data), output_signature=signature, name=name
    )


def _one(data: tuple[Any, ...]) -> Any:
    return data if len(data) > 1 else data[0]
