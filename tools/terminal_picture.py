"""Draws docs/images/terminal.svg: a real session in a kernel with a hard memory limit.

    python -m tools.terminal_picture

The cells below are run, not imitated; long answers are cut after a few lines.
"""

from __future__ import annotations

import sys
import tempfile
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "images" / "terminal.svg"
LIMIT = 2 << 30
WIDTH = 104  # characters
LINE, CHAR, SIDE, TOP = 19, 8.05, 18, 46  # pixels
COLOURS = {"prompt": "#7ee787", "code": "#e6edf3", "out": "#b1bac4", "error": "#ff7b72"}

# (what is typed, how many lines of the answer are shown)
CELLS = (
    ("import numpy as np\nimport spillway.tf as tf", 0),
    ("np.random.rand(10000, 10000, 3).mean()", 3),
    ("c = tf.matmul(tf.random.normal([10000] * 3), tf.random.normal([10000] * 3))\nc.numpy()", 9),
    (
        'paths = [f"images/{i % 300:03}.jpg" for i in range(3000)]\n'
        'paths += ["images/lost.jpg", "images/cut.jpg"]\n'
        "def load(path):\n"
        "    image = tf.io.decode_image(tf.io.read_file(path), channels=3)\n"
        "    return tf.image.resize(image, [256, 256]) / 255.0\n\n"
        "ds = tf.data.Dataset.from_tensor_slices(paths).map(load, on_error='skip').batch(32)\n"
        "print(sum(len(batch) for batch in ds), 'images')\n"
        "for entry in ds.audit().entries:\n"
        "    print('left out:', entry.file)",
        4,
    ),
    ('print("still here")', 1),
)
Line = list[tuple[str, str]]  # (colour, text) pieces


def session() -> list[Line]:
    """Runs the cells, and tells them as a terminal would."""
    from tests.programs import data
    from tests.programs.kernels import fenced_kernel

    lines: list[Line] = []
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="spillway-picture-") as folder:
        data.make(Path(folder))
        with fenced_kernel("spillway", LIMIT, Path(folder)) as kernel:
            for number, (code, most) in enumerate(CELLS, 1):
                for i, typed in enumerate(code.split("\n")):
                    prompt = f"In [{number}]: " if i == 0 else "   ...: "
                    lines.append([("prompt", prompt), ("code", typed)])
                done = kernel.run(code, timeout=300)
                colour = "error" if done.error else "out"
                said = (done.text + done.error).rstrip().split("\n")
                lines += [[(colour, text)] for text in _cut(said, most) if most]
                lines.append([])
    return lines[:-1]


def _cut(said: list[str], most: int) -> list[str]:
    wrapped = []
    for line in said:
        while len(line) > WIDTH:
            at = line.rfind(" ", 0, WIDTH)
            at = at if at > WIDTH // 2 else WIDTH
            wrapped.append(line[:at])
            line = "    " + line[at:].lstrip()
        wrapped.append(line)
    return wrapped if len(wrapped) <= most else [*wrapped[:most], "..."]


def draw(lines: list[Line], title: str) -> str:
    """The lines as one SVG, without scripts or fonts from elsewhere."""
    width, height = SIDE * 2 + WIDTH * CHAR, TOP + LINE * len(lines) + SIDE
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" height="{height}" role="img" aria-label="{escape(title)}" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="13.4">',
        f'<rect width="{width:.0f}" height="{height}" rx="10" fill="#0d1117"/>',
        f'<text x="{width / 2:.0f}" y="24" fill="#7d8590" text-anchor="middle">'
        f"{escape(title)}</text>",
    ]
    for i, colour in enumerate(("#ff5f57", "#febc2e", "#28c840")):
        out.append(f'<circle cx="{20 + 20 * i}" cy="19" r="6" fill="{colour}"/>')
    for row, line in enumerate(lines):
        spans = "".join(
            f'<tspan fill="{COLOURS[colour]}">{escape(text)}</tspan>' for colour, text in line
        )
        y = TOP + LINE * row + 12
        out.append(f'<text x="{SIDE}" y="{y}" xml:space="preserve">{spans}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main() -> int:
    """Writes the picture."""
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    title = f"a Jupyter kernel with a hard limit of {LIMIT >> 30} GiB (memory cgroup)"
    PICTURE.write_text(draw(session(), title))
    print(PICTURE.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
