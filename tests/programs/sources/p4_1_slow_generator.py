# %% [markdown]
# # 4.1 A slow generator
# 0.1 s an item; ten items are taken.

# %%
import time

import numpy as np

import spillway.tf as tf


# %%
def slow_items(count):
    for i in range(count):
        time.sleep(0.1)
        yield np.random.rand(10, 10), np.random.randint(0, 10)


signature = (
    tf.TensorSpec(shape=(10, 10), dtype=tf.float64),
    tf.TensorSpec(shape=(), dtype=tf.int32),
)
items = tf.data.Dataset.from_generator(slow_items, output_signature=signature, args=[100])

# %%
begun = time.monotonic()
got = sum(1 for _ in items.take(10))
print(f"{got} items in {time.monotonic() - begun:.2f} s; the generator alone needs 1.00 s")

# %%
# A consumer that works for as long as the generator: side by side, or one after the other?
begun = time.monotonic()
for item in items.take(10):
    time.sleep(0.1)
print(f"with 1.00 s of the consumer's own work: {time.monotonic() - begun:.2f} s")
