"""Parameters that have other names: `eta` for `learning_rate`.

A peer's programs know several names of one thing, and its scikit-learn classes pass them on. Here they are
translated when an estimator is made and when a parameter is set, so that `get_params` has one name for each.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from arboretum.base.parameters import Declared
from arboretum.errors import ParameterError

__all__ = ["Aliased"]


class Aliased(Declared):
    """Mixin: other names of parameters stand in ``_aliases``, unknown ones are refused.

    Examples
    --------
    >>> class Model(Aliased):
    ...     _aliases = {"eta": "learning_rate"}
    ...     def __init__(self, *, learning_rate=0.3):
    ...         self.learning_rate = learning_rate
    >>> Model(eta=0.1).learning_rate
    0.1
    """

    _aliases: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = _translating(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: Any) -> Any:
        """Set parameters by any of their names; return the estimator."""
        return super().set_params(**_translated(type(self), params))


def _translating(init: Callable) -> Callable:
    @functools.wraps(init)
    def translated(self: Any, *args: Any, **kwargs: Any) -> None:
        init(self, *args, **_translated(type(self), kwargs))

    return translated


def _translated(owner: type[Aliased], given: dict[str, Any]) -> dict[str, Any]:
    """Return parameters under their own names."""
    found: dict[str, Any] = {}
    said: dict[str, str] = {}
    for name, value in given.items():
        own = owner._aliases.get(name, name)
        if own in said:
            raise ParameterError(
                f"{said[own]} and {name} of {owner.__name__} are one parameter: give one of them"
            )
        found[own], said[own] = value, name
    return found
