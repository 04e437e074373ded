"""`tf.train.Example`: the bytes are protobuf's, whoever wrote them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import spillway.tf as tf

train: Any = tf.train  # types that are wrong on purpose
Example, Features, Feature = train.Example, train.Features, train.Feature
BytesList, FloatList, Int64List = train.BytesList, train.FloatList, train.Int64List

# Written by TensorFlow 2.21.
RECORD = (
    b'\nl\n\x11\n\x01b\x12\x0c\n\n\n\x02ab\n\x00\n\x02\xff\x00\n\x08\n\x02el\x12\x02\x1a\x00\n\x05'
    b'\n\x01e\x12\x00\n\x19\n\x01f\x12\x14\x12\x12\n\x10\x00\x00\x00\x00\x00\x00\xc0?\x00\x00\x10'
    b'\xc0\x00\x00\x80\x7f\n+\n\x01i\x12&\x1a$\n"\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01'
    b'\x7f\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01'
)  # fmt: skip
NUMBERS = [0, 1, -1, 127, 128, 2**63 - 1, -(2**63)]


def example() -> Any:
    return Example(
        features=Features(
            feature={
                "b": Feature(bytes_list=BytesList(value=[b"ab", b"", b"\xff\x00"])),
                "i": Feature(int64_list=Int64List(value=NUMBERS)),
                "f": Feature(float_list=FloatList(value=[0.0, 1.5, -2.25, float("inf")])),
                "e": Feature(),
                "el": Feature(int64_list=Int64List()),
            }
        )
    )


def test_what_tensorflow_wrote_is_read() -> None:
    read = Example.FromString(RECORD)
    feature = read.features.feature
    assert sorted(feature) == ["b", "e", "el", "f", "i"]
    assert feature["b"].bytes_list.value == [b"ab", b"", b"\xff\x00"]
    assert feature["i"].int64_list.value == NUMBERS
    assert feature["f"].float_list.value == [0.0, 1.5, -2.25, float("inf")]
    assert feature["e"].WhichOneof("kind") is None
    assert feature["el"].WhichOneof("kind") == "int64_list"
    assert read == example()


def test_what_is_written_is_as_long_as_tensorflows_and_the_same_every_time() -> None:
    written = example().SerializeToString()
    assert len(written) == len(RECORD) == example().ByteSize()
    assert sorted(written) == sorted(RECORD)  # entries may come in another order
    assert Example.FromString(written).SerializeToString() == written
    one = Features(feature={"x": Feature(int64_list=Int64List(value=[1]))})
    assert (
        Example(features=one).SerializeToString() == b"\n\x0c\n\n\n\x01x\x12\x05\x1a\x03\n\x01\x01"
    )


def test_messages_compare_by_content() -> None:
    assert example() == example()
    other = example()
    other.features.feature["i"].int64_list.value[0] = 9
    assert other != example()
    assert example() != 3
    with pytest.raises(TypeError, match="unhashable"):
        hash(example())


def test_messages_show_protobufs_text() -> None:
    assert repr(Feature(int64_list=Int64List(value=[1]))) == "int64_list {\n  value: 1\n}\n"
    assert str(FloatList(value=[1, 1.5, 0.1])) == "value: 1\nvalue: 1.5\nvalue: 0.1\n"
    assert str(BytesList(value=[b'a"\n\xff'])) == 'value: "a\\"\\n\\377"\n'


def test_the_last_list_set_counts() -> None:
    feature = Feature()
    feature.int64_list.value[:] = [4]
    assert feature.WhichOneof("kind") == "int64_list"
    feature.float_list.value.append(2.0)
    assert feature.WhichOneof("kind") == "float_list"
    assert feature.int64_list.value == [] and not feature.HasField("int64_list")
    both = Feature(int64_list=Int64List(value=[1]), float_list=FloatList(value=[1.0]))
    assert both.WhichOneof("kind") == "float_list"


def test_a_name_that_is_read_is_added_and_one_that_is_asked_for_is_not() -> None:
    features = Features()
    assert "x" not in features.feature
    assert features.feature.get("x") is None and not features.feature
    features.feature["x"].bytes_list.value.extend([b"a"])
    assert features.feature["x"].bytes_list.value == [b"a"]
    with pytest.raises(ValueError, match="Direct assignment"):
        features.feature["x"] = Feature()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Int64List(value=[1.5]), TypeError),
        (lambda: Int64List(value=[True]), TypeError),
        (lambda: Int64List(value=[2**63]), ValueError),
        (lambda: Int64List(value=3), TypeError),
        (lambda: BytesList(value=["a"]), TypeError),
        (lambda: BytesList(value=b"ab"), TypeError),
        (lambda: FloatList(value=["1"]), TypeError),
        (lambda: Feature(int64_list=BytesList(value=[b"a"])), TypeError),
        (lambda: Feature(words=BytesList()), ValueError),
        (lambda: Features(feature={"x": 3}), TypeError),
        (lambda: Int64List().value.append(None), TypeError),
        (lambda: setattr(Int64List(), "value", [1]), AttributeError),
        (lambda: setattr(Feature(), "int64_list", Int64List()), AttributeError),
    ],
)
def test_values_of_another_type_are_refused(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_numpys_numbers_are_numbers() -> None:
    assert Int64List(value=np.arange(3, dtype=np.uint8)).value == [0, 1, 2]
    assert FloatList(value=np.array([0.1])).value == [float(np.float32(0.1))]
    assert FloatList(value=[1e300]).value == [float("inf")]


def test_numbers_are_read_packed_or_one_by_one() -> None:
    assert Int64List.FromString(b"\x08\x01\x08\x02\x0a\x02\x03\x04").value == [1, 2, 3, 4]
    assert FloatList.FromString(b"\x0d\x00\x00\x80\x3f").value == [1.0]


def test_parts_that_come_twice_are_merged_and_entries_replaced() -> None:
    one = Example(features=Features(feature={"x": Feature(int64_list=Int64List(value=[1]))}))
    twice = Example.FromString(one.SerializeToString() * 2)
    assert twice == one  # the second entry of a name replaces the first
    feature = Feature(int64_list=Int64List(value=[1])).SerializeToString()
    assert Feature.FromString(feature * 2).int64_list.value == [1, 1]


def test_fields_from_another_version_are_passed_over() -> None:
    assert Int64List.FromString(b"\x10\x05\x19" + bytes(8) + b"\x0b\x0c").value == []


def test_parsing_again_forgets_what_was_there() -> None:
    message = example()
    assert message.ParseFromString(b"") == 0
    assert message == Example()
    message.MergeFromString(RECORD)
    assert message == example()
    other = Example()
    other.CopyFrom(message)
    other.features.feature["i"].int64_list.value.append(1)
    assert message == example()


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x0a\xff", "must end within"),
        (b"\x0a\x05ab", "must end within its message: 5 bytes"),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "must end within"),
        (b"\x80" * 11, "at most 10 bytes"),
        (b"\x00\x05", "number must be from 1"),
        (b"\x0c", "must have a beginning"),
        (b"\x0b", "a group must end"),
        (b"\x0b" * 200, "at most 100 deep"),
        (b"\x0e\x01", "wire type"),
        (b"\x0a\x05\x0a\x03\x0a\x01\xff", "must be UTF-8"),
    ],
)
def test_damaged_bytes_are_data_loss_with_an_offset(data: bytes, text: str) -> None:
    with pytest.raises(tf.errors.DataLossError, match=text) as caught:
        Example.FromString(data)
    assert isinstance(caught.value, ValueError)


def test_a_message_that_is_refused_changes_nothing_when_it_is_parsed() -> None:
    message = example()
    with pytest.raises(tf.errors.DataLossError):
        message.ParseFromString(RECORD[:-1])
    assert message == example()


def test_random_damage_is_read_or_refused() -> None:
    chance = random.Random(7)
    refused = 0
    for _ in range(3000):
        data = bytearray(RECORD)
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            Example.FromString(bytes(data[: chance.randint(0, len(data))]))
        except tf.errors.DataLossError:
            refused += 1
    assert 0 < refused < 3000


FIXED, SEQUENCE = tf.io.FixedLenFeature, tf.io.FixedLenSequenceFeature


@pytest.mark.parametrize(
    ("feature", "missing"),
    [
        (FIXED((1, 2, 1), tf.float32, [3.0, -3.0]), [[[3.0], [-3.0]]]),
        (FIXED((2,), tf.float32, [[3.0, -3.0]]), [3.0, -3.0]),
        (FIXED((2,), tf.float32, [3.0]), None),
        (FIXED((2,), tf.float32, 5.0), None),
        (SEQUENCE((), tf.float32, True, [7.0]), [7.0, 7.0]),
        (SEQUENCE((2,), tf.float32, True, 7.0), [[7.0, 7.0]]),
        (SEQUENCE((2, 1), tf.float32, True, []), None),
        (SEQUENCE((2,), tf.float32, True, [7.0, 8.0]), None),
    ],
)
def test_a_default_is_reshaped_to_what_it_stands_for(feature: Any, missing: Any) -> None:
    """What TensorFlow 2.21 gave; None: it refused."""
    there = Example(
        features=Features(feature={"a": Feature(float_list=FloatList(value=[1.0, 2.0]))})
    )
    records = [Example().SerializeToString(), there.SerializeToString()]
    if missing is None:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input to reshape is a tensor"):
            tf.io.parse_example(records, {"a": feature})
    else:
        assert tf.io.parse_example(records, {"a": feature})["a"].numpy().tolist()[0] == missing
