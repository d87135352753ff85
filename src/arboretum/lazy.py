"""Attributes computed when they are first read, without a lock.

Python 3.11's own ``cached_property`` holds one lock per property for all objects. A process forked while
another thread computes such a property inherits the lock held, with no thread to release it, and waits
forever. Here two threads may compute the same value; both then read the one that was stored first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property:
        """A method read as an attribute: computed once per object and kept in its ``__dict__``.

        >>> class Circle:
        ...     radius = 2
        ...
        ...     @cached_property
        ...     def area(self):
        ...         print("computing")
        ...         return 3.14 * self.radius**2
        >>> circle = Circle()
        >>> circle.area + circle.area
        computing
        25.12
        """

        def __init__(self, func):
            self.func = func
            self.__doc__ = func.__doc__

        def __set_name__(self, owner, name) -> None:
            self.attrname = name

        def __get__(self, instance: Any, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.attrname, self.func(instance))
