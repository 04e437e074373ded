"""The goals of the engine's speed, each one comparison of two medians of the same run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """The `metric` of `row` in `task` is at most `factor` times that of `limit`, plus `plus`."""

    task: str
    metric: str
    unit: str
    text: str
    limit: str = ""
    factor: float = 0.0
    plus: float = 0.0
    row: str = "spillway"

    def bound(self, limit: float) -> float:
        """The largest value that meets the goal, given the limit's."""
        return self.factor * limit + self.plus


GOALS = (
    Goal("p1", "cpu_us", "us", "CPU <= 0.65x two bare threads", "limits", 0.65),
    Goal("p2", "cpu_us", "us", "CPU <= 0.7x DALI", "dali", 0.7),
    Goal("p5a", "cpu_us", "us", "CPU <= 2.5x the bare generator", "limits generator", 2.5),
    Goal("p5b", "cpu_us", "us", "CPU <= 1.2x generator + np.stack", "limits generator", 1.2),
    Goal("p6", "cpu_us", "us", "CPU <= 1.5x fancy indexing", "limits fancy_index", 1.5),
    Goal("range_batch", "cpu_us", "us", "CPU <= 2x np.arange sliced", "limits arange_sliced", 2.0),
    Goal(
        "p11",
        "wall_us",
        "us",
        "rate >= 97 % of a thread and a queue",
        "limits thread_queue",
        1 / 0.97,
    ),
    Goal("p8a", "cpu_us", "us", "CPU <= 1/6 of tf.data's", "tf", 1 / 6),
    Goal("p8a", "cpu_us", "us", "CPU <= 1/2 of Python with a C checksum", "limits python", 1 / 2),
    Goal("p8b", "cpu_us", "us", "CPU <= 1/3 of DALI's", "dali", 1 / 3),
    Goal("p8b", "cpu_us", "us", "CPU <= 1/6 of tf.data's", "tf", 1 / 6),
    Goal("p9", "cpu_us", "us", "CPU <= 1x splitlines", "limits splitlines", 1.0),
    Goal(
        "p9",
        "cpu_us",
        "us",
        "with a bytes object a line, CPU <= 1x splitlines",
        "limits splitlines",
        1.0,
        row="spillway numpy",
    ),
    Goal("p10", "cpu_us", "us", "CPU <= 1.2x readinto", "limits readinto", 1.2),
    Goal("arrays", "wall_us", "us", ">= 5x torch's rate", "torch", 1 / 5),
    Goal("arrays_sum", "wall_us", "us", ">= 5x torch's rate", "torch", 1 / 5),
    Goal("gil", "cpu_us", "us", "CPU <= 1.05x serial", "limits serial", 1.05),
    Goal("start", "warm_ms", "ms", "a second pipeline's first element <= 50 ms", plus=50.0),
    Goal("p12", "import_cpu_ms", "ms", "import <= 1.5x NumPy's + 40 ms", "limits", 1.5, 40.0),
    Goal("p12", "import_mb", "MB", "import <= 40 MB", plus=40.0),
    Goal("p12", "first_ms", "ms", "first element <= 0.5 ms", plus=0.5),
)
