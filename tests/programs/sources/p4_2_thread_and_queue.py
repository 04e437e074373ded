# %% [markdown]
# # 4.2 A thread and a queue
# A thread fills a queue of ten; the generator is handed the queue through `args`.

# %%
import threading
import time
from queue import Queue

import numpy as np

import spillway.tf as tf


# %%
def fill(count, waiting):
    for i in range(count):
        time.sleep(0.1)
        waiting.put((np.random.rand(10, 10), np.random.randint(0, 10)))


def items_of(waiting):
    while True:
        yield waiting.get()


waiting = Queue(maxsize=10)
threading.Thread(target=fill, args=(100, waiting), name="producer", daemon=True).start()

# %%
signature = (
    tf.TensorSpec(shape=(10, 10), dtype=tf.float64),
    tf.TensorSpec(shape=(), dtype=tf.int32),
)
items = tf.data.Dataset.from_generator(items_of, output_signature=signature, args=[waiting])

begun = time.monotonic()
got = sum(1 for _ in items.take(10))
print(f"{got} items in {time.monotonic() - begun:.2f} s; the thread alone needs 1.00 s")
