# %% [markdown]
# # 3.1 Four terabytes, twice
# Two random tensors of 10000 x 10000 x 10000 and their product.

# %%
import spillway.tf as tf

# %%
with tf.Graph().as_default():
    a = tf.random.normal([10000, 10000, 10000], dtype=tf.float32)
    b = tf.random.normal([10000, 10000, 10000], dtype=tf.float32)
    c = tf.matmul(a, b)
    with tf.compat.v1.Session() as session:
        print(session.run(c).shape)

# %% [spillway]
# The same once more, with a watch: no byte is asked for, so it takes no time.
import time

with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    huge = tf.random.normal([10000, 10000, 10000])
    begun = time.monotonic()
    try:
        session.run(tf.matmul(huge, huge))
    except MemoryError as error:
        took = 1000 * (time.monotonic() - begun)
        print(f"{type(error).__name__} after {took:.1f} ms")
