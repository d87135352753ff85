"""Declared parameters: the values each may have, in words and as a test, and its meaning.

    "max_depth": Parameter(integer(1) | none, "Depth at which growing stops.")

An estimator lists such entries in ``_parameters``; its signature has the defaults. From the two come the
check when it is fitted, the errors, and the text of its documentation:

    The 'max_depth' parameter of DecisionTreeClassifier must be an int ≥ 1 or None, got -3
    DecisionTreeClassifier has no parameter 'max_dept': did you mean 'max_depth'?

Parameters are checked when a model is fitted, as scikit-learn does, so that `set_params` and grid search may
pass through invalid states. Unknown names are refused at once; a peer's other names of a parameter (``eta``
for ``learning_rate``) are translated at once, so that `get_params` has one name for each.

The documentation of an estimator is assembled from the same declarations (`parameter_lines`):

    [parameters]    ──►   max_depth : int ≥ 1 or None, default=None
                              Depth at which growing stops.

The type comes from the rule that checks the value, the default from the signature and the sentence from the
declaration, so none of them is written twice.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from arboretum.errors import ParameterError

__all__ = [
    "Declared",
    "Parameter",
    "ParameterRule",
    "anything",
    "described",
    "equal",
    "integer",
    "list_of",
    "one_of",
    "parameter_lines",
    "real",
    "take_arguments",
    "text_or",
]


_WIDTH = 100
_INDENT = " " * 4
_ARTICLE = re.compile(r"(^|, | or )an? ")


def described(owner: Any) -> str:
    """Return the docstring of a class with its parameters and attributes filled in.

    >>> from arboretum import DecisionTreeClassifier
    >>> [line for line in DecisionTreeClassifier.__doc__.splitlines() if "max_depth :" in line]
    ['max_depth : int ≥ 1 or None, default=None']
    """
    text = inspect.cleandoc(owner.__doc__)  # as Python 3.13 compiles it
    if "[parameters]" in text:
        text = text.replace("[parameters]", parameter_lines(owner))
    if "[attributes]" in text:
        entries = (_entry(name, words) for name, words in owner._attributes.items())
        text = text.replace("[attributes]", "\n".join(entries))
    return text


def parameter_lines(owner: Any) -> str:
    """Return the lines on the parameters of a class, as its documentation has them.

    >>> from arboretum import DecisionTreeClassifier
    >>> print(parameter_lines(DecisionTreeClassifier).splitlines()[0])
    criterion : "gini", "entropy", "log_loss" or "error", default="gini"
    """
    entries = []
    for name, argument in inspect.signature(owner.__init__).parameters.items():
        if name != "self" and argument.kind is not argument.VAR_KEYWORD:
            declared = owner._parameters[name]
            head = f"{name} : {_kind(declared.rule.phrase)}, default={_shown(argument.default)}"
            entries.append(_entry(head, declared.text))
    return "\n".join(entries)


def _kind(phrase: str) -> str:
    """Return the phrase of a rule as a type: "an int ≥ 1 or None" is "int ≥ 1 or None"."""
    return _ARTICLE.sub(r"\1", phrase).replace("'", '"')


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:g}" if isinstance(value, float) and 0 < value < 1 else repr(value)


def _entry(head: str, text: str) -> str:
    if not text:
        return head
    body = textwrap.fill(
        " ".join(text.split()),
        _WIDTH,
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return f"{head}\n{body}"


@dataclass(frozen=True)
class ParameterRule:
    """The values a parameter may have: a phrase that completes "must be ...", and a test."""

    phrase: str
    allows: Callable[[Any], bool]

    def __or__(self, other: ParameterRule) -> ParameterRule:
        return ParameterRule(
            f"{self.phrase} or {other.phrase}", lambda v: self.allows(v) or other.allows(v)
        )


@dataclass(frozen=True)
class Parameter:
    """The values a parameter may have, and its meaning."""

    rule: ParameterRule
    text: str = ""


def integer(low: int, high: int | None = None) -> ParameterRule:
    """Return the rule for an int in [low, high]."""
    phrase = f"an int ≥ {low}" if high is None else f"an int from {low} to {high}"

    def allows(value: Any) -> bool:
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
            return False
        return int(value) >= low and (high is None or int(value) <= high)

    return ParameterRule(phrase, allows)


def real(
    low: float, high: float = np.inf, *, open_low: bool = False, open_high: bool = False
) -> ParameterRule:
    """Return the rule for a number between two ends."""
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

    return ParameterRule(phrase, allows)


def fraction(low: float, high: float, **ends: bool) -> ParameterRule:
    """Return the rule for a float (not an int) between two ends: a share of the rows or columns."""
    rule = real(low, high, **ends)
    return ParameterRule(
        rule.phrase.replace("a number", "a float"),
        lambda v: rule.allows(v) and not isinstance(v, Integral),
    )


def one_of(*options: Any) -> ParameterRule:
    """Return the rule for a few given values."""
    shown = [repr(option) for option in options]
    phrase = shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1]

    def allows(value: Any) -> bool:
        return any(
            value is option or (isinstance(value, str) and value == option) for option in options
        )

    return ParameterRule(phrase, allows)


def list_of(rule: ParameterRule) -> ParameterRule:
    """Return the rule for a number, or a list of them."""

    def allows(value: Any) -> bool:
        values = np.atleast_1d(np.asarray(value, object))
        return values.ndim == 1 and len(values) > 0 and all(rule.allows(v) for v in values)

    return ParameterRule(f"{rule.phrase}, or a list of them", allows)


def text_or(phrase: str, *types: type) -> ParameterRule:
    """Return the rule for a value of some types, described by a phrase."""
    return ParameterRule(phrase, lambda v: isinstance(v, types))


def checked_later(phrase: str) -> ParameterRule:
    """Return the rule for a value that is checked together with the table."""
    return ParameterRule(phrase, lambda _: True)


anything = checked_later("anything")
flag = ParameterRule("True or False", lambda v: isinstance(v, (bool, np.bool_)))
none = one_of(None)
_generator = (
    text_or("a RandomState", np.random.RandomState)
    | text_or("a Generator", np.random.Generator)
    | none
)
seed = integer(0, 2**32 - 1) | _generator
key = ParameterRule("an int from 0 to 2**64 - 1", integer(0, 2**64 - 1).allows) | _generator
jobs = ParameterRule(
    "a positive int, a negative int (-1: all cores) or None",
    lambda v: v is None or (isinstance(v, Integral) and not isinstance(v, bool) and v != 0),
)
an_estimator = ParameterRule(
    "an estimator (an object, not its class)",
    lambda v: hasattr(v, "fit") and hasattr(v, "predict") and not isinstance(v, type),
)


_BROKEN = object()  # stands for a default that breaks its own rule


def take_arguments(arguments: dict[str, Any]) -> None:
    """Set the arguments of a constructor, given its ``locals()``, as attributes."""
    model = arguments.pop("self")
    for name in ("__class__", "kwargs"):  # the first is there where the constructor calls super()
        arguments.pop(name, None)
    vars(model).update(arguments)


class Declared:
    """Mixin: parameters are declared in ``_parameters``, their other names in ``_aliases``.

    The docstring of a class gets them in place of the line ``[parameters]``, and the entries of
    ``_attributes`` in place of ``[attributes]``.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Model(Declared, BaseEstimator):
    ...     _parameters = {"learning_rate": Parameter(real(0), "How far a step goes.")}
    ...     _aliases = {"eta": "learning_rate"}
    ...     def __init__(self, *, learning_rate=0.3):
    ...         take_arguments(locals())
    >>> Model(eta=0.1).get_params()
    {'learning_rate': 0.1}
    >>> Model(learning_rate=-1)._check_parameters()
    Traceback (most recent call last):
    arboretum.errors.ParameterError: The 'learning_rate' parameter of Model must be a number ≥ 0, got -1
    """

    _parameters: ClassVar[Mapping[str, Parameter]] = {}
    _attributes: ClassVar[Mapping[str, str]] = {}
    _aliases: ClassVar[Mapping[str, str]] = {}
    # newer parameters; files leave out their defaults, so that versions without these parameters read them
    _later: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__:
            cls.__init__ = _refuse_unknown(cls.__init__)  # type: ignore[method-assign]
        if "__doc__" in cls.__dict__ and cls.__doc__:
            cls.__doc__ = described(cls)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the constructor's parameters; with ``**kwargs``, also those it passes on."""
        if "_names_here" not in cls.__dict__:  # reading a signature takes longer than all the rest
            names = super()._get_param_names()  # type: ignore[misc]
            if _passes_on(cls.__init__):
                above = [base for base in cls.__mro__[1:] if "__init__" in vars(base)]
                if above and issubclass(above[0], Declared):
                    names = sorted({*names, *above[0]._get_param_names()})
            cls._names_here = tuple(names)
        return list(cls._names_here)

    _names_here: ClassVar[tuple[str, ...]]

    def set_params(self, **params: Any) -> Any:
        """Set parameters by name (``estimator__name`` for nested ones); return the estimator."""
        params = _translated(type(self), params)
        known = self.get_params(deep=True)  # type: ignore[attr-defined]
        for name in params:
            owner, _, inner = name.partition("__")
            if name not in known and not (inner and hasattr(known.get(owner), "set_params")):
                raise _unknown(type(self).__name__, name, known)
        return super().set_params(**params)  # type: ignore[misc]

    def _parameters_of_file(self) -> dict[str, Any]:
        """Return the parameters by their own names, without newer ones at their defaults."""
        given = {name: getattr(self, name) for name in sorted(self._get_param_names())}
        later = {name: default for name, _, default in self._rules() if name in self._later}
        return {k: v for k, v in given.items() if k not in later or not equal(v, later[k])}

    @classmethod
    def _refuse_unknown_names(cls, names: Iterable[str]) -> None:
        """Raise a ParameterError for the first name that is no parameter, under any of its names."""
        known = cls._get_param_names()
        for name in names:
            if cls._aliases.get(name, name) not in known:
                raise _unknown(cls.__name__, name, known)

    def _check_parameters(self) -> None:
        """Raise a ParameterError for the first parameter that breaks its rule."""
        for name, rule, default in self._rules():
            value = getattr(self, name)
            if value is not default and not rule.allows(value):
                raise ParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be {rule.phrase}, got {value!r}"
                    + _today(name, value, rule)
                )

    @classmethod
    def _rules(cls) -> list[tuple[str, ParameterRule, Any]]:
        """Return name, rule and default of the declared parameters, in the order of the constructor.

        A default that obeys its rule is checked once for all fits: else a small fit would take 10 % longer.
        """
        if "_rules_here" not in cls.__dict__:
            defaults: dict[str, Any] = {}
            for base in reversed(cls.__mro__):
                if issubclass(base, Declared) and "__init__" in vars(base):
                    arguments = inspect.signature(base.__init__).parameters.values()
                    defaults.update({each.name: each.default for each in arguments})
            known = [
                (n, cls._parameters[n].rule) for n in cls._get_param_names() if n in cls._parameters
            ]
            cls._rules_here = [
                (name, rule, defaults.get(name) if rule.allows(defaults.get(name)) else _BROKEN)
                for name, rule in known
            ]
        return cls._rules_here

    _rules_here: ClassVar[list[tuple[str, ParameterRule, Any]]]


