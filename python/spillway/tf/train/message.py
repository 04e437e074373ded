"""What all messages have: bytes in, bytes out, comparison and text."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from spillway.tf.train import wire


class Message:
    """A message of TFRecord files, in protocol buffers' wire format."""

    __slots__ = ()

    _fields: ClassVar[tuple[str, ...]] = ()
    __hash__ = None  # type: ignore[assignment]

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes; the same for equal messages."""
        raise NotImplementedError

    def _merge_field(self, number: int, kind: int, value: Any) -> None:
        raise NotImplementedError

    def _lines(self) -> list[str]:
        raise NotImplementedError

    def Clear(self) -> None:  # noqa: N802
        """Forgets all."""
        raise NotImplementedError

    @classmethod
    def FromString(cls, serialized: bytes) -> Self:  # noqa: N802
        """The message that these bytes are; DataError, a DataLossError, when they are none."""
        message = cls()
        message.MergeFromString(serialized)
        return message

    def ParseFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Becomes the message that these bytes are; the number of bytes read."""
        read = type(self).FromString(serialized)
        self.Clear()
        self.MergeFrom(read)
        return len(serialized)

    def MergeFromString(self, serialized: bytes) -> int:  # noqa: N802
        """Adds what the bytes say: lists grow, entries are replaced."""
        for number, kind, value in wire.fields(bytes(serialized)):
            self._merge_field(number, kind, value)
        return len(serialized)

    def MergeFrom(self, other: Self) -> None:  # noqa: N802
        """Adds what another message says."""
        if type(other) is not type(self):
            raise TypeError(f"expected {type(self).__name__}, found {type(other).__name__}")
        self.MergeFromString(other.SerializeToString())

    def CopyFrom(self, other: Self) -> None:  # noqa: N802
        """Becomes equal to another message."""
        if other is not self:
            self.Clear()
            self.MergeFrom(other)

    def ByteSize(self) -> int:  # noqa: N802
        """How many bytes `SerializeToString` gives."""
        return len(self.SerializeToString())

    def __eq__(self, other: object) -> bool:
        """Whether both say the same."""
        if type(other) is not type(self):
            return NotImplemented
        assert isinstance(other, Message)
        return self.SerializeToString() == other.SerializeToString()

    def __repr__(self) -> str:
        """The message in protobuf's text format."""
        return "".join([f"{line}\n" for line in self._lines()])


def block(name: str, lines: list[str]) -> list[str]:
    """A part of a message, in text."""
    return [f"{name} {{", *[f"  {line}" for line in lines], "}"]
