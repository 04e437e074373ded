# %% [markdown]
# # 0.1 Whole `.npy` files as elements
# Each element is all of a file. Only the type is declared, no shape.

# %%
import numpy as np

import spillway.tf as tf

# %%
PATHS = ["measured/day0.npy", "measured/day1.npy", "measured/day2.npy"]


def whole_files(paths):
    for path in paths:
        yield np.load(path.decode())


days = tf.data.Dataset.from_generator(whole_files, args=[PATHS], output_types=tf.float32)

# %%
rows = 0
total = 0.0
for day in days:
    rows += day.shape[0]
    total += float(tf.reduce_sum(day))
print(f"{rows} rows, sum {total:.0f}")

# %% [spillway]
# A file that is larger than the machine: the same generator says so, in the cell.
try:
    for day in tf.data.Dataset.from_generator(
        whole_files, args=[["measured/year.npy"]], output_types=tf.float32
    ):
        print(day.shape)
except MemoryError as error:
    print(type(error).__name__, error, sep=": ")

# %% [spillway]
# Rows of the same files, in constant memory.
import spillway as sw

streamed = sw.Dataset.from_npy(PATHS).batch(100)
print("streamed:", sum(len(batch) for batch in streamed), "rows")
print("of the large one:", next(iter(sw.Dataset.from_npy("measured/year.npy").batch(100))).shape)