def _refuse_unknown(init: Callable[..., Any]) -> Callable[..., Any]:
    """Return a constructor that accepts other names of its parameters and refuses unknown ones.

    One that takes any name (``**kwargs`` of a subclass) passes them on to another, which refuses them.
    """
    known = [name for name in inspect.signature(init).parameters if name != "self"]
    passes_on = _passes_on(init)

    @functools.wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        kwargs = _translated(type(self), kwargs)
        for name in kwargs:
            if name not in known and not passes_on:
                raise _unknown(type(self).__name__, name, known)
        init(self, *args, **kwargs)

    return checked


def _passes_on(init: Callable[..., Any]) -> bool:
    return any(one.kind is one.VAR_KEYWORD for one in inspect.signature(init).parameters.values())


def _translated(owner: type[Declared], given: dict[str, Any]) -> dict[str, Any]:
    """Return parameters under their own names."""
    if not owner._aliases:
        return given
    translated: dict[str, Any] = {}
    used: dict[str, str] = {}
    for name, value in given.items():
        own = owner._aliases.get(name, name)
        if own in used and not equal(translated[own], value):
            raise ParameterError(
                f"{used[own]} and {name} of {owner.__name__} are one parameter: give one of them"
            )
        translated[own], used[own] = value, name
    return translated


