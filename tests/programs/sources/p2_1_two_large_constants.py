# %% [markdown]
# # 2.1 Two large constants and their product
# The two cannot be multiplied: the last two dimensions do not fit.

# %%
import numpy as np

import spillway.tf as tf

# %%
values = np.random.rand(10000, 10000, 3).astype(np.float32)
first = tf.constant(values)
second = tf.constant(values)

# %%
product = tf.matmul(first, second)
with tf.compat.v1.Session() as session:
    print(session.run(product).shape)

# %% [spillway]
# The same shapes without their bytes: what the product itself says, at its line.
try:
    tf.matmul(tf.zeros([10000, 10000, 3]), tf.zeros([10000, 10000, 3]))
except tf.errors.InvalidArgumentError as error:
    print(type(error).__name__, error, sep=": ")

# %% [spillway]
# Shapes that fit, made and multiplied piece by piece under the limit.
SIZE = 10000
left = tf.random.normal([SIZE, SIZE], seed=1)
right = tf.random.normal([SIZE, SIZE], seed=2)
trace = tf.reduce_mean(tf.square(tf.matmul(left, right)))
print(f"mean square of the product: {float(trace) / SIZE:.2f} of {SIZE}")
