# %% [markdown]
# # 3.3 A session that nobody closes
# And one that is closed by its `with`.

# %%
import spillway.tf as tf

# %%
numbers = tf.random.normal([1000, 1000])
left_open = tf.compat.v1.Session()
print("open:", left_open.run(tf.reduce_sum(numbers)).shape)

# %%
with tf.compat.v1.Session() as session:
    print("closed:", session.run(tf.reduce_sum(numbers)).shape)

# %% [spillway]
# Which sessions are open, and who opened them?
import spillway as sw

for session in sw.open_sessions():
    print(session)
