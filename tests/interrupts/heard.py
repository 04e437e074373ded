"""`python -m tests.interrupts.heard [NAME...]`: how long large computations take to hear Ctrl-C.

Each is begun, interrupted once after a while, and has to end with KeyboardInterrupt before it is
done. The milliseconds are printed, and judged by nobody: machines are busy.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import spillway as sw
import spillway.tf as tf

SIZE = float(os.environ.get("SPILLWAY_HEARD_SIZE", "1"))


AFTER_S = 0.03  # an idle machine with many CPUs must not be done by then


def big(n: int) -> int:
    return max(8, int(n * SIZE))


def square(n: int) -> Any:
    return tf.random.stateless_uniform([big(n), big(n)], seed=[1, 2])


def evaluated(x: Any) -> Any:
    _ = x.numpy()[:1]
    return x


def matmul() -> Callable[[], Any]:
    a = evaluated(square(9000))
    return lambda: (a @ a).numpy()


def matmul_complex() -> Callable[[], Any]:
    a = evaluated(tf.cast(square(1500), tf.complex64))
    return lambda: (a @ a).numpy()


def elementwise() -> Callable[[], Any]:
    a = evaluated(square(12000))

    def work() -> Any:
        x = a
        for _ in range(40):
            x = tf.sin(x) + tf.exp(x * 0.1)
        return x.numpy()

    return work


def reduction() -> Callable[[], Any]:
    return lambda: tf.reduce_sum(tf.exp(tf.random.normal([big(4000), big(4000), 40]))).numpy()


def sort() -> Callable[[], Any]:
    a = evaluated(tf.reshape(square(8000), [-1]))
    return lambda: tf.sort(a).numpy()


def sort_rows() -> Callable[[], Any]:
    a = evaluated(square(9000))
    return lambda: tf.sort(a, axis=-1).numpy()


def conv() -> Callable[[], Any]:
    x = evaluated(tf.reshape(square(4096), [16, big(4096) // 4, big(4096) // 16, 4]))
    k = tf.random.normal([5, 5, 4, 64])
    return lambda: tf.nn.conv2d(x, k, strides=1, padding="SAME").numpy()


def random() -> Callable[[], Any]:
    return lambda: tf.random.normal([big(20000), big(20000)]).numpy()


def cumsum() -> Callable[[], Any]:
    a = evaluated(square(16000))
    return lambda: tf.cumsum(a, axis=0).numpy()


def save_npy() -> Callable[[], Any]:
    folder = tempfile.mkdtemp()
    a = tf.random.normal([big(16000), big(16000)])
    return lambda: sw.save_npy(os.path.join(folder, "a.npy"), a)


def load_npy() -> Callable[[], Any]:
    path = os.path.join(tempfile.mkdtemp(), "a.npy")
    np.save(path, np.zeros((big(20000), big(20000)), np.float32))
    return lambda: sw.load_npy(path).numpy()


def product_of_files() -> Callable[[], Any]:
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "a.npy")
    np.save(path, np.ones((big(7000), big(7000)), np.float32))
    return lambda: sw.save_npy(os.path.join(folder, "c.npy"), sw.load_npy(path) @ sw.load_npy(path))


def session_run() -> Callable[[], Any]:
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, (None, None))
        y = tf.reduce_sum(tf.matmul(x, x))
        session = tf.compat.v1.Session()
        given = np.ones((big(8000), big(8000)), np.float32)
        return lambda: session.run(y, {x: given})


def saved_dataset() -> Callable[[], Any]:
    folder = tempfile.mkdtemp()
    ds = sw.Dataset.range(10**9)
    return lambda: ds.save(folder)


def traced_map() -> Callable[[], Any]:
    a = np.ones((big(5000), big(5000)), np.float32)
    ds = tf.data.Dataset.from_tensors(a).map(lambda x: tf.matmul(x, x))
    return lambda: next(iter(ds))


def forecast() -> Callable[[], Any]:
    ds = sw.Dataset.range(1)
    for _ in range(2000):
        ds = ds.map(lambda x: x + 1)
    return lambda: [ds.forecast() for _ in range(1000)]


CASES: dict[str, Callable[[], Callable[[], Any]]] = {
    each.__name__: each
    for each in (
        matmul, matmul_complex, elementwise, reduction, sort, sort_rows, conv, random, cumsum,
        save_npy, load_npy, product_of_files, session_run, saved_dataset, traced_map, forecast,
    )
}  # fmt: skip


def heard_after(make: Callable[[], Callable[[], Any]], after_s: float) -> float | None:
    """Seconds from Ctrl-C to its exception; None: the work was done first."""
    work = make()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    due = time.monotonic() + after_s
    signal.setitimer(signal.ITIMER_REAL, after_s)
    try:
        work()
    except KeyboardInterrupt:
        return time.monotonic() - due
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def main(names: list[str]) -> int:
    unheard = 0
    for name in names or list(CASES):
        took = heard_after(CASES[name], AFTER_S)
        unheard += took is None
        print(f"{name:20} " + ("done first" if took is None else f"{1000 * took:8.0f} ms"))
    return unheard


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
