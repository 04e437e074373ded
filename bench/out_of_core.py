"""How fast is a product of matrices that does not fit, beside the same one in memory?

`python bench/out_of_core.py [SIDE] [LIMIT_MIB] [ROUNDS]`: SIDE^3 float32 from two .npy files into
a third under the limit, and in memory, by turns in one run; GFLOP/s of both, the ratio, what was
planned and the most that was resident. The ratio for CPU seconds, too: the fair one on a busy
machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

OUTSIDE = """
import json, sys, time
from pathlib import Path
import spillway as sw
folder, limit = Path(sys.argv[1]), int(sys.argv[2])
def resident(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(l.split()[1]) * 1024 for l in lines if l.startswith(key))
with sw.configure(memory_limit=limit):
    c = sw.load_npy(folder / "a.npy") @ sw.load_npy(folder / "b.npy")
    before = resident("VmRSS")
    began, used = time.perf_counter(), time.process_time()
    sw.save_npy(folder / "c.npy", c)
    took, used = time.perf_counter() - began, time.process_time() - used
    peak = sw.memory().peak
more = resident("VmHWM") - before
print(json.dumps({"seconds": took, "cpu": used, "ledger": peak, "resident": more}))
"""


def main() -> None:
    side, limit, rounds = (*map(int, sys.argv[1:]), *(8192, 64, 2)[len(sys.argv) - 1 :])
    import spillway.tf as tf

    work = 2 * side**3 / 1e9
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        draw = np.random.default_rng(1)
        arrays = [draw.standard_normal((side, side), "f4") for _ in range(2)]
        for path, array in zip(("a.npy", "b.npy"), arrays, strict=True):
            np.save(folder / path, array)
        a, b = map(tf.constant, arrays)
        for _ in range(rounds):
            began, used = time.perf_counter(), time.process_time()
            inside = (a @ b).numpy()
            in_memory = work / (time.perf_counter() - began)
            of_cpu = work / (time.process_time() - used)
            said = subprocess.run(
                [sys.executable, "-c", OUTSIDE, name, str(limit << 20)],
                check=True,
                capture_output=True,
                text=True,
            )
            facts = json.loads(said.stdout)
            on_disk = work / facts["seconds"]
            same = np.array_equal(np.load(folder / "c.npy", mmap_mode="r"), inside)
            of_both = work / facts["cpu"]
            print(
                f"in memory {in_memory:.0f} GFLOP/s, in {limit} MiB {on_disk:.0f} GFLOP/s, "
                f"{on_disk / in_memory:.0%} (of a CPU second: {of_cpu:.0f} and {of_both:.0f}, "
                f"{of_both / of_cpu:.0%}); ledger's peak {facts['ledger'] / 2**20:.1f} MiB, "
                f"resident {facts['resident'] / 2**20:.1f} MiB more; the same bits: {same}",
                flush=True,
            )
            del inside


if __name__ == "__main__":
    main()
