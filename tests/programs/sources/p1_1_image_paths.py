# %% [markdown]
# # 1.1 A hundred thousand images
# Read, decode, resize, scale; in parallel, in batches, ahead of the consumer.

# %%
import spillway.tf as tf

# %%
IMAGES = 100_000
PATHS = [f"images/{i % 300:03}.jpg" for i in range(IMAGES)]


def load(path):
    data = tf.io.read_file(path)
    image = tf.io.decode_image(data, channels=3)
    image = tf.image.resize(image, [256, 256])
    return tf.cast(image, tf.float32) / 255.0


images = tf.data.Dataset.from_tensor_slices(PATHS)
images = images.map(load, num_parallel_calls=tf.data.AUTOTUNE)
images = images.batch(32)
images = images.prefetch(tf.data.AUTOTUNE)

# %%
count = 0
for batch in images:
    count += batch.shape[0]
print(f"{count} images, the last batch {tuple(batch.shape)}")

# %% [spillway]
# Three paths that are missing or damaged: skipped, and named.
spoilt = PATHS[:61] + ["images/lost.jpg", "images/cut.jpg", "images/text.jpg"]
spoilt = tf.data.Dataset.from_tensor_slices(spoilt)
spoilt = spoilt.map(load, num_parallel_calls=tf.data.AUTOTUNE, on_error="skip").batch(32)
print([batch.shape[0] for batch in spoilt])
for entry in spoilt.audit().entries:
    print(f"{entry.file}: {entry.message}")
