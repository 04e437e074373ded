"""`Dataset.from_tar`: samples of tar archives."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from spillway import _native
from spillway.errors import DataLossError, FileError, InvalidArgumentError, SpillwayError
from spillway.record_files import records

if TYPE_CHECKING:
    from spillway.dataset import Dataset


def samples(
    paths: Any,
    keys: Any,
    compression_type: str | None,
    num_parallel_reads: int | None,
    resynchronise: bool,
    name: str | None,
    policy: dict[str, Any],
) -> Dataset:
    """See `Dataset.from_tar`."""
    exact = keys is None
    lenient = policy.get("on_error") in ("skip", "quarantine")
    wanted = _found(paths, compression_type, lenient) if exact else _extensions(keys)
    params = (wanted, compression_type, None, exact, resynchronise)
    return records("tar_samples", paths, num_parallel_reads, params, name, policy)


def _extensions(keys: Any) -> list[str]:
    """In lower case, as samples have them."""
    each: Iterable[Any] = [keys] if isinstance(keys, str) else keys
    out = [str(key).lower() for key in each]
    if not out:
        raise ValueError("from_tar: keys must name at least one extension")
    return out


def _found(paths: Any, compression_type: str | None, lenient: bool) -> list[str]:
    """The extensions of the first sample there is; `lenient`: in an archive that can be read."""
    from spillway.dataset import Dataset

    if isinstance(paths, Dataset):
        raise ValueError(
            "from_tar: archives that are named by a dataset are not read when it is built: name "
            "the extensions to take: keys=('jpg', 'cls')"
        )
    files = paths if isinstance(paths, list | tuple) else [paths]
    refused: SpillwayError | None = None
    for path in files:
        try:
            keys = _native.tar_keys(os.fsdecode(path), compression_type)
        except (DataLossError, FileError, InvalidArgumentError) as error:
            refused = refused or error
            if not lenient:
                raise
        else:
            if keys:
                return keys
    if refused is not None:
        raise refused
    raise ValueError(
        f"from_tar: no sample in {', '.join(map(str, files)) or 'no file'}: name the extensions "
        "to take: keys=('jpg', 'cls')"
    )
