"""Random forests (Breiman 2001): bootstrap samples, and a few columns drawn at every node."""

from __future__ import annotations

from typing import Any, ClassVar

from arboretum.base import parameters as p
from arboretum.cart.cart import DecisionTreeClassifier, DecisionTreeRegressor
from arboretum.forest.estimator import ForestClassifier, ForestRegressor

__all__ = ["RandomForestClassifier", "RandomForestRegressor"]


class RandomForestClassifier(ForestClassifier):
    """A random forest: scikit-learn's `RandomForestClassifier`, and more of Breiman's original.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    >>> model.predict(X[[0, 60, 149]]), model.oob_score_ > 0.9
    (array([0, 1, 2]), True)
    """

    _tree: ClassVar = DecisionTreeClassifier

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        category_penalty: float = 1.6,
        voting: str = "soft",
        keep_leaves: bool = False,
    ) -> None:
        p.take_arguments(locals())


class RandomForestRegressor(ForestRegressor):
    """A random forest: scikit-learn's `RandomForestRegressor`, with quantiles and variances.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(50, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.35
    True
    """

    _tree: ClassVar = DecisionTreeRegressor

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        category_penalty: float = 1.6,
        keep_leaves: bool = False,
    ) -> None:
        p.take_arguments(locals())
