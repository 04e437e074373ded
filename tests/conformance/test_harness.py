"""The harness itself: programs are reproducible, comparisons see differences, shrinking shrinks."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from . import infer
from .compare import difference, message_problem
from .edges import EDGES
from .generate import generate
from .program import operators, pretty, size
from .record import load
from .shrink import shrink
from .spec import from_json, to_json
from .values import decode, encode

RECORDS = load()


def _record_with(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return next(record for record in RECORDS if text in json.dumps(record[1]))


def test_the_same_seed_makes_the_same_programs() -> None:
    assert generate(30, 7) == generate(30, 7)


def test_other_seeds_make_other_programs() -> None:
    assert generate(30, 7) != generate(30, 8)


@pytest.mark.parametrize("program", generate(25, 9), ids=lambda program: str(size(program)))
def test_a_program_survives_json(program: dict[str, Any]) -> None:
    assert json.loads(json.dumps(program)) == program
    assert pretty(program)


@pytest.mark.parametrize(
    "data",
    [
        ["int8", [2], [-1, 127]],
        ["uint64", [], [2**64 - 1]],
        ["bfloat16", [3], [1.0, "nan", "-inf"]],
        ["complex64", [1], [[1.0, -2.5]]],
        ["string", [2, 1], ["\xff\x00", ""]],
        ["bool", [], [1]],
        ["float16", [0, 2], []],
    ],
)
def test_a_tensor_survives_encoding(data: list[Any]) -> None:
    assert encode(decode(data)) == data


def test_the_inferred_type_is_the_one_tensorflow_reported() -> None:
    for program, outcome in RECORDS:
        if "spec" in outcome:
            assert to_json(infer.program_spec(program)) == outcome["spec"]
            assert to_json(from_json(outcome["spec"])) == outcome["spec"]


def test_an_outcome_does_not_differ_from_itself() -> None:
    for _, outcome in RECORDS:
        assert difference(outcome, copy.deepcopy(outcome)) is None


def test_another_value_is_a_difference() -> None:
    _, theirs = _record_with('"int64", [], [')
    ours = copy.deepcopy(theirs)
    ours["epochs"][-1].insert(0, {"value": ["int64", [], [-12345]]})
    assert "event 0" in (difference(theirs, ours) or "")


def test_another_cardinality_is_a_difference() -> None:
    _, theirs = _record_with('"cardinality"')
    ours = {**theirs, "cardinality": 77}
    assert "cardinality" in (difference(theirs, ours) or "")


def test_another_error_code_is_a_difference() -> None:
    _, theirs = _record_with('"error": "UNKNOWN"')
    ours = json.loads(json.dumps(theirs).replace('"error": "UNKNOWN"', '"error": "DATA_LOSS"'))
    assert "UNKNOWN" in (difference(theirs, ours) or "")


def test_a_pipeline_that_builds_where_tensorflow_refuses_is_a_difference() -> None:
    _, theirs = _record_with('"construction"')
    ours = {"spec": ["int64", []], "cardinality": 1, "epochs": [["end"]]}
    assert "refuses" in (difference(theirs, ours) or "")


def test_a_message_must_hold_what_the_user_raised() -> None:
    assert message_problem("KeyError: 'boom 3'", "map: something failed") is not None
    assert message_problem("KeyError: 'boom 3'", "map: KeyError: 'boom 3' in f") is None


def test_shrinking_leaves_the_step_that_fails() -> None:
    program = EDGES["shuffle of unknown size"]
    long = {**program, "steps": [*program["steps"], *EDGES["unbatch after errors"]["steps"]]}
    small = shrink(long, lambda candidate: "shuffle" in set(operators(candidate)))
    assert [step["op"] for step in small["steps"]] == ["shuffle"]
