"""CART: classification and regression trees (Breiman, Friedman, Olshen and Stone 1984).

`CARTClassifier` and `CARTRegressor` are also known as `DecisionTreeClassifier` and
`DecisionTreeRegressor`: scikit-learn's names, parameters and meaning, plus what CART can do beyond:
category-subset splits, ordinal columns, learned directions for missing values, surrogate splits and
pruning by cross-validation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from arboretum.base import parameters as p
from arboretum.base.class_weight import with_class_weight
from arboretum.cart.estimator import DOCUMENTATION, SHARED_RULES, TreeEstimator
from arboretum.data.checks import check_counts, check_scale
from arboretum.data.schema import Schema
from arboretum.data.target import encode_classes, numbers, weights
from arboretum.errors import ModelFileError

if TYPE_CHECKING:
    from arboretum.grow.criterion import Target

__all__ = ["CARTClassifier", "CARTRegressor", "DecisionTreeClassifier", "DecisionTreeRegressor"]


class CARTClassifier(ClassifierMixin, TreeEstimator):
    __doc__ = (
        """A classification tree: scikit-learn's `DecisionTreeClassifier`, and more.
"""
        + DOCUMENTATION.format(
            criteria='{"gini", "entropy", "log_loss"}, default="gini"',
            criterion_note='"log_loss" is the same as "entropy".',
            class_weight="""
    class_weight : dict, list of dicts, "balanced" or None, default=None
        Weight of each class; "balanced" is n / (K · count of the class).""",
            classes="""
    classes_ : array, or list of arrays for several outputs
        The class labels, sorted.
    n_classes_ : int, or list of ints""",
        )
        + """
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> model.predict(X.iloc[[0, 60, 149]])
    array([0, 1, 2])
    >>> print(model.tree_[0].pretty())
    petal length (cm) <= 2.45? 150 rows, gain 0.333333
    """
    )

    _rules: ClassVar = {
        "criterion": p.one_of("gini", "entropy", "log_loss"),
        **SHARED_RULES,
        "class_weight": p.text_or("a dict, a list of dicts", dict, list)
        | p.one_of("balanced", None),
    }

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
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.unseen = unseen
        self.surrogates = surrogates
        self.max_bins = max_bins
        self.category_penalty = category_penalty
        self.n_jobs = n_jobs

    def _learn_target(
        self, y: Any, sample_weight: Any, n_rows: int
    ) -> tuple[Target, np.ndarray | None]:
        from arboretum.grow.criterion import make_target

        name = type(self).__name__
        classes, codes, one = encode_classes(y, n_rows=n_rows, estimator_name=name)
        self.n_outputs_ = codes.shape[1]
        self.classes_ = classes[0] if one else classes
        self.n_classes_ = len(classes[0]) if one else [len(c) for c in classes]
        w = weights(sample_weight, n_rows)
        if self.class_weight is not None:
            w = with_class_weight(self.class_weight, classes, codes, w)
        return make_target(codes, np.array([len(c) for c in classes]), w), w

    def _loss(self, truth: np.ndarray, value: np.ndarray) -> np.ndarray:
        return (value.argmax(axis=2) != truth).astype(np.float64)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most frequent class of each row's leaf (the first in order between equals)."""
        leaf = self.apply(X)
        best = self.tree_.value.argmax(axis=2)[leaf]
        if isinstance(self.classes_, np.ndarray):
            return self.classes_[best[:, 0]]
        return np.column_stack([c[best[:, o]] for o, c in enumerate(self.classes_)])

    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the class shares of each row's leaf; a list of arrays for several outputs."""
        leaf = self.apply(X)
        value = self.tree_.value[leaf]
        if isinstance(self.classes_, np.ndarray):
            return value[:, 0]
        return [value[:, o, : len(c)] for o, c in enumerate(self.classes_)]

    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the logarithms of `predict_proba`."""
        proba = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if isinstance(proba, list):
                return [np.log(share) for share in proba]
            return np.log(proba)

    def _get_fitted_state(self) -> dict[str, Any]:
        one = isinstance(self.classes_, np.ndarray)
        classes = [self.classes_] if one else list(self.classes_)
        return {**super()._get_fitted_state(), "classes": classes, "one_output": one}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        classes, one = state["classes"], state["one_output"]
        good = isinstance(classes, list) and all(
            isinstance(c, np.ndarray) and c.ndim == 1 and len(c) for c in classes
        )
        if not good or len(classes) != model.n_outputs_ or (one is not True and one is not False):
            raise ModelFileError("the classes do not fit the model's outputs")
        if max(len(c) for c in classes) != model.tree_.value.shape[2]:
            raise ModelFileError("the tree and the model disagree on the number of classes")
        if one and len(classes) != 1:
            raise ModelFileError("a model of one output has several lists of classes")
        model.classes_ = classes[0] if one else classes
        model.n_classes_ = len(classes[0]) if one else [len(c) for c in classes]
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class CARTRegressor(RegressorMixin, TreeEstimator):
    __doc__ = (
        """A regression tree: scikit-learn's `DecisionTreeRegressor`, and more.
"""
        + DOCUMENTATION.format(
            criteria='{"squared_error", "friedman_mse", "absolute_error", "poisson"}, '
            'default="squared_error"',
            criterion_note=(
                "A leaf predicts the mean, or the\n        median for absolute_error. "
                "With one output Friedman's score chooses the same splits as squared\n"
                "        error; with several it looks at their mean difference."
            ),
            class_weight="",
            classes="",
        )
        + """
    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(6.0)[:, None]
    >>> model = CARTRegressor(max_depth=1).fit(X, [1, 1, 1, 5, 5, 5])
    >>> model.predict([[0.3], [4.2]])
    array([1., 5.])
    """
    )

    _rules: ClassVar = {
        "criterion": p.one_of("squared_error", "friedman_mse", "absolute_error", "poisson"),
        **SHARED_RULES,
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
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.unseen = unseen
        self.surrogates = surrogates
        self.max_bins = max_bins
        self.category_penalty = category_penalty
        self.n_jobs = n_jobs

    def _learn_target(
        self, y: Any, sample_weight: Any, n_rows: int
    ) -> tuple[Target, np.ndarray | None]:
        from arboretum.grow.criterion import make_target

        values, one = numbers(y, n_rows=n_rows, estimator_name=type(self).__name__)
        check_scale(values)
        if self.criterion == "poisson":
            check_counts(values)
        self.n_outputs_ = values.shape[1]
        self._one_output = one
        w = weights(sample_weight, n_rows)
        return make_target(values, None, w), w

    def _loss(self, truth: np.ndarray, value: np.ndarray) -> np.ndarray:
        error = value[:, :, 0] - truth
        return np.abs(error) if self.criterion == "absolute_error" else error * error

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean (or median) target of each row's leaf."""
        leaf = self.apply(X)
        value = self.tree_.value[leaf, :, 0]
        return value[:, 0] if self._one_output else value

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.criterion == "poisson"
        return tags

    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "one_output": self._one_output}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        one = state["one_output"]
        if model.tree_.value.shape[2] != 1 or (one is not True and one is not False):
            raise ModelFileError("the tree is not a regression tree")
        if one and model.n_outputs_ != 1:
            raise ModelFileError("a model of one output has a tree of several")
        model._one_output = one
        return model


DecisionTreeClassifier = CARTClassifier
DecisionTreeRegressor = CARTRegressor
