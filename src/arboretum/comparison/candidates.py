"""The models that are compared: the library's own, baselines, and those of the caller.

    models=None                        every model of the task
    models=["CART", "XGB"]             these
    models=["all", ("mine", pipe)]     every model, and an estimator of any library
    models={"deep": CARTClassifier()}  estimators by names of one's own

Baselines always take part. Candidates are fitted in the order of their usual cost.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from sklearn.base import clone, is_classifier, is_regressor

from arboretum.cart.cart import CARTClassifier, CARTRegressor
from arboretum.comparison.baselines import (
    ClassFrequencies,
    LinearClassifier,
    LinearRegressor,
    MeanOfTarget,
)
from arboretum.data.checks import did_you_mean
from arboretum.errors import ParameterError
from arboretum.registry import ESTIMATORS

__all__ = ["SMALL_TREE", "Contender", "candidates"]

SMALL_TREE = "tree of 8 leaves"
# ID3 splits on categories only: it cuts numbers into bins first.
_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "ID3Classifier": {"discretize": "mdl"},
    "VotingClassifier": {"voting": "soft"},  # figures need probabilities
}
_LARGE = 10_000  # rows from which on the slowest models take part only by name
_SLOW = ("Voting", "Stacking", "C45Rules")
# From cheap to dear; models that are not named here come between the two rows.
_CHEAP = ("CART", "ExtraTree", "ID3", "C45", "ExtraTrees", "RandomForest", "LGBM", "XGB")
_DEAR = ("Bagging", "GradientBoosting", "AdaBoost", "CoordinateBoosting", *_SLOW)


@dataclass(frozen=True, eq=False)
class Contender:
    """A model to be judged.

    Attributes
    ----------
    name : str
    estimator : unfitted estimator
    kind : {"baseline", "model", "other"}
        Baselines cannot win; "other" models come from the caller.
    left_out : str
        Why it is not fitted; empty if it is.
    """

    name: str
    estimator: Any
    kind: str = "model"
    left_out: str = ""

    def fresh(self, n_jobs: int | None, seed: int) -> Any:
        """Return a copy to be fitted; parameters that are None become those of the comparison."""
        model = clone(self.estimator)
        known = model.get_params(deep=False) if hasattr(model, "get_params") else {}
        wanted: dict[str, Any] = {"random_state": seed}
        if "estimators" not in known:  # scikit-learn's machinery would start processes
            wanted["n_jobs"] = n_jobs
        missing = {k: v for k, v in wanted.items() if k in known and known[k] is None}
        return model.set_params(**missing) if missing else model


def candidates(task: str, models: Any, n_rows: int) -> list[Contender]:
    """Return baselines and models, cheap ones first.

    Examples
    --------
    >>> [one.name for one in candidates("regression", ["XGB", "cart"], 100)]
    ['mean', 'one split', 'linear model', 'tree of 8 leaves', 'CART', 'XGB']
    """
    known = _of_library(task)
    found: list[Contender] = []
    for name, given in _listed(models):
        if given == "all":
            found += [_unless_slow(one, n_rows) for one in known.values()]
        elif isinstance(given, str):
            found.append(known[_find(given, known, task)])
        else:
            found.append(_of_caller(name, given, task))
    found = _baselines(task) + sorted(found, key=_cost)
    names = [one.name for one in found]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ParameterError(
            f"models of compare holds {twice[0]!r} twice: give them names, e.g. "
            "models=[('first', …), ('second', …)]"
        )
    return found


def _baselines(task: str) -> list[Contender]:
    is_classes = task == "classification"
    tree: type[Any] = CARTClassifier if is_classes else CARTRegressor
    found: list[tuple[str, Any]] = [
        ("most frequent class", ClassFrequencies()) if is_classes else ("mean", MeanOfTarget()),
        ("one split", tree(max_depth=1)),
        ("linear model", LinearClassifier() if is_classes else LinearRegressor()),
        (SMALL_TREE, tree(max_leaf_nodes=8)),
    ]
    return [Contender(name, estimator, "baseline") for name, estimator in found]


def _of_library(task: str) -> dict[str, Contender]:
    """Return the models of a task by their short names."""
    is_of_task = is_classifier if task == "classification" else is_regressor
    found = {}
    for name, home in ESTIMATORS.items():
        if name.endswith("Ranker"):
            continue
        model = getattr(import_module(home), name)()
        if is_of_task(model):
            short = _short(name)
            found[short] = Contender(short, model.set_params(**_SETTINGS.get(name, {})))
    return found


def _short(name: str) -> str:
    """Return the name of an estimator without its task.

    >>> _short("CARTClassifier"), _short("C45Rules")
    ('CART', 'C45Rules')
    """
    return name.removesuffix("Classifier").removesuffix("Regressor")


def _cost(one: Contender) -> tuple[int, int]:
    """Return where a candidate stands in the order of cost."""
    if one.name in _CHEAP:
        return 0, _CHEAP.index(one.name)
    return (2, _DEAR.index(one.name)) if one.name in _DEAR else (1, 0)


def _unless_slow(one: Contender, n_rows: int) -> Contender:
    if n_rows <= _LARGE or one.name not in _SLOW:
        return one
    why = f"takes part above {_LARGE:,} rows only by name: models=['all', '{one.name}']"
    return Contender(one.name, one.estimator, one.kind, why)


# ---------------------------------------------------------------------- models=
def _listed(models: Any) -> Iterator[tuple[str | None, Any]]:
    """Yield the entries of models= as pairs; the name is None if there is none."""
    if models is None:
        models = ["all"]
    if isinstance(models, str):
        models = [models]
    if isinstance(models, Mapping):
        yield from models.items()
        return
    if not isinstance(models, Iterable):
        raise ParameterError(
            f"models of compare must be a list of names and estimators, got {models!r}"
        )
    for one in models:
        if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str):
            yield one
        else:
            yield None, one


def _find(given: str, known: Mapping[str, Contender], task: str) -> str:
    """Return the short name of a model, from any of its names and in letters of any case."""
    plain = {_short(type(one.estimator).__name__).lower(): name for name, one in known.items()}
    plain |= {name.lower(): name for name in known}
    wanted = _short(given)
    if wanted.lower() in plain:
        return plain[wanted.lower()]
    raise ParameterError(
        f"models of compare: there is no model {given!r} for {task}{did_you_mean(wanted, known)}; there are "
        f"{', '.join(known)}"
    )


def _of_caller(name: str | None, estimator: Any, task: str) -> Contender:
    if inspect.isclass(estimator):
        estimator = estimator()
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict")):
        raise ParameterError(
            f"models of compare holds {estimator!r}: give a name, an estimator with fit and predict, or a "
            "pair (name, estimator)"
        )
    if (is_classifier if task == "regression" else is_regressor)(estimator):
        kind = "a classifier" if task == "regression" else "a regressor"
        raise ParameterError(
            f"models of compare: {type(estimator).__name__} is {kind}, but the target is one of {task}; "
            "leave it out, or set task="
        )
    return Contender(name or _short(type(estimator).__name__), estimator, "other")
