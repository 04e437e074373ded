# %% [markdown]
# # 3.2 Variables, in name scopes and without
# And the same variable made again in every step of a loop.

# %%
import spillway.tf as tf

# %%
first = tf.Variable(tf.random.normal([1000, 1000]))
second = tf.Variable(tf.random.normal([1000, 1000]))
with tf.name_scope("encoder"):
    weights = tf.Variable(tf.random.normal([1000, 1000]), name="weights")
    bias = tf.Variable(tf.zeros([1000]), name="bias")
print(first.shape, weights.name, bias.name)

# %%
made = []
for step in range(1_000):
    with tf.name_scope("encoder"):
        made.append(tf.Variable(tf.random.normal([100, 100]), name="weights"))
print(len(made), "variables named", made[-1].name)

# %% [spillway]
# Which line makes them again and again?
import spillway as sw

print(sw.leaks())
