"""docs/reference.md is what the definitions say."""

from __future__ import annotations

from tools import reference


def test_the_reference_is_up_to_date() -> None:
    assert reference.PAGE.read_text() == reference.text(), "run ./run docs"


def test_every_operator_is_in_it_with_its_example() -> None:
    from spillway import _operators

    page = reference.text()
    for name, op in _operators.definitions.items():
        if not op["hidden"]:
            assert f"### `{name}(" in page
            assert op["example"] in page
