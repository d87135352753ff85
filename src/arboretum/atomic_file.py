"""Replace a file as a whole: others see the old bytes or the new ones, even if the process is killed.

    .arboretum-3f2a….tmp   ──write, take over mode and owner, rename──▶   model.arb

The new bytes go to a scratch file beside the target, which is then renamed over it. The writer holds a lock
on its scratch file for as long as it lives. A scratch file in the same folder without a lock belongs to a
process that was killed, and the next write removes it. Where the system has no such locks (Windows, some
network drives) nothing is removed.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import uuid
from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["replacing"]

_PREFIX, _SUFFIX = ".arboretum-", ".tmp"


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[io.BufferedWriter]:
    """Open a new file that replaces ``path`` when the block ends without an error.

    A symbolic link stays one: the file it points to is replaced. The new file has the permissions, owner
    and group of the old one, as far as the system lets the user set them; a file that did not exist
    follows the umask. Scratch files of killed processes in the folder are removed.

    Parameters
    ----------
    path : path
    durable : bool
        Wait until the bytes are on the disk before the old file goes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/note") as file:
    ...         _ = file.write(b"oak")
    ...     print(os.listdir(folder))
    ['note']
    """
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    old = os.stat(path) if os.path.exists(path) else None
    _remove_abandoned(folder)
    scratch, file = _open_scratch(folder, 0o666 if old is None else 0o600)
    try:
        with file:
            yield file
            if old is not None:
                _take_over(file, scratch, old)
            file.flush()
            if durable:
                os.fsync(file.fileno())
            if fcntl is None:
                file.close()  # Windows renames no open file
            os.replace(scratch, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(scratch)
        raise


def _open_scratch(folder: str, mode: int) -> tuple[str, io.BufferedWriter]:
    """Create and lock a file; return its path too."""
    while True:
        scratch = os.path.join(folder, f"{_PREFIX}{uuid.uuid4().hex}{_SUFFIX}")
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
        file = os.fdopen(os.open(scratch, flags, mode), "wb")
        if fcntl is None:
            return scratch, file
        with contextlib.suppress(OSError):  # a drive without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        if os.path.exists(scratch):
            return scratch, file
        file.close()  # another process removed it before it was locked


def _take_over(file: io.BufferedWriter, scratch: str, old: os.stat_result) -> None:
    """Give the new file the permissions, owner and group of the old one, as far as the user may."""
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if hasattr(os, "fchown"):
        new = os.fstat(file.fileno())
        if new.st_uid != old.st_uid:  # only root may give files away
            with contextlib.suppress(OSError):
                os.fchown(file.fileno(), old.st_uid, -1)
        if new.st_gid != old.st_gid:
            try:
                os.fchown(file.fileno(), -1, old.st_gid)
            except OSError:  # what the old group was allowed is not for another group
                mode = mode & ~0o070 | (mode & 0o007) << 3
    with contextlib.suppress(OSError):  # a drive without permissions
        os.chmod(scratch, mode)


def _remove_abandoned(folder: str) -> None:
    """Remove the scratch files of processes that no longer live."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.name.endswith(_SUFFIX):
                _remove_if_abandoned(entry.path)


def _remove_if_abandoned(scratch: str) -> None:
    with contextlib.suppress(OSError):
        file = os.open(scratch, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while its writer lives
            os.unlink(scratch)
        finally:
            os.close(file)
