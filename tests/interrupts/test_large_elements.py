"""Pipelines whose elements take long, stopped at looks of theirs: every element arrives once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import spillway as sw
import spillway.tf as tf
from spillway import native_ops

native = native_ops.native
SEED = int(os.environ.get("SPILLWAY_SEED", str(int(time.time()) % 10**6)))
SIDE, ROWS, STOPS = 700, 3, 12

pytestmark = pytest.mark.skipif(not native.test_points, reason="needs test points")


class StoppedError(Exception):
    """What the handler raises."""


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise StoppedError

    before = signal.signal(signal.SIGALRM, stop)
    yield
    native.at_test_point("interrupt_look", None)
    signal.signal(signal.SIGALRM, before)


def stop_after(looks: int) -> None:
    """A signal at the look of that number from now on."""
    left = [looks]

    def here() -> None:
        left[0] -= 1
        if left[0] > 0:
            native.at_test_point("interrupt_look", here)
            return
        native.interrupt_looks()  # the next look asks
        signal.raise_signal(signal.SIGALRM)

    native.at_test_point("interrupt_look", here)


def pictures() -> list[Any]:
    chance = np.random.default_rng(1)
    return [chance.integers(0, 256, (SIDE, SIDE, 3), np.uint8) for _ in range(ROWS)]


def encoded(kind: Callable[[Any], Any]) -> list[bytes]:
    return [bytes(kind(tf.constant(each)).numpy()) for each in pictures()]


def jpegs() -> Any:
    return tf.data.Dataset.from_tensor_slices(encoded(tf.io.encode_jpeg))


def pngs() -> Any:
    return tf.data.Dataset.from_tensor_slices(encoded(tf.io.encode_png))


def arrays() -> Any:
    items = np.random.default_rng(2).random((ROWS, 400_000), np.float32)
    return tf.data.Dataset.from_tensor_slices(items)


def small(image: Any) -> Any:
    return tf.image.resize(tf.io.decode_jpeg(image, 3), [300, 300])


PIPELINES: dict[str, Callable[[], Any]] = {
    "decoded": lambda: jpegs().map(tf.io.decode_jpeg),
    "decoded and resized": lambda: jpegs().map(small),
    "png skipped": lambda: pngs().map(tf.io.decode_png, on_error="skip"),
    "in parallel": lambda: jpegs().map(small, num_parallel_calls=2),
    "sorted": lambda: arrays().map(lambda x: tf.sort(x)),
    "in a batch": lambda: arrays().map(lambda x: tf.cumsum(tf.reverse(x, [0]))).batch(2),
    "gathered": lambda: arrays().map(lambda x: tf.gather(x, tf.argsort(x)), on_error="retry"),
    "shuffled": lambda: (
        arrays().map(lambda x: tf.sort(x)).shuffle(2, seed=1, reshuffle_each_iteration=False)
    ),
    "of unknown sizes": lambda: arrays().map(lambda x: tf.unique(x)[0]),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pass_that_is_stopped_within_elements_delivers_each_once(name: str) -> None:
    print(f"seed {SEED}")
    random = Random(SEED)
    ds = PIPELINES[name]()
    want = [each.numpy() for each in ds]
    native.interrupt_looks()
    list(ds)
    looks = native.interrupt_looks()[0]
    assert looks >= ROWS
    it = iter(ds)
    got: list[Any] = []
    stops = 0
    while True:
        if stops < STOPS:
            stop_after(random.randrange(1, looks // ROWS + 2))
        try:
            got.append(next(it).numpy())
        except StopIteration:
            break
        except StoppedError:
            stops += 1
    assert stops > 0
    assert len(got) == len(want)
    for a, b in zip(want, got, strict=True):
        np.testing.assert_array_equal(a, b)
    audit = it.audit()
    assert (audit.delivered, audit.skipped, audit.failed) == (ROWS, 0, 0)  # rows of the source


def test_a_check_of_pictures_that_is_stopped_finds_no_problem(tmp_path: Path) -> None:
    for at, each in enumerate(encoded(tf.io.encode_jpeg)):
        (tmp_path / f"{at}.jpg").write_bytes(each)
    ds = sw.Dataset.list_files(str(tmp_path / "*.jpg")).map(
        lambda path: small(tf.io.read_file(path))
    )
    native.interrupt_looks()
    assert not list(ds.check(progress=False))
    looks = native.interrupt_looks()[0]
    random = Random(SEED)
    for _ in range(6):
        stop_after(random.randrange(1, looks + 1))
        try:
            assert not list(ds.check(progress=False))
        except StoppedError:
            continue
    native.at_test_point("interrupt_look", None)
    assert not list(ds.check(progress=False))