def equal(one: Any, other: Any) -> bool:
    """Return True if two values of a parameter are the same."""
    if one is other or type(one) is not type(other):
        return one is other
    return bool(np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other)


# names of parameters and values in earlier versions of scikit-learn, and their names today
_FORMER_NAMES = {
    "base_estimator": "it is called 'estimator' today",
    "presort": "columns are always sorted once where that is faster: leave it out",
    "min_impurity_split": "splits are judged by their impurity decrease: use 'min_impurity_decrease'",
}
_FORMER_VALUES = {  # (parameter, value) -> (its name today, the hint)
    ("loss", "ls"): ("squared_error", "'ls' is called 'squared_error' today"),
    ("loss", "lad"): ("absolute_error", "'lad' is called 'absolute_error' today"),
    ("loss", "deviance"): ("log_loss", "'deviance' is called 'log_loss' today"),
    ("criterion", "mse"): ("squared_error", "'mse' is called 'squared_error' today"),
    ("criterion", "mae"): ("absolute_error", "'mae' is called 'absolute_error' today"),
    ("max_features", "auto"): (
        "sqrt",
        "'auto' meant 'sqrt' for classifiers and None for regressors: give one of them",
    ),
}


def _today(name: str, value: Any, rule: Any) -> str:
    """Return a hint with today's name of a former value, if the parameter still takes it."""
    today, words = _FORMER_VALUES.get(
        (name, value) if isinstance(value, str) else ("", ""), ("", "")
    )
    return f": {words}" if words and rule.allows(today) else ""


def _unknown(owner: str, name: str, known: Any) -> ParameterError:
    if name in _FORMER_NAMES:
        return ParameterError(f"{owner} has no parameter {name!r}: {_FORMER_NAMES[name]}")
    close = difflib.get_close_matches(name, list(known), n=1, cutoff=0.7)
    hint = f"did you mean {close[0]!r}?" if close else f"it has {', '.join(sorted(known))}"
    return ParameterError(f"{owner} has no parameter {name!r}: {hint}")
