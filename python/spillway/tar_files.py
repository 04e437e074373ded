"""`Dataset.from_tar`: samples of tar archives."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from spillway import _native
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
    wanted = _found(paths, compression_type) if exact else _extensions(keys)
    params = (wanted, compression_type, None, exact, resynchronise)
    return records("tar_samples", paths, num_parallel_reads, params, name, policy)


def _extensions(keys: Any) -> list[str]:
    """In lower case, as samples have them."""
    each: Iterable[Any] = [keys] if isinstance(keys, str) else keys
    out = [str(key).lower() for key in each]
    if not out:
        raise ValueError("from_tar: keys must name at least one extension")
    return out


def _found(paths: Any, compression_type: str | None) -> list[str]:
    """The extensions of the first sample there is."""
    from spillway.dataset import Dataset

    if isinstance(paths, Dataset):
        raise ValueError(
            "from_tar: archives that are named by a dataset are not read when it is built: name "
            "the extensions to take: keys=('jpg', 'cls')"
        )
    files = paths if isinstance(paths, list | tuple) else [paths]
    for path in files:
        keys = _native.tar_keys(os.fsdecode(path), compression_type)
        if keys:
            return keys
    raise ValueError(
        f"from_tar: no sample in {', '.join(map(str, files)) or 'no file'}: name the extensions "
        "to take: keys=('jpg', 'cls')"
    )
