# %% [markdown]
# # 2.2 Ten thousand constants in a list
# Nothing is ever let go of: 763 MiB by the end.

# %%
import numpy as np

import spillway.tf as tf

# %%
COUNT = 10_000
kept = []
for step in range(COUNT):
    kept.append(tf.constant(np.random.rand(100, 100)))

# %%
total = 0.0
with tf.compat.v1.Session() as session:
    for tensor in kept:
        total += session.run(tensor).mean()
print(f"{len(kept)} constants, mean {total / COUNT:.2f}")

# %% [spillway]
# Which line keeps them?
import spillway as sw

print(sw.leaks())
