"""`tf.train.Example` and what it is made of, without protobuf.

>>> import spillway.tf as tf
>>> example = tf.train.Example(features=tf.train.Features(feature={
...     "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}))
>>> data = example.SerializeToString()
>>> tf.train.Example.FromString(data).features.feature["x"].int64_list.value
[1, 2]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, ClassVar

from spillway.errors import DataError
from spillway.tf.train import wire
from spillway.tf.train.message import Message, block
from spillway.tf.train.values import BytesList, FloatList, Int64List, ListMessage, escaped

_KINDS: dict[str, tuple[int, type[ListMessage]]] = {
    "bytes_list": (1, BytesList),
    "float_list": (2, FloatList),
    "int64_list": (3, Int64List),
}


class Feature(Message):
    """One of `bytes_list`, `float_list`, `int64_list`, or nothing; the last one set counts.

    >>> feature = Feature()
    >>> feature.float_list.value.append(1.5)
    >>> feature.WhichOneof("kind"), feature.int64_list.value
    ('float_list', [])
    """

    __slots__ = ("_kind", "_list")

    _fields: ClassVar[tuple[str, ...]] = tuple(_KINDS)
    _kind: str | None
    _list: ListMessage | None
    bytes_list: BytesList
    float_list: FloatList
    int64_list: Int64List

    def __init__(self, **lists: ListMessage | None) -> None:
        """Holds the list given; of several, the last."""
        self._kind = self._list = None
        for name, given in lists.items():
            if name not in _KINDS:
                raise ValueError(f'Protocol message Feature has no "{name}" field.')
            if given is None:
                continue
            wanted = _KINDS[name][1]
            if not isinstance(given, wanted):
                raise TypeError(f"{name} must be a {wanted.__name__}: {type(given).__name__}")
            self._kind, self._list = name, wanted(given.value)

    def __getattr__(self, name: str) -> Any:
        """The list of a kind; an empty one that is not in the message until it is changed."""
        if name not in _KINDS:
            raise AttributeError(f"Feature has no field {name!r}", name=name, obj=self)
        if name == self._kind:
            return self._list
        made = _KINDS[name][1]()

        def attach() -> None:
            if self._list is not made:
                self._kind, self._list = name, made

        made._when_changed = attach
        return made

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuses to replace a list: change what is in it."""
        if name in _KINDS:
            raise AttributeError(
                f'Assignment not allowed to message field "{name}" in protocol message object.'
            )
        object.__setattr__(self, name, value)

    def WhichOneof(self, oneof_group: str) -> str | None:  # noqa: N802
        """The name of the list that is set; None when there is none."""
        if oneof_group != "kind":
            raise ValueError(f"Feature has no oneof {oneof_group!r}")
        return self._kind

    def HasField(self, field_name: str) -> bool:  # noqa: N802
        """Whether this list is the one that is set."""
        if field_name not in _KINDS:
            raise ValueError(f"Feature has no field {field_name!r}")
        return self._kind == field_name

    def Clear(self) -> None:  # noqa: N802
        """Forgets the list."""
        self._kind = self._list = None

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes."""
        if self._kind is None or self._list is None:
            return b""
        return wire.field(_KINDS[self._kind][0], self._list.SerializeToString())

    def _merge_field(self, number: int, kind: int, value: Any) -> None:
        for name, (own, _) in _KINDS.items():
            if own == number and kind == wire.BYTES:
                found = getattr(self, name)
                self._kind, self._list = name, found
                found.MergeFromString(value)

    def _lines(self) -> list[str]:
        return [] if self._kind is None else block(self._kind, getattr(self, self._kind)._lines())


class MessageMap(MutableMapping[str, Any]):
    """Messages by name. Reading a name that is not there adds it, as protobuf does."""

    __slots__ = ("_items", "_kind")

    def __init__(self, kind: type[Message], given: Mapping[str, Any] | None) -> None:
        """Holds copies of what is given."""
        self._kind = kind
        self._items: dict[str, Any] = {}
        for key, value in (given or {}).items():
            self._put(key, value)

    def _put(self, key: str, value: Any) -> None:
        if not isinstance(value, self._kind):
            raise TypeError(f"{key}: must be a {self._kind.__name__}: {type(value).__name__}")
        self[key].CopyFrom(value)

    def __getitem__(self, key: str) -> Any:
        """The message of this name, made when it is not there."""
        if not isinstance(key, str):
            raise TypeError(f"a name must be a string: {key!r}")
        if key not in self._items:
            self._items[key] = self._kind()
        return self._items[key]

    def __setitem__(self, key: str, value: Any) -> None:
        """Refused, as protobuf does: `map[key].CopyFrom(value)`."""
        raise ValueError("Direct assignment of submessage not allowed")

    def __delitem__(self, key: str) -> None:
        """Forgets a name."""
        del self._items[key]

    def __contains__(self, key: object) -> bool:
        """Whether the name is there; does not add it."""
        return key in self._items

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._items)

    def __len__(self) -> int:
        """The number of names."""
        return len(self._items)

    def get(self, key: str, default: Any = None) -> Any:
        """The message of this name, or `default`; does not add it."""
        return self._items.get(key, default)

    def __repr__(self) -> str:
        """As a dict."""
        return repr(self._items)


class _Entries(Message):
    """A message that is one map from names to messages, in field 1."""

    __slots__ = ("_map",)

    _kind: ClassVar[type[Message]]

    def __init__(self, entries: Mapping[str, Any] | None = None) -> None:
        self._map = MessageMap(self._kind, entries)

    def Clear(self) -> None:  # noqa: N802
        """Forgets all entries."""
        self._map.clear()

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes, entries by name."""
        entries = sorted(self._map.items())
        return b"".join(
            [
                wire.field(
                    1, wire.field(1, key.encode()) + wire.field(2, value.SerializeToString())
                )
                for key, value in entries
            ]
        )

    def _merge_field(self, number: int, kind: int, value: Any) -> None:
        if number != 1 or kind != wire.BYTES:
            return
        key, message = "", self._kind()
        for inner, inner_kind, content in wire.fields(value):
            if inner == 1 and isinstance(content, bytes) and inner_kind == wire.BYTES:
                try:
                    key = content.decode()
                except UnicodeDecodeError as error:
                    raise DataError(f"protobuf: a name must be UTF-8: {content!r}") from error
            elif inner == 2 and isinstance(content, bytes) and inner_kind == wire.BYTES:
                message.MergeFromString(content)
        self._map._items[key] = message

    def _lines(self) -> list[str]:
        lines = []
        for key, value in sorted(self._map.items()):
            entry = [f'key: "{escaped(key.encode())}"', *block("value", value._lines())]
            lines += block(self._fields[0], entry)
        return lines


