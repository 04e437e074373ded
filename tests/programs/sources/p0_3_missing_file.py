# %% [markdown]
# # 0.3 A file that is missing, another that is cut short
# The generator catches both and goes on.

# %%
import os

import numpy as np

import spillway.tf as tf

# %%
PATHS = ["measured/day0.npy", "measured/day1.npy", "measured/lost.npy", "measured/cut.npy"]
BATCH = 64


def careful(paths, batch_size):
    for path in paths:
        path = path.decode()
        if not os.path.exists(path):
            print(f"left out: {path} is not there")
            continue
        try:
            rows = tf.data.Dataset.from_tensor_slices(np.load(path))
            for batch in rows.batch(batch_size):
                yield batch
        except (IOError, ValueError) as error:
            print(f"left out: {path}: {error}")


batches = tf.data.Dataset.from_generator(careful, args=[PATHS, BATCH], output_types=tf.float32)
batches = batches.prefetch(tf.data.AUTOTUNE)

# %%
count = sum(1 for _ in batches)
print(f"{count} batches")

# %% [spillway]
# The same without a generator: every bad file is named once, and the audit balances.
import spillway as sw


def load(path):
    return np.load(path.numpy().decode())


files = sw.Dataset.from_tensor_slices(PATHS).map(
    load, on_error="quarantine", quarantine="bad.jsonl"
)
print("files read:", sum(1 for _ in files))
print(files.audit())
print("put aside:", [path.decode() for path in sw.Dataset.from_quarantine("bad.jsonl")])
