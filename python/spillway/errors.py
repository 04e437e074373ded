# ruff: noqa: D105, D107, N818  (magic methods do what Python says; the names are the API's)
"""Every error of Spillway: who must act, where it happened, on which element.

Three families share the root :class:`SpillwayError`:

* one class for each TensorFlow code (``InvalidArgumentError``, ``DataLossError``, ...);
* our own names (``BudgetError``, ``CorruptFile``, ...), each also the TensorFlow class and the
  Python builtin that say the same;
* errors of user functions, which are also of the class the user's code raised.

>>> try:
...     raise CorruptFile("checksum differs", file="a.tfrecord", offset=4096)
... except ValueError as e:
...     print(type(e).__name__, e.code, e.kind)
...     print(e)
CorruptFile 15 data
checksum differs
  file a.tfrecord at byte 4096
"""

from __future__ import annotations

import errno
from collections.abc import Mapping
from typing import Any, ClassVar

from . import error_bounds
from .interruptions import pass_on

# The facts every error carries, in the order of the constructor. None: not known.
_FACTS = (
    "kind",
    "code",
    "stage",
    "line",
    "index",
    "epoch",
    "file",
    "offset",
    "origin",
    "attempts",
)
_KEPT = frozenset({*_FACTS, "message", "verdict", "_cause_line", "_context"})  # of a composed class
_COUNTS = frozenset({"index", "epoch", "offset", "attempts"})


class SpillwayError(Exception):
    """The root of all errors of this package.

    ``kind`` says who has to act (user, data, resource, transient, bug), ``code`` is TensorFlow's
    number, ``line`` is where the user wrote the stage, ``index`` the element's ordinal in that
    stage's input. What is not known is None. ``str(e)`` tells the same facts. TensorFlow's way to
    make one, ``InvalidArgumentError(None, None, "boom")``, works as well.

    >>> e = SpillwayError("boom", stage="map#2", line="In[5] line 7: ds.map(decode)", index=17)
    >>> print(e)
    boom
      in stage map#2, written at In[5] line 7: ds.map(decode)
      element 17
    """

    kind: str = "bug"
    code: int = 2
    message: str = ""
    node_def: None = None  # TensorFlow's; there is no graph to point into
    op: None = None
    stage: str | None = None
    line: str | None = None
    index: int | None = None
    epoch: int | None = None
    file: str | None = None
    offset: int | None = None
    origin: str | None = None
    attempts: int = 1

    _context: str = ""  # TensorFlow's words for the stage
    _cause_line: str = ""  # outlives pickling, which drops __cause__
    _named: ClassVar[type[SpillwayError] | None] = None  # of a composed class: its static part
    _mixed: ClassVar[type[BaseException] | None] = None  # of a composed class: the user's part

    def __init__(
        self,
        message: str | None = "",
        op: None = None,
        op_message: str | None = None,
        error_code: int | None = None,
        *,
        node_def: None = None,
        kind: str | None = None,
        code: int | None = None,
        stage: str | None = None,
        line: str | None = None,
        index: int | None = None,
        epoch: int | None = None,
        file: str | None = None,
        offset: int | None = None,
        origin: str | None = None,
        attempts: int | None = None,
    ) -> None:
        # TensorFlow's own order: (node_def, op, message, error_code).
        code = error_code if code is None else code
        message = (message or "") if op_message is None else op_message
        super().__init__(message)
        given = (kind, code, stage, line, index, epoch, file, offset, origin, attempts)
        fill(self, message, dict(zip(_FACTS, given, strict=True)))

    @property
    def experimental_payloads(self) -> dict[str, bytes]:
        """TensorFlow's; nothing is attached to an error here."""
        return {}

    @property
    def error_code(self) -> int:
        """TensorFlow's name for ``code``."""
        return self.code

    def __str__(self) -> str:
        return "\n  ".join([self.message or type(self).__name__, *self._details()])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.message!r})"

    def _details(self) -> list[str]:
        lines = []
        if self.stage and self.line:
            lines.append(f"in stage {self.stage}, written at {self.line}")
        elif self.stage or self.line:
            lines.append(f"in stage {self.stage}" if self.stage else f"written at {self.line}")
        if self.index is not None:
            epoch = "" if self.epoch is None else f", epoch {self.epoch}"
            where = f" ({self.origin})" if self.origin else epoch
            lines.append(f"element {self.index}{where}")
        elif self.origin:
            lines.append(self.origin)
        elif self.epoch is not None:
            lines.append(f"epoch {self.epoch}")
        if self.file:
            at = "" if self.offset is None else f" at byte {self.offset}"
            lines.append(f"file {self.file}{at}")
        elif self.offset is not None:
            lines.append(f"at byte {self.offset}")
        if self.attempts > 1:
            lines.append(f"after {self.attempts} attempts")
        cause = self._cause_line if self.__cause__ is None else _one_line(self.__cause__)
        if cause and cause not in self.message:
            lines.append(f"caused by {cause}")
        return [*lines, self._context] if self._context else lines

    def __reduce__(self) -> tuple[Any, ...]:
        cls = type(self)
        state = dict(self.__dict__)
        if self.__cause__ is not None:
            state["_cause_line"] = _one_line(self.__cause__)
        if cls._named is None:
            return restore, (cls, None, None, state)
        # A user's own class may not exist where this is read; the builtin ones do.
        mixed = cls._mixed if cls._mixed and cls._mixed.__module__ == "builtins" else None
        state = {key: value for key, value in state.items() if key in _KEPT}
        return restore, (cls._named, self.code, mixed, state)


