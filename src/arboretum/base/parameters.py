"""Declared parameters: what each may be, in words and as a test, and one shape of message.

    max_depth of CARTClassifier must be an int ≥ 1 or None, got -3
    CARTClassifier has no parameter 'max_dept': did you mean 'max_depth'?

An estimator lists its rules in ``_rules``; they are checked when it is fitted, as scikit-learn does, so
that `set_params` and grid search may pass through invalid states. Unknown names are refused at once.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from arboretum.errors import ParameterError

__all__ = ["Declared", "Rule", "anything", "integer", "one_of", "real", "text_or"]


@dataclass(frozen=True)
class Rule:
    """What a parameter may be: a phrase that completes "must be ...", and a test."""

    phrase: str
    allows: Callable[[Any], bool]

    def __or__(self, other: Rule) -> Rule:
        return Rule(f"{self.phrase} or {other.phrase}", lambda v: self.allows(v) or other.allows(v))


def integer(low: int, high: int | None = None) -> Rule:
    """Return the rule of an int in [low, high]."""
    phrase = f"an int ≥ {low}" if high is None else f"an int from {low} to {high}"

    def allows(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
            return False
        return int(value) >= low and (high is None or int(value) <= high)

    return Rule(phrase, allows)


def real(
    low: float, high: float = np.inf, *, open_low: bool = False, open_high: bool = False
) -> Rule:
    """Return the rule of a number between two ends."""
    left, right = "(" if open_low else "[", ")" if open_high else "]"
    phrase = f"a number in {left}{low:g}, {high:g}{right}"
    if high == np.inf:
        phrase = f"a number {'>' if open_low else '≥'} {low:g}"

    def allows(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
            return False
        try:
            number = float(value)
        except OverflowError:  # an int beyond float64
            return False
        above = number > low if open_low else number >= low
        below = number < high if open_high else number <= high
        return above and below and math.isfinite(number)

    return Rule(phrase, allows)


def fraction(low: float, high: float, **ends: bool) -> Rule:
    """Return the rule of a float (not an int) between two ends: a share of the rows or columns."""
    rule = real(low, high, **ends)
    return Rule(
        rule.phrase.replace("a number", "a float"),
        lambda v: rule.allows(v) and not isinstance(v, Integral),
    )


def one_of(*options: Any) -> Rule:
    """Return the rule of a few given values."""
    shown = [repr(option) for option in options]
    phrase = shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1]

    def allows(value: Any) -> bool:
        return any(
            value is option or (isinstance(value, str) and value == option) for option in options
        )

    return Rule(phrase, allows)


def text_or(phrase: str, *types: type) -> Rule:
    """Return the rule of a value of some types, described by a phrase."""
    return Rule(phrase, lambda v: isinstance(v, types))


anything = Rule("anything", lambda _: True)
flag = Rule("True or False", lambda v: isinstance(v, (bool, np.bool_)))
none = one_of(None)
seed = (
    integer(0, 2**32 - 1)
    | text_or("a RandomState", np.random.RandomState)
    | text_or("a Generator", np.random.Generator)
    | none
)
jobs = Rule(
    "a positive int, a negative int (-1: all cores) or None",
    lambda v: v is None or (isinstance(v, Integral) and not isinstance(v, bool) and v != 0),
)


class Declared:
    """Mixin: parameters are declared in ``_rules``; unknown ones are refused with a suggestion."""

    _rules: ClassVar[Mapping[str, Rule]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = _refuse_unknown(cls.__init__)  # type: ignore[method-assign]

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name (``estimator__name`` for nested ones); return the estimator."""
        known = self.get_params(deep=True)  # type: ignore[attr-defined]
        for name in params:
            owner, _, inner = name.partition("__")
            if name not in known and not (inner and hasattr(known.get(owner), "set_params")):
                raise _unknown(type(self).__name__, name, known)
        return super().set_params(**params)  # type: ignore[misc]

    def _check_parameters(self) -> None:
        """Raise a ParameterError for the first parameter that breaks its rule."""
        for name, rule in self._rules.items():
            value = getattr(self, name)
            if not rule.allows(value):
                raise ParameterError(
                    f"{name} of {type(self).__name__} must be {rule.phrase}, got {value!r}"
                )


def _refuse_unknown(init: Callable) -> Callable:
    known = [name for name in inspect.signature(init).parameters if name != "self"]

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in known:
                raise _unknown(type(self).__name__, name, known)
        init(self, *args, **kwargs)

    return checked


def _unknown(owner: str, name: str, known: Any) -> ParameterError:
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(sorted(known))}"
    return ParameterError(f"{owner} has no parameter {name!r}: {hint}")
