"""`tf.keras.utils.text_dataset_from_directory`."""

from __future__ import annotations

from typing import Any

from spillway.tf.keras.utils.folders import Wanted, dataset_of, ops


def text_dataset_from_directory(
    directory: Any,
    labels: Any = "inferred",
    label_mode: str | None = "int",
    class_names: Any = None,
    batch_size: int | None = 32,
    max_length: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    validation_split: float | None = None,
    subset: str | None = None,
    follow_links: bool = False,
    format: str = "tf",
    verbose: bool = True,
) -> Any:
    """The .txt files of a folder, whole, with the names of their folders as labels.

    >>> import spillway.tf as tf, pathlib, tempfile
    >>> root = pathlib.Path(tempfile.mkdtemp())
    >>> for name in ("neg", "pos"):
    ...     (root / name).mkdir()
    ...     _ = (root / name / "1.txt").write_text(f"so {name}")
    >>> ds = tf.keras.utils.text_dataset_from_directory(root, shuffle=False, verbose=False)
    >>> [(texts.numpy().tolist(), labels.numpy().tolist()) for texts, labels in ds]
    [([b'so neg', b'so pos'], [0, 1])]
    """
    wanted = Wanted(directory, labels, label_mode, class_names, batch_size, shuffle, seed,
                    validation_split, subset, follow_links, format, verbose, "text")  # fmt: skip

    def load(path: Any) -> Any:
        text = ops.io.read_file(path)
        return text if max_length is None else ops.strings.substr(text, 0, max_length)

    return dataset_of(wanted, (".txt",), load)
