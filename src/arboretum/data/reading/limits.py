"""How much may be unpacked: no more than the memory of the machine."""

from __future__ import annotations

import os

from arboretum.errors import DataError

__all__ = ["check_size_of", "first_line", "memory_size"]


def check_size_of(name: str, size: int, remedy: str) -> None:
    """Refuse a table of more bytes than the machine has memory."""
    memory = memory_size()
    if size > memory:
        raise DataError(
            f"{name!r} unpacks to at least {size / 1e9:,.1f} GB, more than the {memory / 1e9:,.1f} GB of "
            f"memory of this machine: {remedy}"
        )


def memory_size() -> int:
    """Return the bytes of memory of the machine."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (
        AttributeError,
        ValueError,
        OSError,
    ):  # Windows: the most a 64-bit Python may have today
        return 1 << 40


def first_line(error: Exception) -> str:
    """Return the first line of a message, or the kind of the error if it has none."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
