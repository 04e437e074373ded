"""`tf.data.experimental.SqlDataset`."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from spillway import arguments, functions, generators, nest
from spillway.building import make
from spillway.dtypes import as_dtype
from spillway.errors import InvalidArgumentError
from spillway.shown import shown
from spillway.specs import TensorSpec
from spillway.structures import to_structure
from spillway.tensor import convert_to_tensor
from spillway.tf.data.dataset import Dataset


@arguments.name_methods
class SqlDataset(Dataset):
    """The rows of a query of an SQLite file, which is opened for reading only.

    Every pass runs the query anew, on one state of the file: while it is under way, others may
    have to wait before they can write.
    A value becomes one of the dtype as SQLite and TensorFlow have it: NULL is 0, False or "", a
    text that is no number is 0, an integer that does not fit loses its upper bits.

    >>> import spillway.tf as tf, sqlite3, tempfile
    >>> path = tempfile.mkdtemp() + "/people.db"
    >>> with sqlite3.connect(path) as database:
    ...     _ = database.execute("CREATE TABLE people (name TEXT, age INTEGER)")
    ...     _ = database.execute("INSERT INTO people VALUES ('Ada', 36), ('Grace', 85)")
    >>> database.close()
    >>> ds = tf.data.experimental.SqlDataset(
    ...     "sqlite", path, "SELECT name, age FROM people ORDER BY age", (tf.string, tf.int32))
    >>> [(name.numpy(), int(age)) for name, age in ds]
    [(b'Ada', 36), (b'Grace', 85)]
    """

    __slots__ = ()

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any):
        """`driver_name` is "sqlite"; `output_types` has a dtype for each column of the result."""
        from spillway.tf.data import sql_rows, sql_values  # not every Python has sqlite3

        driver = _text(driver_name, "driver_name")
        source = _text(data_source_name, "data_source_name")
        asked = _text(query, "query")
        spec = nest.map_structure(lambda given: TensorSpec([], _dtype(given)), output_types)
        dtypes = tuple([leaf.dtype.name for leaf in nest.flatten(spec)])
        if not dtypes:
            raise InvalidArgumentError("Length for attr 'output_types' of 0 must be at least 1")
        for dtype in dtypes:
            if dtype not in sql_values.TYPES:
                raise InvalidArgumentError(
                    f"Each element of `output_types` must be one of: {', '.join(sql_values.TYPES)}:"
                    f" {dtype}"
                )
        if driver != "sqlite":
            raise InvalidArgumentError(
                f"The database type, {driver}, is not supported by SqlDataset. The set of "
                "supported databases is: {'sqlite'}."
            )
        like = nest.map_structure(lambda leaf: leaf.dtype.name, spec)
        structure = to_structure(spec)
        native = generators.native(
            sql_rows.rows,
            (source, asked, dtypes, like),
            structure,
            _fingerprint(sql_rows.rows, source, asked),
            f"SqlDataset({asked!r})",
        )
        super().__init__(make("from_generator", [native, structure, None], [], None)._node)


def _text(value: Any, name: str) -> str:
    given = os.fspath(value) if isinstance(value, os.PathLike) else value
    tensor = convert_to_tensor(given, "string")
    if tensor.shape.rank != 0:
        raise InvalidArgumentError(f"{name} must be a scalar: its shape is {tensor.shape}")
    content: bytes = tensor.numpy()
    if name == "data_source_name":
        return os.fsdecode(content)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{name} must be UTF-8: {content!r}: {error}") from error


def _dtype(given: Any) -> Any:
    if given is None or isinstance(given, TensorSpec | list):
        raise TypeError(
            f"Cannot convert the argument `type_value`: {shown(given)} to a TensorFlow DType."
        )
    return as_dtype(given)


def _fingerprint(function: Any, source: str, query: str) -> str:
    """Tells one query of one file from another, as the code of a generator does."""
    facts = repr((functions.fingerprint(function), source, query))
    return hashlib.sha1(facts.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()
