"""`replaced`: methods of something that others wrote, other ones for a while."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["replaced"]


@contextlib.contextmanager
def replaced(owner: Any, **methods: Callable) -> Iterator[None]:
    """Set methods of a class or functions of a module, and put its own back."""
    its_own = {name: vars(owner)[name] for name in methods if name in vars(owner)}
    for name, method in methods.items():
        setattr(owner, name, method)
    try:
        yield
    finally:
        for name in methods:
            if name in its_own:
                setattr(owner, name, its_own[name])
            else:  # it is that of another class
                delattr(owner, name)
