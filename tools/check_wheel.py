"""Proves a wheel: what is in it, and that it runs where nothing can be compiled.

    python tools/check_wheel.py dist/spillway-*.whl

Makes a fresh environment, installs the wheel and Jupyter from binaries only, with no compiler on
the PATH, then runs a pipeline in a plain interpreter and in a real Jupyter kernel.
"""

import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

LICENCES = ("LICENSE", "nanobind.txt", "nlohmann-json.txt", "numpy-headers.txt", "robin-map.txt")
PROGRAM = """
import spillway as sw
batches = [b.tolist() for b in sw.Dataset.range(10).map(lambda x: x + 1).batch(4)]
assert batches == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]], batches
assert {site!r} in sw.__file__, sw.__file__
print("pipeline ran:", batches)
"""
KERNEL = """
import sys
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="python3")
try:
    client.execute_interactive(sys.argv[1], timeout=60)
    reply = client.execute("1 + 1", reply=True, timeout=60)
    assert reply["content"]["status"] == "ok", reply
    assert manager.is_alive(), "the kernel died"
    print("the kernel lives")
finally:
    client.stop_channels()
    manager.shutdown_kernel(now=True)
"""


def contents(wheel: Path) -> None:
    """Prints what is inside; refuses a wheel with a licence missing or a stray module."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        size = sum(entry.file_size for entry in archive.infolist())
    print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.2f} MB, {size / 1e6:.2f} MB unpacked")
    licences = [name for name in names if ".dist-info/licenses/" in name]
    print("licences:", *(Path(name).name for name in licences))
    missing = set(LICENCES) - {Path(name).name for name in licences}
    if missing:
        raise SystemExit(f"licences missing in the wheel: {', '.join(sorted(missing))}")
    modules = [name for name in names if re.search(r"/_native\..*\.so$", name)]
    if len(modules) != 1:
        raise SystemExit(f"one native module expected in the wheel: {modules}")


def run(python: Path, *arguments: str) -> None:
    """Runs the environment's Python where no compiler can be found and the sources are not near."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV", "CMAKE", "SPILLWAY"))
    }
    environment |= {"PATH": str(python.parent), "CC": "/bin/false", "CXX": "/bin/false"}
    home = python.parent.parent
    environment |= {"HOME": str(home), "IPYTHONDIR": str(home / "ipython")}
    subprocess.run([str(python), *arguments], check=True, env=environment, cwd=home)


def main() -> None:
    """Checks the one wheel named on the command line."""
    wheel = Path(sys.argv[1]).resolve()
    contents(wheel)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / "bin" / "python"
        binaries = ("-m", "pip", "install", "-q", "--only-binary", ":all:")
        run(python, *binaries, str(wheel))
        program = PROGRAM.format(site="site-packages")
        run(python, "-c", program)
        run(python, *binaries, "ipykernel", "jupyter_client")
        run(python, "-c", KERNEL, program)
    print("checked: runs in a fresh environment and in a Jupyter kernel")


if __name__ == "__main__":
    main()
