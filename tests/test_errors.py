# ruff: noqa: N818  (exceptions as users name them)
from __future__ import annotations

import builtins
import copy
import doctest
import errno
import io
import json
import pickle
import traceback
from typing import Any

import pytest

from tests.pure_modules import load

errors = load("errors")
making = load("_error_making")

CODES = {
    "CancelledError": 1,
    "UnknownError": 2,
    "InvalidArgumentError": 3,
    "DeadlineExceededError": 4,
    "NotFoundError": 5,
    "AlreadyExistsError": 6,
    "PermissionDeniedError": 7,
    "ResourceExhaustedError": 8,
    "FailedPreconditionError": 9,
    "AbortedError": 10,
    "OutOfRangeError": 11,
    "UnimplementedError": 12,
    "InternalError": 13,
    "UnavailableError": 14,
    "DataLossError": 15,
}
ALSO = {
    "BudgetError": ["ResourceExhaustedError", "MemoryError"],
    "ElementTooLarge": ["BudgetError"],
    "FloorTooHigh": ["BudgetError"],
    "DiskFull": ["BudgetError"],
    "DataError": ["DataLossError", "ValueError"],
    "CorruptFile": ["DataError"],
    "FileError": ["NotFoundError", "OSError"],
    "MissingFile": ["FileError", "FileNotFoundError"],
    "ShapeError": ["InvalidArgumentError", "ValueError"],
    "StallError": ["DeadlineExceededError", "TimeoutError"],
    "GeneratorNotReplayable": ["FailedPreconditionError"],
    "WorkerDied": ["SpillwayError"],
    "TooManyErrors": ["SpillwayError"],
    "UserFunctionError": ["SpillwayError"],
}
FACTS = {
    "kind": "user",
    "code": 2,
    "message": "KeyError: 'label'",
    "type": "",
    "stage": "map#2",
    "line": "In[5] line 7: ds.map(decode)",
    "index": 17,
    "epoch": 0,
    "file": "train.tfrecord",
    "offset": 4096,
    "origin": "from_generator#0 element 17, epoch 0",
    "attempts": 3,
}


def make(cause: BaseException | None = None, **changes: Any) -> Any:
    return errors.make_error({**FACTS, **changes}, cause)


@pytest.mark.parametrize(("name", "code"), CODES.items())
def test_each_tensorflow_code_has_its_class(name: str, code: int) -> None:
    cls = getattr(errors, name)
    assert cls("x").code == code
    assert cls("x").error_code == code
    assert errors.class_of_code(code) is cls
    assert issubclass(cls, errors.SpillwayError)
    assert type(errors.make_error({"code": code, "message": "m"})) is cls


@pytest.mark.parametrize(("name", "bases"), ALSO.items())
def test_our_names_are_also_the_classes_the_api_says(name: str, bases: list[str]) -> None:
    cls = getattr(errors, name)
    for base in bases:
        assert issubclass(cls, getattr(errors, base, None) or getattr(builtins, base))
    assert cls("text").message == "text"
    made = errors.make_error({"type": name, "code": cls.code, "message": "m"})
    assert isinstance(made, cls)
    assert made.code == cls.code


def test_the_text_holds_all_facts_the_most_useful_first() -> None:
    assert str(make(KeyError("label"), message="decode failed")).split("\n") == [
        "decode failed",
        "  in stage map#2, written at In[5] line 7: ds.map(decode)",
        "  element 17 (from_generator#0 element 17, epoch 0)",
        "  file train.tfrecord at byte 4096",
        "  after 3 attempts",
        "  caused by KeyError: 'label'",
        "  Error in user-defined function passed to map#2 transformation with iterator: "
        "Iterator::Root::map#2",
    ]


def test_a_cause_that_is_the_message_is_not_told_twice() -> None:
    assert str(make(KeyError("label"))).count("KeyError") == 1