class CancelledError(SpillwayError):
    """The pipeline was closed while this ran."""

    kind, code = "user", 1


class UnknownError(SpillwayError):
    """User code raised an exception that TensorFlow has no code for."""

    kind, code = "user", 2


class InvalidArgumentError(SpillwayError):
    """An argument, a shape or a dtype is wrong."""

    kind, code = "user", 3


class DeadlineExceededError(SpillwayError):
    """It took longer than the time allowed."""

    kind, code = "transient", 4


class NotFoundError(SpillwayError):
    """A file or key is missing."""

    kind, code = "user", 5


class AlreadyExistsError(SpillwayError):
    """What was to be created is there already."""

    kind, code = "user", 6


class PermissionDeniedError(SpillwayError):
    """The operating system refused access."""

    kind, code = "user", 7


class ResourceExhaustedError(SpillwayError):
    """Memory, disk or descriptors ran out."""

    kind, code = "resource", 8


class FailedPreconditionError(SpillwayError):
    """The object is not in a state that allows this."""

    kind, code = "user", 9


class AbortedError(SpillwayError):
    """It was given up midway; it may be tried again."""

    kind, code = "transient", 10


class OutOfRangeError(SpillwayError):
    """There is no further element."""

    kind, code = "user", 11


class UnimplementedError(SpillwayError):
    """This is not supported."""

    kind, code = "user", 12


class InternalError(SpillwayError):
    """An invariant of Spillway broke: a bug of ours."""

    kind, code = "bug", 13


class UnavailableError(SpillwayError):
    """A service or process is away; it may be tried again."""

    kind, code = "transient", 14


class DataLossError(SpillwayError):
    """Data is damaged beyond recovery."""

    kind, code = "data", 15


class UnauthenticatedError(SpillwayError):
    """The caller could not be identified."""

    kind, code = "user", 16


class BudgetError(ResourceExhaustedError, MemoryError):
    """The memory limit does not allow this.

    >>> issubclass(BudgetError, MemoryError) and issubclass(BudgetError, ResourceExhaustedError)
    True
    """


class ElementTooLarge(BudgetError):
    """One element alone is larger than the limit."""


class FloorTooHigh(BudgetError):
    """The pipeline needs more than the limit even at its smallest."""


class DiskFull(BudgetError):
    """Spilling found no room on disk."""


class DataError(DataLossError, ValueError):
    """This element's data is bad."""


class CorruptFile(DataError):
    """A file is damaged or not of the format it claims."""


class FileError(NotFoundError, OSError):
    """A file cannot be opened or read.

    >>> e = MissingFile("no such file", file="a.npy")
    >>> isinstance(e, FileNotFoundError), e.filename, e.errno
    (True, 'a.npy', 2)
    """

    kind = "data"

    def __init__(self, *args: Any, **facts: Any) -> None:
        super().__init__(*args, **facts)
        self._fill_os_fields()

    def _fill_os_fields(self) -> None:
        self.filename = self.file
        if isinstance(self, FileNotFoundError):
            self.errno = errno.ENOENT
        elif isinstance(self, PermissionError):
            self.errno = errno.EACCES


class MissingFile(FileError, FileNotFoundError):
    """A file does not exist."""


class ShapeError(InvalidArgumentError, ValueError):
    """Shapes or ranks do not fit together."""


