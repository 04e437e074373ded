# %% [markdown]
# # 0.2 A dataset inside the generator
# The generator opens a dataset over each file and hands on its batches.

# %%
import numpy as np

import spillway.tf as tf

# %%
PATHS = ["measured/day0.npy", "measured/day1.npy", "measured/day2.npy"]
BATCH = 64


def batches_of_files(paths, batch_size):
    for path in paths:
        rows = tf.data.Dataset.from_tensor_slices(np.load(path.decode()))
        for batch in rows.batch(batch_size):
            yield batch


batches = tf.data.Dataset.from_generator(
    batches_of_files, args=[PATHS, BATCH], output_types=tf.float32
)
batches = batches.prefetch(tf.data.AUTOTUNE)

# %%
count = 0
total = 0.0
for batch in batches:
    count += 1
    total += float(tf.reduce_sum(batch))
print(f"{count} batches, sum {total:.0f}")

# %% [spillway]
# What is held now that the pass is over, by stage.
import spillway as sw

print(sw.memory())