def test_facts_are_attributes_and_unknown_ones_none() -> None:
    e = make()
    for name, value in FACTS.items():
        if name != "type":
            assert getattr(e, name) == value
    e = make(stage="", line="", index=-1, epoch=-1, file="", offset=-1, origin="", attempts=1)
    for name in ("stage", "line", "index", "epoch", "file", "offset", "origin"):
        assert getattr(e, name) is None
    assert str(e) == "KeyError: 'label'"
    assert e.attempts == 1


def test_zero_is_a_known_index_and_offset() -> None:
    text = str(make(index=0, offset=0))
    assert "element 0 (" in text
    assert "at byte 0" in text


def test_a_user_error_is_of_both_classes() -> None:
    cause = KeyError("label")
    e = make(cause)
    assert isinstance(e, KeyError)
    assert isinstance(e, errors.UnknownError)
    assert isinstance(e, errors.UserFunctionError)
    assert type(e).__name__ == "UserFunctionError[KeyError]"
    assert e.__cause__ is cause
    assert type(e) is type(make(KeyError("other")))
    shown = "".join(traceback.format_exception_only(e))
    assert shown.startswith("spillway.errors.UserFunctionError[KeyError]: KeyError: 'label'\n")


def test_a_value_error_is_an_invalid_argument() -> None:
    e = make(ValueError("bad"), code=3)
    assert isinstance(e, ValueError)
    assert isinstance(e, errors.InvalidArgumentError)
    assert not isinstance(e, errors.UnknownError)


class Awkward(Exception):
    level = 0
    registered: list[type] = []  # noqa: RUF012

    def __init__(self, needed: int, *, other: int) -> None:
        super().__init__("text")
        self.level = needed
        self.code = "user code"
        self.other = other

    def __init_subclass__(cls, **kwargs: Any) -> None:
        cls.registered.append(cls)

    @property
    def message(self) -> str:
        raise AssertionError("the user's property must not be asked")

    @property
    def twice(self) -> int:
        return 2 * self.other

    def __str__(self) -> str:
        return "awkward"


def test_a_users_class_is_never_called_and_its_attributes_are_readable() -> None:
    cause: Any = Awkward(3, other=4)
    e: Any = make(cause)
    assert issubclass(type(e), Awkward)
    assert (e.level, e.other, e.twice, e.code) == (3, 4, 8, 2)
    assert Awkward.registered == []
    cause.added_later = 5
    assert e.added_later == 5
    with pytest.raises(AttributeError):
        e.nothing  # noqa: B018


def test_fields_kept_in_c_are_readable() -> None:
    e = make(FileNotFoundError(errno.ENOENT, "no such file", "x.npy"))
    assert (e.errno, e.strerror, e.filename) == (errno.ENOENT, "no such file", "x.npy")
    with pytest.raises(UnicodeDecodeError) as caught:
        b"\xff".decode()
    e = make(caught.value, code=3)
    assert (e.start, e.reason, e.object) == (0, "invalid start byte", b"\xff")
    with pytest.raises(json.JSONDecodeError) as json_error:
        json.loads("{")
    assert make(json_error.value, code=3).pos == 1


class Slotted(Exception):
    __slots__ = ("extra",)


def test_slots_are_readable() -> None:
    cause: Any = Slotted()
    cause.extra = 1
    assert make(cause).extra == 1


class Meta(type):
    def __new__(mcs, name: str, bases: Any, namespace: Any, **kwargs: Any) -> Any:
        if any(isinstance(base, Meta) for base in bases):
            raise TypeError("sealed")
        return super().__new__(mcs, name, bases, namespace)


class Sealed(Exception, metaclass=Meta):
    pass


@pytest.mark.parametrize(
    "cause",
    [
        StopIteration(1),
        StopAsyncIteration(),
        ExceptionGroup("g", [ValueError()]),
        Sealed(),
    ],
)
def test_what_cannot_be_mixed_in_is_the_cause_only(cause: Exception) -> None:
    e = make(cause, code=11)
    assert not isinstance(e, type(cause))
    assert isinstance(e, errors.OutOfRangeError)
    assert isinstance(e, errors.UserFunctionError)
    assert type(e).__name__ == "UserFunctionError"
    assert e.__cause__ is cause


