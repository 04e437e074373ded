"""Each promise, broken on purpose: the tests that keep it must fail.

`SPILLWAY_TEST_MUTANT` breaks one (src/spillway/base/mutant.h); the same tests pass without it in
the run around this one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spillway import _native
from tests.ceiling.harness import fence

ROOT = Path(__file__).resolve().parents[2]
CPP_TESTS = ROOT / "build" / "dev" / "spillway_tests"
CEILING = "tests/ceiling/test_ceiling.py::test_the_limit_holds_and_every_element_arrives_once"

# A test of Python's, or of C++'s by its name.
MUTANTS = {
    "ceiling_off": f"{CEILING}[shuffle_of_a_generator]",
    "error_dropped": "tests/test_dataset.py::"
    "test_an_error_is_both_the_users_class_and_tensorflows_and_says_where",
    "line_missing": "tests/test_dataset.py::"
    "test_an_error_is_both_the_users_class_and_tensorflows_and_says_where",
    "delivered_twice": "tests/test_dataset.py::"
    "test_a_saved_iterator_goes_on_in_an_equal_pipeline[7]",
    "lost_at_restore": "tests/test_dataset.py::"
    "test_a_saved_iterator_goes_on_in_an_equal_pipeline[7]",
    "lost_when_refused": "Take.DoesNotCountAnError",
    "files_open_to_all": "tests/test_dataset.py::"
    "test_quarantine_keeps_the_input_and_can_be_run_again",
    "effect_traced": "tests/test_functions.py::"
    "test_a_counter_in_a_function_counts_every_element_once",
    "merged_without_the_first": "tests/test_fused_steps.py::test_maps_in_a_row_all_happen",
    "window_moved": "tests/test_image_rows.py::test_every_chain_has_the_bits_of_its_ops[3]",
    "counted_twice": "tests/test_audit.py::test_every_source_row_is_accounted_for[on_error]",
    "not_run_again": "Guarded.SomebodyElsesKillCostsNothing",
    "repeated_after_death": "tests/test_isolated_generators.py::"
    "test_after_a_crash_it_goes_on_where_it_was",
    "stall_not_reported": "Stalls.UserCodeThatDoesNotReturnIsReportedAgainAndAgain",
    "growth_not_counted": "tests/test_leaks.py::"
    "test_a_line_that_keeps_a_tensor_a_step_is_named_with_count_bytes_and_growth",
    "interrupt_ignored": "tests/test_iterators.py::test_ctrl_c_is_heard_while_waiting",
}


@pytest.mark.skipif(not _native.test_points, reason="the module was built without test points")
@pytest.mark.parametrize("name", list(MUTANTS))
def test_a_broken_promise_is_noticed(name: str) -> None:
    if MUTANTS[name].startswith(CEILING) and not fence():
        pytest.skip("no memory cgroup and no RLIMIT_DATA to be had here")
    cpp = not MUTANTS[name].startswith("tests/")
    if cpp and not CPP_TESTS.exists():
        pytest.skip("the C++ tests are not built here")
    pytest_ = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", MUTANTS[name]]
    done = subprocess.run(
        [str(CPP_TESTS), f"--gtest_filter={MUTANTS[name]}"] if cpp else pytest_,
        cwd=ROOT,
        env={**os.environ, "SPILLWAY_TEST_MUTANT": name},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout[-2000:]
    assert ("1 FAILED TEST" if cpp else "1 failed") in done.stdout


def test_every_mutant_of_the_engine_has_its_test() -> None:
    named = set()
    for path in [*(ROOT / "src").rglob("*.cc"), *(ROOT / "python" / "spillway").rglob("*.py")]:
        named |= {part.split('"')[0] for part in path.read_text().split('mutant("')[1:]}
    assert named == set(MUTANTS)
