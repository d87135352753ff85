"""What scripts pass to XGBoost and LightGBM that has no effect there, or only a warning.

    XGBClassifier(device="cuda", use_label_encoder=False, max_depth="3")
        device, use_label_encoder ──► one warning            max_depth ──► 3

The peers run such scripts, and so do the classes that have their names: a number may be a string, None is a
default, an unknown name is left out, all with one warning for a call where something has no effect. A value
that needs another model (``linear_tree=True``) is an error with a reason.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from arboretum.base.parameters import ParameterRule, equal
from arboretum.base.shared_parameters import TABLE
from arboretum.data.checks import did_you_mean, warn_caller
from arboretum.errors import ParameterError

__all__ = ["Absent", "Passed", "PeerNames", "Replaced"]

_COMPARED = (bool, int, float, str, list, tuple, dict)  # values that equal their copies


@dataclass(frozen=True)
class Absent:
    """A parameter of a feature that arboretum lacks: the reason, and the values without effect."""

    why: str
    allows: Callable[[Any], bool]


@dataclass(frozen=True)
class Replaced:
    """A value that is another one today: the name of the parameter, which values, and what they are now."""

    name: str
    matches: Callable[[Any], bool]
    today: Any
    why: str


@dataclass(frozen=True)
class Passed:
    """What scripts pass to the estimators of a library.

    Attributes
    ----------
    library : str
    without_effect : dict
        Parameters that change nothing here -> the reason.
    replaced : tuple of Replaced
    absent : dict of Absent
    moved : dict
        Former arguments of `fit` -> where they belong.
    ignored : dict
        Arguments of `predict` that change nothing here -> the reason.
    renamed : dict
        Former arguments of `predict` -> their name today, and the value as a function of the former one.
    settles : bool
        Of several names of a parameter one counts, with a warning if their values differ: another name before
        the parameter's own, and the first in the list of names before the rest. False: that is an error.
    """

    library: str
    without_effect: Mapping[str, str] = field(default_factory=dict)
    replaced: tuple[Replaced, ...] = ()
    absent: Mapping[str, Absent] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)
    ignored: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, tuple[str, Callable[[Any], Any]]] = field(default_factory=dict)
    settles: bool = False


class PeerNames:
    """Mixin of estimators with the names of another library; `_passed` is its table.

    A parameter keeps the other names under which it was given: ``LGBMRegressor(eta=0.1)`` has
    ``learning_rate`` and ``eta``, in `get_params` and as attributes.
    """

    _passed: ClassVar[Passed]
    _aliases: ClassVar[Mapping[str, str]]
    _other_names: Mapping[str, Any] = MappingProxyType({})  # other names in use -> the values

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in vars(cls):
            cls.__init__ = _taking_scripts(cls.__init__)  # type: ignore[method-assign]
        for name in ("fit", "predict", "predict_proba"):
            if name in vars(cls):
                setattr(cls, name, _with_former_arguments(vars(cls)[name]))

    def _check_parameters(self) -> None:
        """Put defaults in place of None where None is no value, then check all."""
        for name, rule, default in self._rules():  # type: ignore[attr-defined]
            if getattr(self, name) is None and name not in TABLE and not rule.allows(None):
                setattr(self, name, default)
        super()._check_parameters()  # type: ignore[misc]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, also under other names by which they were given."""
        return super().get_params(deep) | dict(self._other_names)  # type: ignore[misc]

    def set_params(self, **params: Any) -> Any:
        """Set parameters by any of their names; return the estimator."""
        found, kept = _by_own_names(type(self), understood(type(self), params))
        super().set_params(**found)  # type: ignore[misc]
        stays = {k: v for k, v in self._other_names.items() if self._aliases[k] not in found}
        _keep(self, stays | kept)
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            names = vars(self).get("_other_names", {})
            # else the error of Python, or of a property, once more
            return names[name] if name in names else object.__getattribute__(self, name)


