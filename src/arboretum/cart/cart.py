"""CART: classification and regression trees (Breiman, Friedman, Olshen and Stone 1984).

`DecisionTreeClassifier` and `DecisionTreeRegressor` are also known as `CARTClassifier` and
`CARTRegressor`: scikit-learn's names, parameters and meaning, plus what CART offers beyond:
category-subset splits, ordinal columns, learned directions for missing values, surrogate splits and
pruning by cross-validation.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter
from arboretum.base.shared_parameters import LABELS
from arboretum.base.targets import Classes, Numbers
from arboretum.cart.estimator import TreeEstimator

__all__ = ["CARTClassifier", "CARTRegressor", "DecisionTreeClassifier", "DecisionTreeRegressor"]


class DecisionTreeClassifier(Classes, TreeEstimator):
    """A classification tree: scikit-learn's class of this name, and more.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> model.predict(X.iloc[[0, 60, 149]])
    array([0, 1, 2])
    >>> print(model.tree_[0].pretty())
    petal length (cm) <= 2.45? 150 rows, gain 0.333333
    """

    _leaves_hold_probabilities: ClassVar = True
    _parameters: ClassVar = {
        **TreeEstimator._parameters,
        **LABELS,
        "criterion": Parameter(
            p.one_of("gini", "entropy", "log_loss", "error"),
            'Impurity that splits reduce; "log_loss" is the same as "entropy". "error" is the weight of '
            "the misclassified rows: with it a stump is the best possible stump, but deeper "
            "trees are worse.",
        ),
    }
    _attributes: ClassVar = {**TreeEstimator._attributes, **Classes._attributes}

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
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
        category_penalty: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        p.take_arguments(locals())

    def _loss(self, truth: np.ndarray, value: np.ndarray) -> np.ndarray:
        return (value.argmax(axis=2) != truth).astype(np.float64)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most frequent class of each row's leaf (the first in order between equals)."""
        leaf = self.apply(X)
        return self._labels_of(self._kept_tree.value.argmax(axis=2)[leaf])

    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the class probabilities of each row's leaf; a list of arrays for several outputs."""
        leaf = self.apply(X)
        return self._probabilities_of(self._kept_tree.value[leaf])


class DecisionTreeRegressor(Numbers, TreeEstimator):
    """A regression tree: scikit-learn's class of this name, and more.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0)[:, None]
    >>> model = DecisionTreeRegressor(max_depth=1).fit(X, [1, 1, 1, 5, 5, 5])
    >>> model.predict([[0.3], [4.2]])
    array([1., 5.])
    """

    _parameters: ClassVar = {
        **TreeEstimator._parameters,
        "criterion": Parameter(
            p.one_of("squared_error", "friedman_mse", "absolute_error", "poisson"),
            "Impurity that splits reduce. A leaf predicts the mean, or the median for absolute_error. "
            "With one output Friedman's score chooses the same splits as squared error; with several it "
            "looks at their mean difference.",
        ),
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
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
        category_penalty: float = 1.0,
        n_jobs: int | None = None,
    ) -> None:
        p.take_arguments(locals())

    def _loss(self, truth: np.ndarray, value: np.ndarray) -> np.ndarray:
        error = value[:, :, 0] - truth
        return np.abs(error) if self.criterion == "absolute_error" else error * error

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean (or median) target of each row's leaf."""
        leaf = self.apply(X)
        return self._numbers_of(self._kept_tree.value[leaf, :, 0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags


CARTClassifier = DecisionTreeClassifier
CARTRegressor = DecisionTreeRegressor
