"""Arrays in files: a folder that a fit fills with memory-mapped arrays, and removes when it ends.

    Scratch ──► empty((28, 10_000_000), uint8) ──► an ordinary array whose pages the system may write out

Disk space is reserved before an array is mapped: writing to a map on a full disk would end the process. The
folder of a process that was killed is removed by the next fit, as no process holds the lock in it.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import numpy as np

from arboretum.errors import DataError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["Scratch", "map_array"]

_PREFIX, _LOCK = "arboretum-", "lock"
_ZEROS = bytes(1 << 20)


class Scratch:
    """A folder of temporary files, removed at the end of the context, whatever ends it."""

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        self.parent = Path(tempfile.gettempdir() if parent is None else parent)
        self._made = 0

    def __enter__(self) -> Self:
        _remove_abandoned(self.parent)
        try:
            self.folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=self.parent))
            self._lock = _locked(self.folder)
        except OSError as error:
            raise DataError(
                f"no folder can be made in {str(self.parent)!r} ({error.strerror}): name another one, "
                "Stream(source, scratch=…)"
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)

    def new_path(self, suffix: str = "") -> Path:
        """Return the path of a new file."""
        self._made += 1
        return self.folder / f"{self._made}{suffix}"

    def empty(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an array in a new file."""
        return map_array(self.new_path(), shape, dtype)

    def stored(self, values: np.ndarray) -> np.ndarray:
        """Return a copy of an array in a new file; objects stay in memory."""
        if values.dtype.hasobject:
            return values
        copy = self.empty(values.shape, values.dtype)
        copy[...] = values
        return copy


def _locked(folder: Path) -> int:
    """Make a file that is locked as long as this process lives; return its descriptor."""
    file = os.open(folder / "new", os.O_CREAT | os.O_RDWR)
    if fcntl is not None:
        with suppress(OSError):  # a drive without locks
            fcntl.flock(file, fcntl.LOCK_EX)
            os.rename(folder / "new", folder / _LOCK)  # only locked files have this name
    return file


def _remove_abandoned(parent: Path) -> None:
    """Remove the folders of processes that were killed."""
    for lock in parent.glob(f"{_PREFIX}*/{_LOCK}") if fcntl is not None else ():
        with suppress(OSError):
            file = os.open(lock, os.O_RDWR | os.O_NOFOLLOW)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its process lives
                shutil.rmtree(lock.parent, ignore_errors=True)
            finally:
                os.close(file)


def map_array(
    path: Path, shape: tuple[int, ...], dtype: Any, *, exists: bool = False
) -> np.ndarray:
    """Return a file as an array; writing to one that exists already does not change the file."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if size == 0:
        return np.empty(shape, dtype)
    if not exists:
        _reserve(path, size)
    mapped = np.memmap(path, dtype, "c" if exists else "r+", shape=shape)
    return np.asarray(mapped)  # kernels are compiled for plain arrays


def _reserve(path: Path, size: int) -> None:
    """Make a file of ``size`` bytes that are really there."""
    try:
        with path.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
                return
            for start in range(0, size, len(_ZEROS)):
                file.write(_ZEROS[: size - start])
    except OSError as error:
        path.unlink(missing_ok=True)
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise DataError(
            f"{str(path.parent)!r} has no room for {size / 1e9:,.2f} GB of codes "
            f"({error.strerror}): free some, or name a folder on another disk, Stream(source, scratch=…)"
        ) from error
