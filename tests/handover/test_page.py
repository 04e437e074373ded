"""The examples of docs/handover.md, as they are written there."""

from __future__ import annotations

import re

import pytest

from tests.handover.frameworks import ROOT, missing

PAGE = (ROOT / "docs" / "handover.md").read_text()
NEEDED = {"torch": "torch", "Keras and TensorFlow": "tensorflow", "JAX": "jax"}
EXAMPLES = [
    (section.split("\n", 1)[0], code)
    for section in re.split(r"^## ", PAGE, flags=re.M)[1:]
    for code in re.findall(r"^```python\n(.*?)^```", section, re.M | re.S)
]


def test_every_framework_has_its_example() -> None:
    assert [heading for heading, _ in EXAMPLES] == [*NEEDED, "scikit-learn"]
    assert PAGE.count("```python") == len(EXAMPLES)


@pytest.mark.parametrize("heading, code", EXAMPLES, ids=[heading for heading, _ in EXAMPLES])
def test_an_example_runs(heading: str, code: str) -> None:
    package = NEEDED.get(heading, "sklearn")
    if missing(package):
        pytest.skip(f"{package} is not installed here: ./run kernels has it")
    exec(compile(code, f"docs/handover.md, {heading}", "exec"), {"__name__": "example"})
