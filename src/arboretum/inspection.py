"""The tools of `sklearn.inspection`, which take the models of this library.

scikit-learn has the fast method of `partial_dependence`, "recursion", for its own classes only; here it is
the default of the same families.

>>> from arboretum.ensemble import RandomForestRegressor
>>> forest = RandomForestRegressor(5, random_state=0).fit([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], [0, 1, 2])
>>> partial_dependence(forest, [[0.0, 1.0], [2.0, 0.0]], [0], method="recursion").average.shape
(1, 2)
"""

from typing import Any

from sklearn import ensemble as their_ensemble
from sklearn import tree as their_tree
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    permutation_importance,
)
from sklearn.inspection import partial_dependence as their_partial_dependence

from arboretum import ensemble, tree

__all__ = [
    "DecisionBoundaryDisplay",
    "PartialDependenceDisplay",
    "partial_dependence",
    "permutation_importance",
]

# Our class -> scikit-learn's class for which its function has the method.
_THEIRS = {
    ensemble.GradientBoostingClassifier: their_ensemble.GradientBoostingClassifier,
    ensemble.GradientBoostingRegressor: their_ensemble.GradientBoostingRegressor,
    ensemble.HistGradientBoostingClassifier: their_ensemble.HistGradientBoostingClassifier,
    ensemble.HistGradientBoostingRegressor: their_ensemble.HistGradientBoostingRegressor,
    tree.DecisionTreeRegressor: their_tree.DecisionTreeRegressor,
    ensemble.RandomForestRegressor: their_tree.DecisionTreeRegressor,
    ensemble.ExtraTreesRegressor: their_tree.DecisionTreeRegressor,
}


def partial_dependence(
    estimator: Any,
    X: Any,
    features: Any,
    *,
    method: str = "auto",
    kind: str = "average",
    sample_weight: Any = None,
    **options: Any,
) -> Any:
    """Return the partial dependence as `sklearn.inspection.partial_dependence` does, with its arguments."""
    if method == "recursion" or (method == "auto" and kind == "average" and sample_weight is None):
        estimator = _as_scikit_learns(estimator, method)
    return their_partial_dependence(
        estimator, X, features, method=method, kind=kind, sample_weight=sample_weight, **options
    )


def _as_scikit_learns(model: Any, method: str) -> Any:
    """Return a stand-in of scikit-learn's class that computes with the trees of a model, or the model."""
    theirs = next((kind for ours, kind in _THEIRS.items() if isinstance(model, ours)), None)
    if theirs is None or not hasattr(model, "schema_"):
        return model
    has_words = any(column.kind == "categorical" for column in model.schema_.columns)
    if method == "auto" and (has_words or getattr(model, "init", None) is not None):
        return model
    stand_in = theirs()
    fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
    compute = model._compute_partial_dependence_recursion
    vars(stand_in).update(fitted, _compute_partial_dependence_recursion=compute)
    return stand_in