def _taking_scripts(init: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(init)
    def checked(self: Any, *args: Any, **kwargs: Any) -> None:
        found, kept = _by_own_names(type(self), understood(type(self), kwargs))
        init(self, *args, **found)
        _keep(self, {**self._other_names, **kept})

    setattr(checked, "__signature__", inspect.signature(init))  # noqa: B010
    return checked


def _keep(model: Any, names: dict[str, Any]) -> None:
    """Note the other names in use; a model without any has no such attribute."""
    vars(model).pop("_other_names", None)
    if names:
        model._other_names = names


def _by_own_names(owner: Any, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return parameters by their own names, and the other names among those given.

    A value that differs from its own copy, such as a random generator, keeps no other name: copies of the
    estimator would disagree.
    """
    aliases, passed = owner._aliases, owner._passed
    kept = {
        name: value
        for name, value in given.items()
        if name in aliases and (callable(value) or value is None or isinstance(value, _COMPARED))
    }
    if not passed.settles:
        return given, kept
    rank = {name: k for k, name in enumerate(aliases)}
    found: dict[str, Any] = {}
    used: dict[str, str] = {}
    for name in sorted(given, key=lambda one: rank.get(one, len(rank))):
        own = aliases.get(name, name)
        if own not in found:
            found[own], used[own] = given[name], name
        elif equal(found[own], given[name]):
            found[own] = given[name]  # the parameter's own name comes last
        else:
            rounds = f"{passed.library} will perform up to {found[own]} boosting rounds"
            warn_caller(
                f"{owner.__name__}: {used[own]} and {name} are one parameter, {used[own]}={found[own]!r} "
                "counts" + (f": {rounds}" if own == "n_estimators" else "")
            )
    return found, kept


# ---------------------------------------------------------------------- parameters
def understood(owner: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that an estimator has, with values of today; warn once of all others.

    >>> import warnings
    >>> from arboretum import XGBRegressor
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     understood(XGBRegressor, {"max_depth": "3", "silent": True, "max_dept": 4})
    {'max_depth': 3}
    >>> for note in str(caught[0].message).split("; "):
    ...     print(note)
    XGBRegressor: silent has no effect (use verbosity)
    max_dept has no effect, there is no such parameter (did you mean 'max_depth'?)
    """
    passed: Passed = owner._passed
    known, found, notes = set(owner._get_param_names()), {}, []
    for name, value in given.items():
        own = owner._aliases.get(name, name)
        absent = passed.absent.get(own)
        replaced = [one for one in passed.replaced if one.name == own and one.matches(value)]
        if replaced:
            notes += [f"{name}={value!r}: {replaced[0].why}"] if replaced[0].why else []
            if own in known:
                found[name] = replaced[0].today
        elif absent is not None:
            _refuse(owner, name, value, absent, passed.library)
        elif own in known or "__" in own:
            found[name] = _today(owner, own, value)
        elif own in passed.without_effect:
            notes.append(f"{name} has no effect ({passed.without_effect[own]})")
        else:
            hint = did_you_mean(name, known)
            notes.append(f"{name} has no effect, there is no such parameter{hint}")
    if notes:
        warn_caller(f"{owner.__name__}: {'; '.join(notes)}")
    return found


def _refuse(owner: Any, name: str, value: Any, absent: Absent, library: str) -> None:
    if not absent.allows(value):
        why = absent.why or f"{library} does not accept this value either"
        raise ParameterError(f"{name}={value!r} is not supported by {owner.__name__}: {why}")


def _today(owner: Any, name: str, value: Any) -> Any:
    """Return a value, or a number for its text where the parameter takes numbers."""
    declared = owner._parameters.get(name)
    if declared is None or not isinstance(value, str) or declared.rule.allows(value):
        return value
    return _number(value, declared.rule)


def _number(text: str, rule: ParameterRule) -> Any:
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if rule.allows(number):
            return number
    return text


# ---------------------------------------------------------------------- arguments of fit and predict
def _with_former_arguments(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that takes arguments it had in earlier versions of its library."""
    known = frozenset(inspect.signature(method).parameters)

    @functools.wraps(method)
    def passing(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not known.issuperset(kwargs):
            kwargs = _of_today(self, method.__name__, kwargs, known)
        return method(self, *args, **kwargs)

    return passing


def _of_today(
    model: Any, method: str, given: Mapping[str, Any], known: frozenset[str]
) -> dict[str, Any]:
    passed, owner = model._passed, type(model).__name__
    found, notes = {}, []
    for name, value in given.items():
        if name not in known and method == "fit" and name in passed.moved:
            raise ParameterError(f"fit of {owner} has no argument {name!r}: {passed.moved[name]}")
        if name in known or method == "fit":
            found[name] = value  # an unknown one of fit is a TypeError
        elif name in passed.renamed:
            today, turned = passed.renamed[name]
            found[today] = turned(value)
            notes.append(f"{name} is called {today} today")
        elif name in passed.ignored:
            notes.append(f"{name} has no effect ({passed.ignored[name]})")
        else:
            found[name] = value
    if notes:
        warn_caller(f"{method} of {owner}: {'; '.join(notes)}")
    return found
