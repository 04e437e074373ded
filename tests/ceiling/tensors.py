"""Cases: tensors and traced functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import spillway as sw
from tests.ceiling.case import MIB, WORDS, Facts, case, number_of


@case(limit=64 * MIB)
def sum_of_more_than_memory(limit: int) -> Facts:
    """800 MB of random numbers, never held: made, worked on and summed in blocks."""
    import spillway.tf as tf

    x = tf.random.normal([1000, 1000, 200], seed=5)
    mean = float(tf.reduce_mean(x * 2 + 1))
    assert abs(mean - 1) < 0.01, mean
    return Facts([1], [1], "in blocks")


@case(limit=64 * MIB)
def tensor_larger_than_the_limit(limit: int) -> Facts:
    """Refused where its value is asked for, with the numbers; what was held is still there."""
    import spillway.tf as tf

    small = tf.ones([1000, 1000]) + 1.0
    assert float(tf.reduce_sum(small)) == 2e6
    try:
        (tf.zeros([1000, 1000, 100]) + 1.0).numpy()
    except sw.errors.BudgetError as e:
        assert "381 MiB" in str(e) and "64.0 MiB" in str(e), str(e)
        assert float(tf.reduce_sum(small)) == 2e6
        return Facts([1], [1], "BudgetError", {"text": str(e)})
    raise AssertionError("381 MiB were made in 64")


@case(limit=64 * MIB)
def sum_over_scattered_axes(limit: int) -> Facts:
    """Axes that do not lie side by side are brought together a little at a time."""
    import spillway.tf as tf

    x = tf.random.normal([200, 500, 100], seed=5)
    host = x.numpy()
    sums = tf.reduce_sum(x, axis=[0, 2]).numpy()
    assert np.allclose(sums, host.sum(axis=(0, 2)), atol=1e-2)
    return Facts([1], [1], "in blocks")


@case(limit=64 * MIB)
def op_beside_arrays_that_are_kept(limit: int) -> Facts:
    """What the program itself shows in arrays is never waited for: a BudgetError, at once."""
    import spillway.tf as tf

    kept = tf.random.normal([10 * MIB], seed=5)
    shown = kept.numpy()
    first = float(shown[0])
    try:
        tf.sort(kept).numpy()
    except sw.errors.BudgetError as e:
        assert "tensors" in str(e), str(e)
        assert float(kept[0]) == float(shown[0]) == first
        return Facts([1], [1], "BudgetError", {"text": str(e)})
    raise AssertionError("40 MiB were sorted beside 40 in 64")


@case(limit=64 * MIB)
def tensors_that_go_to_disk(limit: int) -> Facts:
    """Twenty-four tensors of 8 MiB, all kept: the oldest wait on disk and come back when used."""
    import spillway.tf as tf

    kept = []
    for number in range(24):
        kept.append(tf.zeros([MIB], tf.int64) + number)
        assert int(kept[-1].numpy()[0]) == number  # its value is made now
    seen = [int(tf.reduce_max(x)) for x in kept]
    again = [int(tf.reduce_min(x + x)) // 2 for x in reversed(kept)]
    assert again == seen[::-1], again
    return Facts(seen, range(24), "on disk")


@case(limit=64 * MIB)
def constants_in_a_list(limit: int) -> Facts:
    """2,000 constants of 80 KB, all kept: warned of by their line, and the cold ones spill."""
    import warnings

    import spillway.tf as tf

    kept = []
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for number in range(2000):
            kept.append(tf.constant(np.full([100, 100], float(number))))
    texts = [str(w.message) for w in told if "memory grows at" in str(w.message)]
    assert len(texts) == 1, texts
    assert "kept.append" in texts[0] and "tensors alive" in texts[0], texts[0]
    assert "list 'kept'" in texts[0] and "each" in texts[0], texts[0]
    leak = next(each for each in sw.leaks() if each.what == "tensor" and "tensors.py" in each.line)
    assert leak.count == 2000 and leak.bytes < limit, leak
    assert leak.bytes + leak.on_disk >= 2000 * 80_000, leak
    seen = [int(x.numpy()[0, 0]) for x in kept]
    return Facts(seen, range(2000), "on disk", {"warned": texts[0], "report": repr(sw.leaks())})


@case(limit=96 * MIB)
def elements_that_are_kept(limit: int) -> Facts:
    """A traced map of 1 MiB tensors, every one kept: they go to disk, and nothing is lost."""
    import spillway.tf as tf

    def grown(x: Any) -> Any:
        return tf.zeros([WORDS], tf.int64) + x

    ds = tf.data.Dataset.range(400).map(grown)
    assert ds.explain().stages[-1]["native"]
    kept = list(ds)
    return Facts([number_of(np.array(x)) for x in kept], range(400), "on disk")


@case(limit=96 * MIB)
def traced_maps_in_a_row(limit: int) -> Facts:
    """Three traced maps of 4 MiB elements, batched: bounded by the limit like any stage."""
    import spillway.tf as tf

    ds = tf.data.Dataset.range(200).map(lambda x: tf.zeros([4 * WORDS], tf.int64) + x)
    ds = ds.map(lambda x: x + 1).map(lambda x: x - 1).batch(4)
    seen: list[int] = []
    for batch in ds:
        seen += [number_of(row) for row in np.asarray(batch)]
    return Facts(seen, range(200), "in order")


@case(limit=64 * MIB)
def wide_photographs(limit: int) -> Facts:
    """JPEG images of 6 MB, several at once: what a decoder works in is charged, too."""
    import spillway.tf as tf

    noise = np.random.default_rng(3).integers(0, 256, (256, 8000, 3), dtype=np.uint8)
    file = tf.io.encode_jpeg(noise, quality=90).numpy()
    expected = int(tf.io.decode_jpeg(file).numpy().sum(dtype="int64"))
    ds = tf.data.Dataset.range(40).map(
        lambda i: (i, tf.io.decode_jpeg(file)), num_parallel_calls=tf.data.AUTOTUNE
    )
    seen = []
    for number, pixels in ds:
        assert int(pixels.numpy().sum(dtype="int64")) == expected
        seen.append(int(number))
    return Facts(seen, range(40), "in order")
