"""What variables start from: `tf.compat.v1.initializers`, `tf.zeros_initializer` ..."""

from __future__ import annotations

import math
from typing import Any

from spillway.dtypes import as_dtype, float32


class Initializer:
    """A function of a shape and a dtype that makes a tensor."""

    def __init__(self, dtype: Any = float32) -> None:
        """`dtype`: where a call names none."""
        self.dtype = as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None, **_: Any) -> Any:
        """The tensor."""
        dims = [int(d) for d in (shape.as_list() if hasattr(shape, "as_list") else _listed(shape))]
        return self._make(dims, self.dtype if dtype is None else as_dtype(dtype))

    def _make(self, shape: list[int], dtype: Any) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """What it was made with."""
        return {name: value for name, value in vars(self).items() if name != "dtype"}


def _listed(shape: Any) -> list[Any]:
    return list(shape) if isinstance(shape, (list, tuple)) else [shape]


class Zeros(Initializer):
    """Zeros.

    >>> Zeros()([2]).numpy().tolist()
    [0.0, 0.0]
    """

    def _make(self, shape: list[int], dtype: Any) -> Any:
        from spillway.ops._constants import zeros

        return zeros(shape, dtype)


class Ones(Initializer):
    """Ones.

    >>> Ones()([2], "int32").numpy().tolist()
    [1, 1]
    """

    def _make(self, shape: list[int], dtype: Any) -> Any:
        from spillway.ops._constants import ones

        return ones(shape, dtype)


class Constant(Initializer):
    """One value everywhere, or the values given.

    >>> Constant(3)([2]).numpy().tolist()
    [3.0, 3.0]
    """

    def __init__(self, value: Any = 0, dtype: Any = float32, verify_shape: bool = False) -> None:
        """Of `value`."""
        super().__init__(dtype)
        self.value = value

    def _make(self, shape: list[int], dtype: Any) -> Any:
        from spillway.ops._constants import constant

        return constant(self.value, dtype, shape)


class RandomNormal(Initializer):
    """Normal numbers.

    >>> RandomNormal(seed=1)([2, 3]).shape.as_list()
    [2, 3]
    """

    def __init__(
        self, mean: float = 0.0, stddev: float = 1.0, seed: Any = None, dtype: Any = float32
    ) -> None:
        """Around `mean`."""
        super().__init__(dtype)
        self.mean, self.stddev, self.seed = float(mean), float(stddev), seed

    def _make(self, shape: list[int], dtype: Any) -> Any:
        from spillway.ops import random

        return random.normal(shape, self.mean, self.stddev, dtype, self.seed)


class TruncatedNormal(RandomNormal):
    """Normal numbers within two standard deviations."""

    def _make(self, shape: list[int], dtype: Any) -> Any:
        from spillway.ops import random

        return random.truncated_normal(shape, self.mean, self.stddev, dtype, self.seed)


class RandomUniform(Initializer):
    """Numbers between two others.

    >>> bool((RandomUniform(0, 1)([9]).numpy() < 1).all())
    True
    """

    def __init__(
        self, minval: Any = 0, maxval: Any = None, seed: Any = None, dtype: Any = float32
    ) -> None:
        """From `minval` to `maxval`, which is left out."""
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def _make(self, shape: list[int], dtype: Any) -> Any:
        from spillway.ops import random

        return random.uniform(shape, self.minval, self.maxval, dtype, self.seed)


class _Scaled(Initializer):
    """Numbers whose spread depends on how many inputs and outputs a layer has."""

    def __init__(self, seed: Any = None, dtype: Any = float32) -> None:
        """`seed`: as random ops take it."""
        super().__init__(dtype)
        self.seed = seed


class GlorotUniform(_Scaled):
    """Uniform numbers for a layer, by inputs and outputs together.

    >>> limit = (6 / (100 + 50)) ** 0.5
    >>> bool((abs(GlorotUniform(seed=1)([100, 50]).numpy()) <= limit).all())
    True
    """

    def _make(self, shape: list[int], dtype: Any) -> Any:
        from spillway.ops import random

        inputs, outputs = _fans(shape)
        limit = math.sqrt(6 / max(1.0, inputs + outputs))
        return random.uniform(shape, -limit, limit, dtype, self.seed)


class GlorotNormal(_Scaled):
    """Truncated normal numbers for a layer, by inputs and outputs together."""

    def _make(self, shape: list[int], dtype: Any) -> Any:
        from spillway.ops import random

        inputs, outputs = _fans(shape)
        # 0.8796: what is left of the deviation once it was cut at two
        spread = math.sqrt(2 / max(1.0, inputs + outputs)) / 0.87962566103423978
        return random.truncated_normal(shape, 0.0, spread, dtype, self.seed)


class HeNormal(_Scaled):
    """Truncated normal numbers for a layer, by its inputs."""

    def _make(self, shape: list[int], dtype: Any) -> Any:
        from spillway.ops import random

        spread = math.sqrt(2 / max(1.0, _fans(shape)[0])) / 0.87962566103423978
        return random.truncated_normal(shape, 0.0, spread, dtype, self.seed)


def _fans(shape: list[int]) -> tuple[float, float]:
    """How many values go into and out of one of a layer's units."""
    if not shape:
        return 1.0, 1.0
    if len(shape) == 1:
        return float(shape[0]), float(shape[0])
    receptive = math.prod(shape[:-2])
    return float(shape[-2] * receptive), float(shape[-1] * receptive)
