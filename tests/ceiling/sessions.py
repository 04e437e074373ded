"""Cases: graphs, sessions and variables."""

from __future__ import annotations

import spillway as sw
from tests.ceiling.case import MIB, Facts, case


@case(limit=64 * MIB)
def variables_of_a_session(limit: int) -> Facts:
    """Sixteen variables of 8 MiB in one session: those that wait do so on disk."""
    import spillway.tf as tf

    with tf.Graph().as_default(), tf.Session() as session:
        made = [tf.Variable(tf.zeros([MIB], tf.int64) + i) for i in range(16)]
        one = tf.ones([MIB], tf.int64)
        steps = [v.assign_add(one) for v in made]
        totals = [tf.reduce_max(v) for v in made]
        for v in made:
            session.run(v.initializer)
        for _ in range(2):
            for step in steps:
                session.run(step.op)
        seen = [int(session.run(total)) - 2 for total in totals]
    return Facts(seen, range(16), "on disk")


@case(limit=64 * MIB)
def graph_larger_than_the_limit(limit: int) -> Facts:
    """Refused before it runs, with the numbers; the session goes on, and what is summed fits."""
    import spillway.tf as tf

    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(tf.ones([1000, 1000]))
        session.run(tf.global_variables_initializer())
        big = tf.random.normal([500, 1000, 100])
        try:
            session.run(big)
        except sw.errors.BudgetError as e:
            assert "191 MiB" in str(e) and "64.0 MiB" in str(e), str(e)
            mean = float(session.run(tf.reduce_mean(big + 1.0)))
            assert abs(mean - 1) < 0.01, mean
            assert float(session.run(tf.reduce_sum(v))) == 1e6
            return Facts([1], [1], "BudgetError", {"text": str(e)})
    raise AssertionError("191 MiB were made in 64")


@case(limit=64 * MIB)
def sessions_that_are_never_closed(limit: int) -> Facts:
    """Forty sessions of 8 MiB, none closed: what nobody can reach any more is free again."""
    import spillway.tf as tf

    seen = []
    for i in range(40):
        with tf.Graph().as_default():
            v = tf.Variable(tf.zeros([MIB], tf.int64) + i)
            session = tf.Session()
            session.run(tf.global_variables_initializer())
            seen.append(int(session.run(tf.reduce_max(v))))
    return Facts(seen, range(40), "collected")
