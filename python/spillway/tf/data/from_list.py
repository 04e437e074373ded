"""`from_list`: elements of a Python list, whose shapes may differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from spillway import nest
from spillway.specs import DatasetSpec, TensorSpec
from spillway.tensor import convert_to_tensor
from spillway.tf.data.dataset import Dataset


def from_list(elements: list[Any], name: str | None = None) -> Dataset:
    """One element for each of the list; they must agree in form and dtypes, not in shapes.

    >>> import spillway.tf as tf
    >>> ds = tf.data.experimental.from_list([(1, "a"), (2, "b")])
    >>> [(int(n), s.numpy()) for n, s in ds]
    [(1, b'a'), (2, b'b')]
    """
    if not isinstance(elements, list):
        raise ValueError("Invalid `elements`. `elements` must be a list.")
    if not elements:
        raise ValueError(
            "Invalid `elements`. `elements` should not be empty. If you want an empty dataset, "
            "use `tf.data.Dataset.range(0)`."
        )
    taken = [nest.map_structure(_tensor, element) for element in elements]
    specs = [nest.map_structure(_spec, element) for element in taken]
    for other in specs[1:]:
        nest.assert_same_structure(specs[0], other)
    columns = zip(*[nest.flatten(spec) for spec in specs], strict=True)
    joined = [column[0].most_specific_common_supertype(column[1:]) for column in columns]
    for position, spec in enumerate(joined):
        if spec is None:
            dtypes = sorted({str(nest.flatten(one)[position].dtype) for one in specs})
            raise TypeError(
                "from_list: a component must have one dtype in all elements: component "
                f"{position} has {', '.join(dtypes)}"
            )
    spec = nest.pack_like(specs[0], joined)
    plain = [nest.map_structure(_plain, element) for element in taken]
    known = [isinstance(leaf, TensorSpec) and leaf.shape.is_fully_defined() for leaf in joined]
    if all(known):
        columns = zip(*[nest.flatten(element) for element in plain], strict=True)
        arrays = [_stack(column, leaf.dtype) for column, leaf in zip(columns, joined, strict=True)]
        made: Any = Dataset.from_tensor_slices(nest.pack_like(spec, arrays), name=name)
        return made  # type: ignore[no-any-return]

    def pick(index: Any) -> Any:
        return plain[int(index)]

    picked: Any = Dataset.range(len(plain))
    return picked.map(pick, output_signature=spec, name=name)  # type: ignore[no-any-return]


def _tensor(value: Any) -> Any:
    return value if isinstance(value, Dataset) else convert_to_tensor(value)


def _spec(value: Any) -> Any:
    dataset = isinstance(value, Dataset)
    return DatasetSpec.from_value(value) if dataset else TensorSpec.from_tensor(value)


def _plain(value: Any) -> Any:
    return value if isinstance(value, Dataset) else value.numpy()


def _stack(values: Any, dtype: Any) -> np.ndarray[Any, Any]:
    if dtype.name != "string":
        return np.stack(values)
    out = np.empty((len(values), *np.shape(values[0])), object)
    for row, value in enumerate(values):
        out[row] = value
    return out
