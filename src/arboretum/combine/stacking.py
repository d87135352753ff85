"""Stacking: a final model learns from the out-of-fold predictions of several models.

    table ──▶ models, fold by fold ──▶ their predictions ──▶ final model

The machinery is scikit-learn's, whose classes these are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn import ensemble
from sklearn.utils.metaestimators import available_if

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy, PartModel
from arboretum.base.parameters import Parameter
from arboretum.combine.base import KeepsClasses, Together, tree_classifiers, tree_regressors
from arboretum.combine.linear import final_from_state, final_to_state
from arboretum.errors import DataError, ModelFileError

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["StackingClassifier", "StackingRegressor"]


def _final_classifier() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def _final_regressor() -> Any:
    from sklearn.linear_model import RidgeCV

    return RidgeCV()


class _Stacked(Together):
    """What the two stacking estimators share."""

    _family: ClassVar = "stack"
    _final: ClassVar[Callable[[], Any]]
    _parameters: ClassVar = {
        **Together._parameters,
        "final_estimator": Parameter(
            p.none
            | p.ParameterRule(
                "an estimator (an object, not its class)",
                lambda v: hasattr(v, "fit") and not isinstance(v, type),
            ),
            "Learns from their predictions; None is scikit-learn's `LogisticRegression`, or `RidgeCV`, which "
            "files hold as coefficients. With `passthrough` it gets the table: give one that reads it.",
        ),
        "cv": Parameter(
            p.checked_later('an int, splitter, iterable, "prefit" or None'),
            'How the out-of-fold predictions are made; None is 5 folds. With "prefit" the models are fitted '
            "already, and should not have seen these rows.",
        ),
        "stack_method": Parameter(
            p.one_of("auto", "predict_proba", "decision_function", "predict"),
            'The method whose results the final model gets; "auto" is the first of these that a model has.',
        ),
        "passthrough": Parameter(p.flag, "Pass the table to the final model too."),
    }
    _attributes: ClassVar = {**Together._attributes, "final_estimator_ : estimator": ""}
    cv: Any
    final_estimator: Any
    final_estimator_: Any
    stack_method_: list[str]

    def _stands_for(self) -> dict[str, Callable[[], Any]]:
        return {**super()._stands_for(), "final_estimator": type(self)._final}

    def _check_target(self, y: Any, matrix: Matrix) -> np.ndarray | None:
        codes = super()._check_target(y, matrix)
        folds = 5 if self.cv is None else self.cv
        if not isinstance(folds, int | np.integer):
            return codes
        most = matrix.n_rows if codes is None else int(np.bincount(codes.ravel()).max())
        if most < folds:
            where = "X" if codes is None else "its largest class"
            raise DataError(
                f"{type(self).__name__} splits its rows into {folds} folds, {where} has {most} of "
                f"n_samples={matrix.n_rows}: give it more rows, or fewer folds (cv=2)"
            )
        return codes

    def _answering(self) -> Any:
        """Return the final model: the fitted one, or the one it will be a copy of."""
        if "final_estimator_" in vars(self):
            return self.final_estimator_
        return type(self)._final() if self.final_estimator is None else self.final_estimator

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        final = PartModel("final", self.final_estimator_, reads_table=bool(self.passthrough))
        return replace(found, parts=(*found.parts, final))

    def predict(self, X: Any, **predict_params: Any) -> Any:
        """Return the final model's predictions from the models' predictions."""
        self._check_fitted()
        return super().predict(X, **predict_params)

    def _get_fitted_state(self) -> dict[str, Any]:
        return {
            **super()._get_fitted_state(),
            "final": final_to_state(self.final_estimator_),
            "methods": list(self.stack_method_),
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self.final_estimator_ = final_from_state(self._answering(), state["final"])
        methods = state["methods"]
        known = ("predict_proba", "decision_function", "predict")
        if not isinstance(methods, list) or len(methods) != len(self.estimators_):
            raise ModelFileError("it lacks the methods its models are called by")
        for one, method in zip(self.estimators_, methods, strict=True):
            if method not in known or not hasattr(one, method):
                raise ModelFileError("it lacks the methods its models are called by")
        self.stack_method_ = methods


class StackingClassifier(KeepsClasses, _Stacked, ensemble.StackingClassifier):
    """A final model learns from out-of-fold predictions: scikit-learn's `StackingClassifier`.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> from arboretum import C45Classifier, CARTClassifier
    >>> models = [("cart", CARTClassifier(max_depth=3)), ("c45", C45Classifier())]
    >>> StackingClassifier(models).fit(X, y).score(X, y) > 0.9
    True
    """

    _encoder: ClassVar = "_label_encoder"
    _attributes: ClassVar = {**_Stacked._attributes, "classes_ : array": "The class labels."}
    _models: ClassVar = staticmethod(tree_classifiers)
    _final: ClassVar = staticmethod(_final_classifier)

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        stack_method: str = "auto",
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str | None = None,
    ) -> None:
        p.take_arguments(locals())

    @available_if(lambda self: hasattr(self._answering(), "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities of the final model."""
        self._check_fitted()
        return super().predict_proba(X)


class StackingRegressor(_Stacked, ensemble.StackingRegressor):
    """A final model learns from out-of-fold predictions: scikit-learn's `StackingRegressor`.

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
    >>> from arboretum import CARTRegressor, RandomForestRegressor
    >>> models = [("cart", CARTRegressor(max_depth=3)), ("rf", RandomForestRegressor(20, random_state=0))]
    >>> StackingRegressor(models).fit(X, y).score(X, y) > 0.4
    True
    """

    stack_method: ClassVar = "predict"
    _models: ClassVar = staticmethod(tree_regressors)
    _final: ClassVar = staticmethod(_final_regressor)

    def __init__(
        self,
        estimators: Any = None,
        final_estimator: Any = None,
        *,
        cv: Any = None,
        n_jobs: int | None = None,
        passthrough: bool = False,
        verbose: int = 0,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str | None = None,
    ) -> None:
        p.take_arguments(locals())
