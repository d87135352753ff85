"""Objectives and metrics by their names and that of a dialect, as model files have them.

Who knows the dialect asks its table: `XGBOOST.find_objective("reg:gamma")`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arboretum.base.parameters import integer
from arboretum.boosting.loss.objective import Objective
from arboretum.boosting.loss.user import UserObjective, user_objective
from arboretum.boosting.metric.metric import Metric
from arboretum.boosting.names.entries import Dialect
from arboretum.boosting.names.lightgbm import LIGHTGBM
from arboretum.boosting.names.xgboost import XGBOOST
from arboretum.errors import ModelFileError, ParameterError

__all__ = [
    "default_metric",
    "find_metrics",
    "find_objective",
    "objective_from_state",
    "predicts",
]

DIALECTS = {"xgboost": XGBOOST, "lightgbm": LIGHTGBM}


def _dialect(name: str) -> Dialect:
    if name not in DIALECTS:
        raise ParameterError(f"dialect must be 'xgboost' or 'lightgbm', got {name!r}")
    return DIALECTS[name]


# ---------------------------------------------------------------------- objectives
def find_objective(
    objective: str | Callable[..., Any],
    dialect: str,
    n_classes: int | None = None,
    **parameters: Any,
) -> Objective:
    """Return the objective of a name, or of a user's function.

    Parameters
    ----------
    objective : str or callable
        A name of the dialect or one of its aliases, or a function from labels and margins to gradients and
        hessians: see `boosting.loss.user`.
    dialect : {"xgboost", "lightgbm"}
    n_classes : int, optional
        How many classes there are; needed by objectives of several classes.
    **parameters
        What objectives depend on, by the peer's names: the settings of the dialect's table. Those an
        objective does not depend on change nothing, but weights of classes are refused where there are
        none; None is the default.

    Examples
    --------
    >>> import numpy as np
    >>> logistic = find_objective("binary:logistic", "xgboost")
    >>> g, h = np.empty((1, 2), np.float32), np.empty((1, 2), np.float32)
    >>> logistic.derivatives(np.array([0.0, 1.0]), np.zeros((2, 1)), None, g, h)
    >>> g.tolist(), h.tolist()
    ([[0.5, -0.5]], [[0.25, 0.25]])
    """
    return _dialect(dialect).find_objective(objective, n_classes, **parameters)


def predicts(objective: str, dialect: str) -> str:
    """Return what an objective is for: "numbers", "two classes", "classes" (of any number) or "orders".

    >>> predicts("reg:gamma", "xgboost"), predicts("softmax", "lightgbm")
    ('numbers', 'classes')
    """
    return _dialect(dialect).predicts(objective)


def objective_from_state(state: Mapping[str, Any]) -> Objective:
    """Return the objective that `Objective.to_state` described; a ModelFileError if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> objective_from_state(find_objective("poisson", "lightgbm").to_state()).predict(np.zeros((1, 1)))
    array([1.])
    """
    try:
        if "function" in state:
            return _lost_function(state)
        given = dict(state["parameters"])
        return find_objective(state["name"], state["dialect"], state["n_classes"], **given)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"the model holds no objective known here: {error}") from error


def _lost_function(state: Mapping[str, Any]) -> UserObjective:
    """Return a user's objective without its function."""
    n_outputs, n_classes = state["n_outputs"], state["n_classes"]
    good = isinstance(state["name"], str) and state["dialect"] in DIALECTS
    if not good or not all(integer(1).allows(n) for n in (n_outputs, n_classes or 1)):
        raise ValueError("its name, dialect or outputs make no sense")
    return user_objective(
        None, state["dialect"], n_classes, name=state["name"], n_outputs=n_outputs
    )


# ---------------------------------------------------------------------- metrics
def find_metrics(names: str | Sequence[str], dialect: str, **parameters: Any) -> list[Metric]:
    """Return the metrics of some names, each once.

    Parameters
    ----------
    names : str or list of str
        Names of the dialect or their aliases, such as ``"logloss"``, ``"error@0.7"``, ``"ndcg@5"``. A name
        as printed finds the metric again. XGBoost's ``"ndcg"``, ``"map"`` and ``"pre"`` without a number
        look at the first 32 rows of a list, as they do there; LightGBM's ``"ndcg"`` and ``"map"`` are one
        metric for each of ``eval_at``. Its names may stand in one string (``"l1,l2"``) and be ``"None"``
        for no metric.
    dialect : {"xgboost", "lightgbm"}
    **parameters
        What metrics depend on, by the peer's names: the settings of the dialect's table. Those a metric does
        not depend on change nothing; None is the default.

    Examples
    --------
    >>> find_metrics("error@0.7", "xgboost")[0].evaluate([1, 1, 0, 0], [0.9, 0.6, 0.6, 0.1])
    0.25
    >>> [metric.name for metric in find_metrics("auc,ndcg", "lightgbm", eval_at=[1, 3])]
    ['auc', 'ndcg@1', 'ndcg@3']
    """
    return _dialect(dialect).find_metrics(names, **parameters)


def default_metric(objective: str, dialect: str, **parameters: Any) -> str:
    """Return the name of the metric an objective is evaluated by unless another is asked for.

    Parameters
    ----------
    objective : str
        A name of the dialect.
    dialect, **parameters
        As for `find_metrics`; XGBoost's lists are cut where ``lambdarank_num_pair_per_sample`` (32) cuts
        them, unless ``lambdarank_pair_method`` is ``"mean"``.

    Examples
    --------
    >>> default_metric("binary:logistic", "xgboost"), default_metric("multiclass", "lightgbm")
    ('logloss', 'multi_logloss')
    >>> default_metric("rank:ndcg", "xgboost", lambdarank_num_pair_per_sample=8)
    'ndcg@8'
    """
    return _dialect(dialect).default_metric(objective, **parameters)
