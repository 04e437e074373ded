# %% [markdown]
# # 2.3 A sum of shapes that differ
# The program expects the error, and catches it by its class.

# %%
import numpy as np

import spillway.tf as tf

# %%
small = tf.constant(np.random.rand(10, 10))
large = tf.constant(np.random.rand(20, 20))
try:
    total = tf.add(small, large)
    with tf.compat.v1.Session() as session:
        session.run(total)
except tf.errors.InvalidArgumentError as error:
    print(f"caught: {error}")
