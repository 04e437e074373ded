# %% [markdown]
# # 4.3 An async generator, wrapped by hand
# Every item is awaited by an `asyncio.run` of its own.

# %%
import asyncio
import time

import numpy as np

import spillway.tf as tf


# %%
async def awaited_items(count):
    for i in range(count):
        await asyncio.sleep(0.1)
        yield np.random.rand(10, 10), np.random.randint(0, 10)


def one_by_one(source):
    iterator = source.__aiter__()

    async def following():
        try:
            return await iterator.__anext__()
        except StopAsyncIteration:
            raise StopIteration

    while True:
        yield asyncio.run(following())


signature = (
    tf.TensorSpec(shape=(10, 10), dtype=tf.float64),
    tf.TensorSpec(shape=(), dtype=tf.int32),
)
items = tf.data.Dataset.from_generator(
    one_by_one, output_signature=signature, args=[awaited_items(100)]
)

# %%
begun = time.monotonic()
got = sum(1 for _ in items.take(10))
print(f"{got} items in {time.monotonic() - begun:.2f} s")

# %% [spillway]
# Without the wrapper: the async generator itself.
direct = tf.data.Dataset.from_generator(awaited_items, output_signature=signature, args=[100])
begun = time.monotonic()
got = sum(1 for _ in direct.take(10))
print(f"{got} items in {time.monotonic() - begun:.2f} s, taken directly")
