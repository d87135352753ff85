"""Objectives and metrics by name and dialect, as model files store them.

Code for one dialect uses its table: `XGBOOST.find_objective("reg:gamma")`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arboretum.base.parameters import integer, one_of
from arboretum.boosting.loss.objective import Objective
from arboretum.boosting.loss.user import UserObjective, user_objective
from arboretum.boosting.metric.evaluation_set import Metric
from arboretum.boosting.names.entries import Dialect
from arboretum.boosting.names.lightgbm import LIGHTGBM
from arboretum.boosting.names.scikit_learn import SCIKIT_LEARN
from arboretum.boosting.names.xgboost import XGBOOST
from arboretum.errors import ModelFileError, ParameterError

__all__ = ["default_metric", "find_metrics", "find_objective", "objective_from_state", "predicts"]

DIALECTS = {one.name: one for one in (XGBOOST, LIGHTGBM, SCIKIT_LEARN)}


def _dialect(name: str) -> Dialect:
    if name not in DIALECTS:
        raise ParameterError(f"dialect must be {one_of(*DIALECTS).phrase}, got {name!r}")
    return DIALECTS[name]


# ---------------------------------------------------------------------- objectives
def find_objective(
    objective: str | Callable[..., Any],
    dialect: str,
    n_classes: int | None = None,
    **parameters: Any,
) -> Objective:
    """Return the objective for a name, or for a user's function.

    Parameters
    ----------
    objective : str or callable
        A name of the dialect or one of its aliases, or a function from labels and margins to gradients and
        hessians: see `boosting.loss.user`.
    dialect : {"xgboost", "lightgbm", "scikit-learn"}
    n_classes : int, optional
        Number of classes; needed by objectives for several classes.
    **parameters
        Settings of objectives, by the peer's names. Settings that an objective does not use have no
        effect, but weights of classes raise if there are no classes; None is the default.

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
    """Return what an objective predicts: "numbers", "two classes", "classes" (of any number) or "orders".

    >>> predicts("reg:gamma", "xgboost"), predicts("softmax", "lightgbm")
    ('numbers', 'classes')
    """
    return _dialect(dialect).predicts(objective)


def objective_from_state(state: Mapping[str, Any]) -> Objective:
    """Return the objective that `Objective.to_state` described; raise a ModelFileError if it is invalid.

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
        found = find_objective(state["name"], state["dialect"], state["n_classes"], **given)
        return _of_targets(found, state)
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(f"the objective of the model is invalid: {error}") from error


def _lost_function(state: Mapping[str, Any]) -> UserObjective:
    """Return a user's objective without its function."""
    n_outputs, n_classes = state["n_outputs"], state["n_classes"]
    good = isinstance(state["name"], str) and state["dialect"] in DIALECTS
    if not good or not all(integer(1).allows(n) for n in (n_outputs, n_classes or 1)):
        raise ValueError("its name, dialect or outputs are invalid")
    found = user_objective(
        None, state["dialect"], n_classes, name=state["name"],
        n_outputs=1 if "n_targets" in state else n_outputs,
    )  # fmt: skip
    return _of_targets(found, state)


def _of_targets(objective: Objective, state: Mapping[str, Any]) -> Any:
    n = state.get("n_targets", 1)
    if not integer(1).allows(n):
        raise ValueError("its number of targets is invalid")
    return objective if n == 1 else objective.for_targets(n)


# ---------------------------------------------------------------------- metrics
def find_metrics(names: str | Sequence[str], dialect: str, **parameters: Any) -> list[Metric]:
    """Return the metrics for some names, each once.

    Parameters
    ----------
    names : str or list of str
        Names of the dialect or their aliases, such as ``"logloss"``, ``"error@0.7"``, ``"ndcg@5"``. A name
        as printed finds the metric again. XGBoost's ``"ndcg"``, ``"map"`` and ``"pre"`` without a number
        use the first 32 rows of a list, as in XGBoost; LightGBM's ``"ndcg"`` and ``"map"`` are one
        metric for each of ``eval_at``. Several names may be given in one string (``"l1,l2"``), and ``"None"``
        for no metric.
    dialect : {"xgboost", "lightgbm", "scikit-learn"}
    **parameters
        Settings of metrics, by the peer's names. Settings that a metric does not use have no effect; None
        is the default.

    Examples
    --------
    >>> find_metrics("error@0.7", "xgboost")[0].evaluate([1, 1, 0, 0], [0.9, 0.6, 0.6, 0.1])
    0.25
    >>> [metric.name for metric in find_metrics("auc,ndcg", "lightgbm", eval_at=[1, 3])]
    ['auc', 'ndcg@1', 'ndcg@3']
    """
    return _dialect(dialect).find_metrics(names, **parameters)


def default_metric(objective: str, dialect: str, **parameters: Any) -> str:
    """Return the name of an objective's default metric.

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
