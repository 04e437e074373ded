# %% [markdown]
# # 1.3 A thousand text files, some of them damaged
# Cut short in the middle of a character, empty, or not UTF-8.

# %%
import spillway.tf as tf

# %%
PATHS = [f"texts/{i:03}.txt" for i in range(1_000)]


def read(path):
    return tf.io.read_file(path)


texts = tf.data.Dataset.from_tensor_slices(PATHS)
texts = texts.map(read, num_parallel_calls=tf.data.AUTOTUNE)
texts = texts.batch(32)
texts = texts.prefetch(tf.data.AUTOTUNE)

# %%
files = 0
size = 0
for batch in texts:
    files += batch.shape[0]
    size += sum(len(text) for text in batch.numpy())
print(f"{files} files, {size} bytes")

# %% [spillway]
# Before training: which of them are no text?
found = texts.check(text="utf-8", progress=False)
print(found)
