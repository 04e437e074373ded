# %% [markdown]
# # 1.2 A map that waits
# Every element waits 0.1 s, as for a disk or a service, and makes 4 MiB of numbers.

# %%
import time

import spillway.tf as tf

# %%
ELEMENTS = 10_000


def slow(x):
    time.sleep(0.1)
    return tf.random.normal(shape=(1024, 1024))


made = tf.data.Dataset.range(ELEMENTS)
made = made.map(slow, num_parallel_calls=tf.data.AUTOTUNE)
made = made.batch(32)
made = made.prefetch(tf.data.AUTOTUNE)

# %%
begun = time.monotonic()
rows = 0
for batch in made:
    rows += batch.shape[0]
took = time.monotonic() - begun
print(f"{rows} rows of 4 MiB in {took:.0f} s")
print(f"one after another the waits alone take {ELEMENTS * 0.1:.0f} s")
