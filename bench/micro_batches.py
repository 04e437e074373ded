"""What does a network cost whose batch needs eight times the memory it may have?

`python -m bench.micro_batches [BATCH] [SIDE] [ROUNDS]`: ResNet-18 on images, by turns in one run:
Spillway on a file of them, under an eighth of what the plan for all at once would hold; Spillway
and TensorFlow (eager, and as a tf.function) with all memory, ONNX Runtime. Images a second and a
CPU second, planned and measured peaks, and the largest difference from TensorFlow's result.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from bench.environments import PROJECT, ROOT, python_of

# Each reads x.npy and weights.npz in its folder, runs the network once to warm up on a few images,
# then once on all, and writes y.npy.
_FRAME = """
import json, sys, time
from pathlib import Path
import numpy as np
sys.path.insert(0, {root!r})
folder, limit = Path(sys.argv[1]), int(sys.argv[2])
facts = {{}}
def resident(key):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(l.split()[1]) * 1024 for l in lines if l.startswith(key))
weights = dict(np.load(folder / "weights.npz"))
{setup}
few = np.load(folder / "few.npy")
run(few)
facts["before"] = resident("VmRSS")
began, used = time.perf_counter(), time.process_time()
{all}
facts["seconds"] = time.perf_counter() - began
facts["cpu"] = time.process_time() - used
facts["peak"] = resident("VmHWM")
np.save(folder / "y.npy", y)
print(json.dumps(facts))
"""
_SPILLWAY = """
import spillway as sw
import spillway.tf as tf
from tests.networks import resnet18
held = {name: tf.constant(value) for name, value in weights.items()}
run = lambda x: resnet18(tf, tf.constant(x), held).numpy()
"""
_LIMITED = """
if limit:
    sw.configure(memory_limit=limit)
x = sw.load_npy(folder / "x.npy") if limit else tf.constant(np.load(folder / "x.npy"))
asked = resnet18(tf, x, held)
told = sw.forecast(asked)
facts["planned"], facts["how"] = told.bytes, str(told.how)
y = asked.numpy()
facts["ledger"] = sw.memory().peak
"""
_TENSORFLOW = """
import tensorflow as tf
from tests.networks import resnet18
held = {name: tf.constant(value) for name, value in weights.items()}
call = lambda x: resnet18(tf, x, held)
call = tf.function(call, reduce_retracing=True) if compiled else call
run = lambda x: call(tf.constant(x)).numpy()
"""
_ONNX = """
import onnxruntime
from bench.onnx_network import resnet18_model
session = onnxruntime.InferenceSession(resnet18_model(weights).SerializeToString())
run = lambda x: session.run(None, {"x": x.transpose(0, 3, 1, 2)})[0]
"""
_WHOLE = 'y = run(np.load(folder / "x.npy"))'
SYSTEMS = {
    "spillway, an eighth": (PROJECT, _SPILLWAY, _LIMITED),
    "spillway": (PROJECT, _SPILLWAY, _LIMITED),
    "tensorflow": ("tf", "compiled = False" + _TENSORFLOW, _WHOLE),
    "tensorflow function": ("tf", "compiled = True" + _TENSORFLOW, _WHOLE),
    "onnx runtime": ("onnx", _ONNX, _WHOLE),
}


def measure(name: str, folder: Path, limit: int) -> dict[str, float]:
    """One process of one system; what it printed."""
    environment, setup, rest = SYSTEMS[name]
    text = _FRAME.format(root=str(ROOT), setup=setup, all=rest)
    said = subprocess.run(
        [str(python_of(environment)), "-c", text, str(folder), str(limit)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    facts: dict[str, float] = json.loads(said.stdout.splitlines()[-1])
    return facts


def main() -> None:
    from tests.networks import resnet18_weights

    batch, side, rounds = (*map(int, sys.argv[1:]), *(128, 224, 3)[len(sys.argv) - 1 :])
    mib = 1 << 20
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        draw = np.random.default_rng(1)
        images = draw.standard_normal((batch, side, side, 3), "f4")
        np.save(folder / "x.npy", images)
        np.save(folder / "few.npy", images[:2])
        np.savez(folder / "weights.npz", **resnet18_weights())
        whole = int(measure("spillway", folder, 0)["planned"])
        print(f"{batch} images of {side} x {side}: the whole plan holds {whole / mib:.0f} MiB")
        for _ in range(rounds):
            results = {}
            for system in SYSTEMS:
                limit = whole // 8 if system.endswith("eighth") else 0
                facts = measure(system, folder, limit)
                results[system] = np.load(folder / "y.npy")
                line = (
                    f"{system:20} {batch / facts['seconds']:6.1f} images/s, "
                    f"{batch / facts['cpu']:6.1f} a CPU second, resident "
                    f"{(facts['peak'] - facts['before']) / mib:5.0f} MiB more"
                )
                if "ledger" in facts:
                    line += (
                        f", limit {limit / mib:.0f} MiB, planned {facts['planned'] / mib:.1f} MiB "
                        f"({facts['how']}), ledger's peak {facts['ledger'] / mib:.1f} MiB"
                    )
                print(line, flush=True)
            wanted = results["tensorflow"]
            for system, got in results.items():
                most = float(np.abs(got - wanted).max())
                print(f"{system:20} differs from tensorflow by {most:.2g} of {wanted.max():.3g}")
            same = np.array_equal(results["spillway, an eighth"], results["spillway"])
            print(f"spillway's two results have the same bits: {same}", flush=True)


if __name__ == "__main__":
    main()
