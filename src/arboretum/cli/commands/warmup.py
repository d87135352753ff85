"""`arboretum warmup`: compile ahead what first fits would wait for."""

from __future__ import annotations

from collections.abc import Sequence

from arboretum.cli.screen import print_facts, print_note

__all__ = ["warm_up"]


def warm_up(estimators: Sequence[str] | None, jobs: int | None) -> None:
    """Run the command."""
    from arboretum.engine.compiler.cache import writable_cache
    from arboretum.engine.compiler.warmup import warmup

    done = warmup(estimators or None, n_jobs=jobs)
    print_facts(
        [("kernels", str(done)), ("kept in", str(writable_cache() or "no place: not kept"))]
    )
    for line in done.failed:
        print_note(f"not compiled: {line}")