class Features(_Entries):
    """`feature`: features by name."""

    __slots__ = ()

    _fields: ClassVar[tuple[str, ...]] = ("feature",)
    _kind = Feature

    def __init__(self, feature: Mapping[str, Feature] | None = None) -> None:
        """Holds copies of what is given."""
        super().__init__(feature)

    @property
    def feature(self) -> MessageMap:
        """The features by name."""
        return self._map


class Example(Message):
    """`features`: what a record of training data says.

    >>> Example.FromString(Example().SerializeToString()) == Example()
    True
    """

    __slots__ = ("_features",)

    _fields: ClassVar[tuple[str, ...]] = ("features",)

    def __init__(self, features: Features | None = None) -> None:
        """Holds a copy of what is given."""
        self._features = Features()
        if features is not None:
            self._features.CopyFrom(features)

    @property
    def features(self) -> Features:
        """The features."""
        return self._features

    def Clear(self) -> None:  # noqa: N802
        """Forgets the features."""
        self._features.Clear()

    def SerializeToString(self, deterministic: bool | None = None) -> bytes:  # noqa: N802
        """The message as bytes."""
        content = self._features.SerializeToString()
        return wire.field(1, content) if content else b""

    def _merge_field(self, number: int, kind: int, value: Any) -> None:
        if number == 1 and kind == wire.BYTES:
            self._features.MergeFromString(value)

    def _lines(self) -> list[str]:
        lines = self._features._lines()
        return block("features", lines) if lines else []
