"""A bar on the terminal while trees grow: ``verbose=1``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress"]


@contextmanager
def progress(n: int, shown: bool, what: str) -> Iterator[Callable[[int], None] | None]:
    """Show a bar; yields what is to be told the number of finished trees, None without a bar.

    >>> with progress(10, False, "RandomForestClassifier") as told:
    ...     print(told)
    None
    """
    if not shown or n == 0:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    with Progress(
        f"{what}: growing trees", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    ) as bar:
        task = bar.add_task("", total=n)
        yield lambda done: bar.update(task, completed=done)
