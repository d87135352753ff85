"""Names, numbers and texts of importance bars: of a model, a measurement or a booster's scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from arboretum.base.anatomy import has_anatomy
from arboretum.boosting.lightgbm.booster import LGBMBooster
from arboretum.boosting.xgboost.booster import XGBBooster
from arboretum.errors import ParameterError
from arboretum.explain.dependence.importances import feature_importances, importances_of
from arboretum.explain.other_names import booster_of
from arboretum.explain.pipeline import names_of
from arboretum.forest.importance import Importance

__all__ = ["Bars", "read_bars"]


@dataclass(frozen=True)
class Bars:
    """The bars to draw.

    Attributes
    ----------
    names : sequence of str
    mean, error : float arrays
        The numbers and their standard errors.
    measure, title : str
        What is measured, and of what.
    kind : str
        The measure as users name it.
    peer : bool
        A booster, or a dict of its scores, is drawn as XGBoost and LightGBM do.
    texts : str
        How numbers are written.
    """

    names: Sequence[str]
    mean: np.ndarray
    error: np.ndarray
    measure: str
    title: str = "Feature importance"
    kind: str = ""
    peer: bool = False
    texts: str = "{v}"


def read_bars(
    given: Any, kind: str, names: Sequence[str] | None, ignore_zero: bool, precision: int | None
) -> Bars:
    """Return the bars of an estimator, a booster, an `Importance`, a dict or a result of scikit-learn.

    ``names`` are other names of all columns.
    """
    texts = "{v}" if precision is None else f"{{v:.{precision}f}}"
    booster = booster_of(given)
    if isinstance(booster, XGBBooster):
        return _of_xgboost(booster, "weight" if kind == "auto" else kind, names, ignore_zero)
    if isinstance(booster, LGBMBooster):
        usual = "split" if booster is given else given.importance_type
        return _of_lightgbm(booster, usual if kind == "auto" else kind, names, ignore_zero, texts)
    found = _measured(given, kind, texts)
    return found if names is None else replace(found, names=_checked(names, len(found.mean)))


def _checked(names: Sequence[str], n_columns: int) -> Sequence[str]:
    if len(names) != n_columns:
        raise ParameterError(f"names has {len(names)} names for {n_columns} columns")
    return names


def _of_xgboost(booster: Any, kind: str, names: Sequence[str] | None, ignore_zero: bool) -> Bars:
    scores = booster.get_score(importance_type=kind)
    if names is not None or not ignore_zero:
        known = booster.feature_names
        shown = dict(zip(known, known if names is None else _checked(names, len(known))))
        used = [one for one in known if one in scores or not ignore_zero]
        scores = {shown[one]: scores.get(one, 0.0) for one in used}
    return _of_scores(scores, kind)


def _of_scores(scores: Mapping[str, float], kind: str) -> Bars:
    """Return the bars of what XGBoost's ``get_score`` returns."""
    if not scores:
        raise ParameterError(
            "Booster.get_score() results in empty: no tree of the model has a split"
        )
    mean = np.array(list(scores.values()))
    return Bars(list(scores), mean, 0.0 * mean, "Importance score", kind=kind, peer=True)


def _of_lightgbm(
    booster: Any, kind: str, names: Sequence[str] | None, ignore_zero: bool, texts: str
) -> Bars:
    mean = booster.feature_importance(importance_type=kind)
    shown = np.flatnonzero(mean > 0) if ignore_zero else np.arange(len(mean))
    if not len(shown):
        raise ParameterError(
            "No non-zero feature importances found: no tree of the model has a split. "
            "ignore_zero=False shows all columns"
        )
    names = booster.feature_name() if names is None else _checked(names, len(mean))
    label, mean, texts = "Feature importance", mean[shown], texts if kind == "gain" else "{v}"
    return Bars([names[int(f)] for f in shown], mean, 0.0 * mean, label, label, kind, True, texts)


def _of_model(model: Any, kind: str, texts: str) -> Bars:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model)
    title = f"{type(model).__name__}: importance of columns"
    if kind != "auto":
        by = feature_importances(model, kind)
        return Bars(by.names, by.mean, 0.0 * by.mean, by.measure, title, kind, texts=texts)
    found = importances_of(model)
    if found is None:
        raise ParameterError(
            f"a {type(model).__name__} has no importances of columns: plot the result of "
            "sklearn.inspection.permutation_importance(model, X, y)"
        )
    measure = "share of the gain of all splits"
    if has_anatomy(model) and model._anatomy().family in ("stack", "vote"):
        measure += ", mean of the models"
    return Bars(names_of(model, len(found)), found, 0.0 * found, measure, title, texts=texts)


def _measured(given: Any, kind: str, texts: str) -> Bars:
    """Return the bars of a model without boosters' scores, of a measurement, or of a dict of scores."""
    if isinstance(given, BaseEstimator):
        return _of_model(given, kind, texts)
    if kind != "auto":
        raise ParameterError(
            f"importance_type={kind!r} is a choice for models, and a {type(given).__name__} holds numbers"
        )
    measure = "loss of score when the column is shuffled"
    if isinstance(given, Importance):
        names, mean, measure = given.names, np.asarray(given.mean), given.measure
        error = np.asarray(given.standard_error, dtype=float)
    elif isinstance(given, Mapping) and "importances_mean" in given:
        mean = np.asarray(given["importances_mean"], dtype=float)
        each = np.asarray(given["importances"]) if "importances" in given else mean[:, None]
        error = np.asarray(given["importances_std"], dtype=float) / np.sqrt(each.shape[1])
        names = tuple(f"x{f}" for f in range(len(mean)))
    elif isinstance(given, Mapping):
        return _of_scores(given, "")
    else:
        raise ParameterError(
            "plot_importance draws a fitted estimator or the result of permutation_importance, got a "
            f"{type(given).__name__}"
        )
    return Bars(names, mean, error, measure, "Permutation importance", texts=texts)
