"""The programs that leak, as a user writes them, and the text he is shown for each.

A program runs in a process of its own, as a script: its lines are numbered from 1.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CONSTANTS = """import numpy as np
import spillway.tf as tf

tensor_list = []
for i in range(10000):
    tensor_list.append(tf.constant(np.random.rand(100, 100)))

with tf.compat.v1.Session() as sess:
    for tensor in tensor_list:
        sess.run(tensor)
"""

VARIABLES = """import spillway.tf as tf

v1 = tf.Variable(tf.random.normal([100, 100]))
with tf.name_scope("layer"):
    v2 = tf.Variable(tf.random.normal([100, 100]), name="weights")
layers = []
for i in range(1000):
    layers.append(tf.Variable(tf.random.normal([100, 100])))
"""

SESSIONS = """import spillway.tf as tf

graph = tf.Graph()
with graph.as_default():
    weights = tf.compat.v1.get_variable("w", initializer=tf.ones([512, 512]))
    start = tf.compat.v1.global_variables_initializer()
sess = tf.compat.v1.Session(graph=graph)
sess.run(start)
def forgotten():
    tf.compat.v1.Session(graph=graph).run(start)
forgotten()
with tf.compat.v1.Session(graph=graph) as tidy:
    tidy.run(start)
"""

NODES = """import spillway.tf as tf

graph = tf.Graph()
with graph.as_default(), tf.compat.v1.Session(graph=graph) as sess:
    x = tf.compat.v1.placeholder(tf.float32, [])
    for i in range(200):
        y = x * 2.0
        sess.run(y, {x: float(i)})
"""

REPORT = """
import spillway as sw
print("THE REPORT")
print(sw.leaks())
print(sw.open_sessions())
"""


def told(folder: Path, program: str, limit: str = "2GiB") -> tuple[str, str]:
    """What a program and its report print, and what it is warned of."""
    script = folder / "program.py"
    script.write_text(program + REPORT)
    begin = f"import runpy, spillway as sw; sw.configure(memory_limit={limit!r}); "
    done = subprocess.run(
        [sys.executable, "-c", begin + f"runpy.run_path({str(script)!r}, run_name='__main__')"],
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_ten_thousand_constants_in_a_list(tmp_path: Path) -> None:
    said, warned = told(tmp_path, CONSTANTS)
    place = f"{tmp_path}/program.py:6"
    line = "tensor_list.append(tf.constant(np.random.rand(100, 100)))"
    assert f"memory grows at {place}: {line}\n  1,024 tensors alive, 80.0 MiB" in warned, warned
    assert warned.count("memory grows at") == 4  # and at 2,048, 4,096 and 8,192
    assert f"tensor created 10,000 x at {place} (781 MiB live, +80.0 KiB each)" in said, said
    assert "held by list 'tensor_list' in program.py (10,000 items)" in said, said
    assert "let them go once they were used" in said


def test_ten_thousand_constants_end_on_disk_where_they_do_not_fit(tmp_path: Path) -> None:
    program = CONSTANTS.replace("10000", "3000")
    said, _ = told(tmp_path, program, "128MiB")
    assert f"tensor created 3,000 x at {tmp_path}/program.py:6" in said, said
    assert "MiB more of them wait on disk" in said, said


def test_variables_made_in_a_loop(tmp_path: Path) -> None:
    said, warned = told(tmp_path, VARIABLES)
    place = f"{tmp_path}/program.py:8"
    assert f"variable created 1,000 x at {place} (38.1 MiB live, +39.1 KiB each)" in said, said
    assert "held by list 'layers' in program.py (1,000 items)" in said, said
    assert "make it once, before the loop" in said
    assert said.count("created") == 1, said  # not the values beside the variables, nor v1 and v2
    assert not warned


def test_a_session_that_is_never_closed_and_one_that_nobody_can_reach(tmp_path: Path) -> None:
    said, _ = told(tmp_path, SESSIONS)
    place = f"{tmp_path}/program.py"
    assert f"session made at {place}:7: sess = tf.compat.v1.Session(graph=graph) is open" in said
    assert "is open and holds 1.00 MiB" in said, said
    freed = "1 session was never closed; freed when nobody could reach it any more: "
    assert f"{freed}{place}:10" in said, said
    assert f"[OpenSession(line='{place}:7', bytes=1048576)]" in said, said
    assert ":12" not in said  # the one in `with`


def test_nodes_added_to_a_graph_at_every_step(tmp_path: Path) -> None:
    said, _ = told(tmp_path, NODES)
    place = f"{tmp_path}/program.py:7"
    begin = "adding nodes to a graph in a loop: 200 nodes at "
    assert f"{begin}{place} (200 KiB live, +1.00 KiB a step)" in said, said
    assert "build once, before the loop" in said, said
    assert said.count("adding nodes") == 1, said  # what is fed adds none