@pytest.mark.parametrize("cause", [KeyboardInterrupt(), SystemExit(3), GeneratorExit()])
def test_interrupts_pass_unchanged(cause: BaseException) -> None:
    assert make(cause) is cause


def test_our_own_error_raised_in_user_code_stays_itself() -> None:
    e = make(errors.BudgetError("no room", stage="inner#0"), code=8, kind="resource", stage="")
    assert isinstance(e, errors.BudgetError)
    assert isinstance(e, errors.UserFunctionError)
    assert (e.kind, e.stage) == ("resource", None)
    inner = make(KeyError("a"))
    assert type(make(inner)) is type(inner)
    assert make(inner).__cause__ is inner


@pytest.mark.parametrize("builtin", [TypeError, ValueError, NotImplementedError])
def test_bare_python_errors_of_tensorflow_are_both(builtin: type[Exception]) -> None:
    e = make(type=builtin.__name__, code=3)
    assert isinstance(e, builtin)
    assert isinstance(e, errors.InvalidArgumentError)
    assert type(e).__name__ == f"InvalidArgumentError[{builtin.__name__}]"


def test_a_named_class_takes_on_its_code() -> None:
    e = make(KeyError("a"), type="TooManyErrors", code=15)
    assert isinstance(e, errors.TooManyErrors)
    assert isinstance(e, errors.DataLossError)
    assert not isinstance(e, KeyError)
    assert isinstance(e.__cause__, KeyError)


def test_file_errors_say_which() -> None:
    e = make(type="FileError", code=5)
    assert isinstance(e, FileNotFoundError)
    assert (e.filename, e.errno) == ("train.tfrecord", errno.ENOENT)
    e = make(type="FileError", code=7)
    assert isinstance(e, PermissionError)
    assert isinstance(e, errors.PermissionDeniedError)
    assert e.errno == errno.EACCES
    assert isinstance(make(type="FileError", code=2), errors.FileError)


def test_further_facts_become_attributes() -> None:
    assert make(type="WorkerDied", code=14, verdict="killed: out of memory").verdict.startswith("k")


def test_an_unknown_type_falls_back_to_the_code() -> None:
    assert type(make(type="NoSuchClass", code=9)) is errors.FailedPreconditionError


@pytest.mark.parametrize(
    "error",
    [
        errors.CorruptFile("x", file="a", offset=1),
        errors.MissingFile("x", file="a"),
        errors.ShapeError("x"),
        make(KeyError("label"), message="decode failed"),
        make(Awkward(1, other=2), message="decode failed"),
        make(StopIteration(), code=11),
        make(type="TypeError", code=3),
        make(type="FileError", code=7),
    ],
)
def test_errors_pickle_with_facts_and_text(error: Any) -> None:
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert str(again) == str(error)
        assert (again.code, again.kind, again.file) == (error.code, error.kind, error.file)
        for base in type(error).__mro__:
            if base.__module__ in ("builtins", "spillway.errors") and "[" not in base.__name__:
                assert isinstance(again, base)


def test_codes_of_user_exceptions_are_tensorflows() -> None:
    class Mine(RuntimeError):
        pass

    expected = [
        (ValueError(), (3, "user")),
        (UnicodeError(), (3, "user")),
        (TypeError(), (3, "user")),
        (StopIteration(), (11, "user")),
        (MemoryError(), (8, "resource")),
        (NotImplementedError(), (12, "user")),
        (KeyError(), (2, "user")),
        (Mine(), (2, "user")),
        (OSError(errno.EAGAIN, ""), (2, "transient")),
        (OSError(errno.ENOENT, ""), (2, "user")),
        (ConnectionResetError(), (2, "transient")),
        (TimeoutError(), (2, "transient")),
        (io.UnsupportedOperation(), (3, "user")),
        (errors.DataError("x"), (15, "data")),
        (errors.NotFoundError("x"), (5, "user")),
    ]
    for exc, wanted in expected:
        assert errors.code_of(exc) == wanted


def test_examples_in_the_docs() -> None:
    assert doctest.testmod(errors).failed == 0
    assert doctest.testmod(making).failed == 0