class UserFunctionError(SpillwayError):
    """A user function or generator raised; the exception is ``__cause__``.

    It is also of the class that was raised, and of the TensorFlow class of its code:

    >>> e = make_error({"code": 2, "message": "KeyError: 'a'", "stage": "map#0"}, KeyError("a"))
    >>> type(e).__name__, isinstance(e, KeyError), isinstance(e, UnknownError)
    ('UserFunctionError[KeyError]', True, True)
    """

    kind = "user"


class WorkerDied(UnavailableError):
    """A worker process ended; ``verdict`` says how and, where known, why."""

    kind = "user"
    verdict: str | None = None


class StallError(DeadlineExceededError, TimeoutError):
    """Nothing moved for longer than the time allowed."""


class GeneratorNotReplayable(FailedPreconditionError):
    """The source gives its elements once: it cannot start again."""


class SourceEndedEarly(DataLossError):
    """A source failed and gives no more, so skipping its error would lose what should follow.

    A Python generator that raised is over. `early_end=True` beside `on_error` lets it end there.
    """


class TooManyErrors(SpillwayError):
    """More elements failed than the policy allows; the last one's error is the cause."""

    kind = "user"


BY_CODE: dict[int, type[SpillwayError]] = {
    cls.code: cls
    for cls in SpillwayError.__subclasses__()
    if cls not in (UserFunctionError, TooManyErrors)
}
_TRANSIENT_ERRNO = {errno.EINTR, errno.EAGAIN, errno.EWOULDBLOCK, errno.ETIMEDOUT}


def class_of_code(code: int) -> type[SpillwayError]:
    """The class of one of TensorFlow's codes.

    >>> class_of_code(3).__name__
    'InvalidArgumentError'
    """
    return BY_CODE.get(code, UnknownError)


def code_of(exc: BaseException) -> tuple[int, str]:
    """TensorFlow's code, and the kind, of an exception that user code raised.

    >>> code_of(ValueError()), code_of(KeyError()), code_of(MemoryError())
    ((3, 'user'), (2, 'user'), (8, 'resource'))
    >>> code_of(ConnectionResetError())
    (2, 'transient')
    """
    if isinstance(exc, SpillwayError):
        return exc.code, exc.kind
    if isinstance(exc, (ValueError, TypeError)):
        return 3, "user"
    if isinstance(exc, StopIteration):
        return 11, "user"
    if isinstance(exc, MemoryError):
        return 8, "resource"
    if isinstance(exc, NotImplementedError):
        return 12, "user"
    if isinstance(exc, (ConnectionError, TimeoutError)):
        return 2, "transient"
    if isinstance(exc, OSError) and exc.errno in _TRANSIENT_ERRNO:
        return 2, "transient"
    return 2, "user"


def facts_of(exc: BaseException) -> tuple[int, str, str, BaseException]:
    """Code, kind, text and the exception to keep as the cause: all of bounded size.

    >>> facts_of(KeyError("label"))
    (2, 'user', "'label'", KeyError('label'))
    """
    code, kind = code_of(exc)
    if not isinstance(code, int) or not 0 < code <= UnauthenticatedError.code:
        code = UnknownError.code  # a class of the user's
    kept = error_bounds.bounded(exc)
    return code, str(kind), error_bounds.text_of(kept), kept


def fill(error: SpillwayError, message: str, facts: Mapping[str, Any]) -> None:
    """Set an error's facts; what is None, "" or negative is not known."""
    own: dict[str, Any] = {}
    for name, value in facts.items():
        if name in ("message", "type"):
            continue
        unknown = value is None or value == "" or (name in _COUNTS and value < 0)
        if not unknown and not (name == "code" and value == 0):
            own[name] = value
    for name in _FACTS:
        error.__dict__.pop(name, None)  # the cause's, where it is ours too
    own["message"] = message
    error.__dict__.pop("_cause_line", None)
    error.__dict__.pop("_context", None)  # of a cause that is ours, too
    error.__dict__.update(own)
    error.args = (message,)


def _one_line(cause: BaseException) -> str:
    try:
        text = str(cause).strip().split("\n", 1)[0]
    except Exception as failed:
        pass_on(failed)
        text = ""
    name = type(cause).__name__
    return f"{name}: {text}" if text else name


from ._error_making import make_error as make_error  # noqa: E402  (it needs the classes above)
from ._error_making import restore  # noqa: E402
