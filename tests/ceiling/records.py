"""Cases: records of files, read and parsed where they lie."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import spillway.tf as tf
from tests.ceiling.case import MIB, Facts, case

RECORD = 1 * MIB


def written(folder: str, count: int) -> str:
    """Examples of about 1 MiB, each with its number in every byte and as a feature."""
    path = str(Path(folder) / "large.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(count):
            image = tf.train.BytesList(value=[bytes([i % 251]) * RECORD])
            number = tf.train.Int64List(value=[i])
            feature = {
                "image": tf.train.Feature(bytes_list=image),
                "number": tf.train.Feature(int64_list=number),
            }
            example = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(example.SerializeToString())
    return path


def numbers(dataset: Any) -> list[int]:
    """The numbers of the examples, where their images agree."""
    seen = []
    for batch in dataset:
        for image, number in zip(batch["image"].numpy(), batch["number"].numpy(), strict=True):
            whole = len(image) == RECORD and image[:1] == image[-1:] == bytes([number % 251])
            seen.append(int(number) if whole else -1)
    return seen


def parsed(path: str) -> Any:
    features = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "number": tf.io.FixedLenFeature([], tf.int64),
    }
    records = tf.data.TFRecordDataset(path)
    return records.map(lambda record: tf.io.parse_single_example(record, features))


@case(limit=64 * MIB)
def batches_of_large_records(limit: int) -> Facts:
    """Batches of parsed records, an eighth of the limit each, share what was read."""
    count = 3 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        return Facts(numbers(parsed(written(folder, count)).batch(limit // 8 // MIB)), range(count))


@case(limit=64 * MIB)
def shuffle_of_large_records(limit: int) -> Facts:
    """Parsed records in a shuffle buffer beyond the limit go to disk as they lie."""
    count = 2 * limit // MIB
    with tempfile.TemporaryDirectory() as folder:
        mixed = parsed(written(folder, count)).shuffle(count, seed=3)
        return Facts(numbers(mixed.batch(4)), range(count))
