"""`tf.io`: what is here of it: serialized Examples, CSV records, raw bytes, images."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from spillway import arguments as _arguments
from spillway.dtypes import DType, as_dtype
from spillway.native_ops import call
from spillway.native_ops import names as _names
from spillway.ops._image_decode import decode_image
from spillway.shapes import dims_of
from spillway.shown import shown
from spillway.tensor_convert import refuse, to_tensor

for _name, _function in _names("io").items():
    globals().setdefault(_name, _function)

# The engine's numbers of dtypes and kinds of features.
_DTYPES = {"float32": 0, "string": 6, "int64": 8}
_FIXED, _SEQUENCE, _SPARSE = 0, 1, 2


class FixedLenFeature(NamedTuple):
    """A feature of a known shape; one that is missing takes the default, or is an error."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of steps of a known shape."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature of any number of items: sparse, which is not here yet."""

    dtype: Any


class _Described:
    """Features as the op takes them."""

    def __init__(self, features: dict[str, Any]) -> None:
        if not features:
            refuse("ValueError", "Missing features: it must name at least one")
        if not isinstance(features, Mapping) or not all(isinstance(key, str) for key in features):
            refuse("TypeError", f"features must be a dict of names and features: {shown(features)}")
        self.names = sorted(features)
        self.keys = "".join(f"{len(name.encode())}:{name}" for name in self.names)
        self.kinds: list[int] = []
        self.dtypes: list[int] = []
        self.shapes: list[int] = []
        self.defaults: list[int] = []
        self.values: list[Any] = []
        for name in self.names:
            self._add(name, features[name])

    def _add(self, name: str, feature: Any) -> None:
        if isinstance(feature, VarLenFeature):
            refuse(
                "ValueError",
                f"{name}: VarLenFeature gives sparse tensors, which are not here "
                "yet; FixedLenSequenceFeature(..., allow_missing=True) gives a dense one",
            )
        if not isinstance(feature, (FixedLenFeature, FixedLenSequenceFeature)):
            refuse("ValueError", f"Invalid feature {name}:{shown(feature)}.")
        sequence = isinstance(feature, FixedLenSequenceFeature)
        if isinstance(feature, FixedLenSequenceFeature) and not feature.allow_missing:
            refuse("ValueError", f"{name}: FixedLenSequenceFeature requires allow_missing=True")
        if feature.dtype is None:
            refuse("ValueError", f"Missing type for feature {name}: {feature}")
        dtype = as_dtype(feature.dtype)
        if dtype.name not in _DTYPES:
            refuse("ValueError", f"{name}: features hold int64, float32 or string: {dtype}")
        dims = _dims(name, feature)
        self.kinds.append(_SEQUENCE if sequence else _FIXED)
        self.dtypes.append(_DTYPES[dtype.name])
        self.shapes += [len(dims), *dims]
        if feature.default_value is None:
            self.defaults.append(-1)
        else:
            self.defaults.append(len(self.values))
            value = to_tensor(feature.default_value, dtype.name)
            shape = [] if sequence else dims  # a sequence is filled up with one value
            if value.shape.num_elements() != math.prod(shape):
                refuse(
                    "ValueError",
                    f"{name}: the default must fill {shape}. Input to reshape is a tensor with "
                    f"{value.shape.num_elements()} values, but the requested shape has "
                    f"{math.prod(shape)}",
                )
            self.values.append(call("reshape", value, shape))

    def parse(self, op: str, serialized: Any) -> dict[str, Any]:
        made = call(
            op,
            to_tensor(serialized),
            self.values,
            self.keys,
            self.kinds,
            self.dtypes,
            self.shapes,
            self.defaults,
        )
        return dict(zip(self.names, made, strict=True))


def _dims(name: str, feature: Any) -> list[int]:
    """The sizes of a feature's shape, which must all be known."""
    if feature.shape is None:
        refuse("ValueError", f"Missing shape for feature {name}: {feature}")
    dims = dims_of(feature.shape)
    if isinstance(feature, FixedLenFeature) and dims and dims[0] is None:
        refuse(
            "ValueError",
            f"First dimension of shape for feature {name} unknown. Consider using "
            f"FixedLenSequenceFeature: {feature}",
        )
    known = [dim for dim in dims or () if dim is not None]
    if dims is None or len(known) != len(dims):
        refuse(
            "ValueError",
            f"All dimensions of shape for feature {name} need to be known but received "
            f"{feature.shape}",
        )
    return known


def parse_single_example(
    serialized: Any, features: dict[str, Any], example_names: Any = None, name: Any = None
) -> dict[str, Any]:
    """The features of one serialized Example.

    >>> from spillway.tf.train import Example, Feature, Features, Int64List
    >>> feature = Feature(int64_list=Int64List(value=[3]))
    >>> example = Example(features=Features(feature={"a": feature}))
    >>> parse_single_example(example.SerializeToString(), {"a": FixedLenFeature([], "int64")})
    {'a': Tensor(3, shape=(), dtype=int64)}
    """
    return _Described(features).parse("parse_single_example", serialized)


def parse_example(
    serialized: Any, features: dict[str, Any], example_names: Any = None, name: Any = None
) -> dict[str, Any]:
    """The features of a vector of serialized Examples, each one axis more.

    >>> parse_example([b"", b""], {"a": FixedLenFeature([], "int64", default_value=7)})
    {'a': Tensor([7 7], shape=(2,), dtype=int64)}
    """
    return _Described(features).parse("parse_example", serialized)


def decode_csv(
    records: Any,
    record_defaults: Any,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Any = None,
    name: Any = None,
) -> list[Any]:
    """The fields of CSV records: one tensor a column, of its default's type.

    >>> [column.numpy() for column in decode_csv("1,a", [0, ""])]
    [np.int32(1), b'a']
    """
    defaults = [
        _empty(item) if isinstance(item, DType) else to_tensor(item) for item in record_defaults
    ]
    return list(
        call(
            "decode_csv",
            to_tensor(records),
            defaults,
            field_delim,
            use_quote_delim,
            na_value,
            select_cols,
        )
    )


def _empty(dtype: Any) -> Any:
    """A column without a default: required."""
    kind = object if dtype.name == "string" else dtype.as_numpy_dtype
    return to_tensor(np.zeros(0, kind), dtype.name)


__all__ = sorted(
    {
        *_names("io"),
        "FixedLenFeature",
        "FixedLenSequenceFeature",
        "VarLenFeature",
        "decode_csv",
        "decode_image",
        "parse_example",
        "parse_single_example",
    }
)

_arguments.name_errors(__name__, "spillway.ops")
