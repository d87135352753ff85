"""Extremely randomised trees (Geurts, Ernst and Wehenkel 2006): thresholds are drawn, not searched."""

from __future__ import annotations

from typing import Any, ClassVar

from arboretum.base import parameters as p
from arboretum.cart.extra_tree import ExtraTreeClassifier, ExtraTreeRegressor
from arboretum.forest.estimator import ForestClassifier, ForestRegressor

__all__ = ["ExtraTreesClassifier", "ExtraTreesRegressor"]


class ExtraTreesClassifier(ForestClassifier):
    """Extremely randomised trees: scikit-learn's `ExtraTreesClassifier`.

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
    >>> model = ExtraTreesClassifier(50, random_state=0).fit(X, y)
    >>> model.predict(X[[0, 60, 149]])
    array([0, 1, 2])
    """

    _tree: ClassVar = ExtraTreeClassifier

    splitter: ClassVar[str] = "random"

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
        bootstrap: bool = False,
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
        voting: str = "soft",
        keep_leaves: bool = False,
    ) -> None:
        p.take_arguments(locals())


class ExtraTreesRegressor(ForestRegressor):
    """Extremely randomised trees: scikit-learn's `ExtraTreesRegressor`.

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
    >>> model = ExtraTreesRegressor(20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    """

    _tree: ClassVar = ExtraTreeRegressor

    splitter: ClassVar[str] = "random"

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
        bootstrap: bool = False,
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
        keep_leaves: bool = False,
    ) -> None:
        p.take_arguments(locals())
