"""Two bare threads with simplejpeg and OpenCV: what a careful loop by hand reaches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from bench import image_arrays as arrays
from bench.image_tasks import ImageCase, batched
from bench.tasks import Pipeline

ENVIRONMENT = "limits"
WITHOUT = {
    "p1_tfrecord": "a limit of p1",
    "p1_tar": "a limit of p1",
    "p1_100k": "a limit of p1",
}
Load = Callable[[str], arrays.Image]


def _two_threads(load: Load, paths: list[str], size: int) -> Iterator[NDArray[np.float32]]:
    ahead: deque[list[Future[arrays.Image]]] = deque()
    with ThreadPoolExecutor(2) as pool:
        for i in range(0, len(paths), size):
            ahead.append([pool.submit(load, path) for path in paths[i : i + size]])
            if len(ahead) > 4:
                yield np.stack([done.result() for done in ahead.popleft()])
        for waiting in ahead:
            yield np.stack([done.result() for done in waiting])


def p1(case: ImageCase) -> Pipeline:
    """Two threads."""
    return _two_threads(arrays.load_simplejpeg, case.paths, 32)


def p1__serial(case: ImageCase) -> Pipeline:
    """One after another."""
    return batched(map(arrays.load_simplejpeg, case.paths), 32)


def p2(case: ImageCase) -> Pipeline:
    """Two threads."""
    return _two_threads(arrays.augment_simplejpeg, case.paths, 64)
