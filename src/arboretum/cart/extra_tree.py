"""One extremely randomised tree (Geurts, Ernst and Wehenkel 2006): cuts are drawn, not searched.

`ExtraTreeClassifier` and `ExtraTreeRegressor` are CART with other defaults: every node draws one cut
per column at random and keeps the best of them. Alone such a tree is weak; in an ensemble it
is quick to grow and differs much from the others, which is what averaging needs.
"""

from __future__ import annotations

from typing import Any

from arboretum.base import parameters as p
from arboretum.cart.cart import DecisionTreeClassifier, DecisionTreeRegressor

__all__ = ["ExtraTreeClassifier", "ExtraTreeRegressor"]


class ExtraTreeClassifier(DecisionTreeClassifier):
    """An extremely randomised classification tree: scikit-learn's `ExtraTreeClassifier`.

    It is `DecisionTreeClassifier` with other defaults.

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
    >>> model = ExtraTreeClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[[0, 60, 149]])
    array([0, 1, 2])
    """

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        surrogates: int = 0,
        max_bins: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        p.take_arguments(locals())


class ExtraTreeRegressor(DecisionTreeRegressor):
    """An extremely randomised regression tree: scikit-learn's `ExtraTreeRegressor`.

    It is `DecisionTreeRegressor` with other defaults.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> model = ExtraTreeRegressor(random_state=0).fit([[0], [1], [2]], [1.0, 5.0, 6.0])
    >>> model.predict([[0], [2]])
    array([1., 6.])
    """

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "random",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        surrogates: int = 0,
        max_bins: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        p.take_arguments(locals())
