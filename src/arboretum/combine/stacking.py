"""Stacking: out-of-fold answers of several models teach a final model what to make of them.

    table ──▶ models, fold by fold ──▶ their answers ──▶ final model

The machinery is scikit-learn's, whose classes these are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

from sklearn import ensemble

from arboretum.base import parameters as p
from arboretum.combine.together import (
    ESTIMATORS,
    KnowsClasses,
    Together,
    model_from,
    model_state,
    tree_classifiers,
    tree_regressors,
)
from arboretum.data.schema import Schema
from arboretum.errors import ModelFileError

__all__ = ["StackingClassifier", "StackingRegressor"]

_FINAL = p.none | p.Rule(
    "an estimator (an object, not its class)",
    lambda v: hasattr(v, "fit") and hasattr(v, "predict") and not isinstance(v, type),
)
_STACKING_RULES = {
    "estimators": ESTIMATORS,
    "final_estimator": _FINAL,
    "passthrough": p.flag,
    "n_jobs": p.jobs,
    "verbose": p.integer(0) | p.flag,
}

_STACKING_TEXT = """
    Parameters
    ----------
    estimators : list of (str, estimator) pairs or None, default=None
        The models that learn from the table; any of them may be the word "drop". None is
        {base}.
    final_estimator : estimator or None, default=None
        Learns from their answers; None is {final}.
    cv : int, splitter, iterable, "prefit" or None, default=None
        How the out-of-fold answers are made; None is 5 folds. With "prefit" the models are fitted
        already, and should not have seen these rows.{method}
    n_jobs : int or None, default=None
        As joblib does; models of this library use threads of their own.
    passthrough : bool, default=False
        Let the final model see the table too.
    verbose : int, default=0

    Attributes
    ----------
    estimators_ : list of estimators
        The models, fitted on all rows.
    named_estimators_ : Bunch
    final_estimator_ : estimator
    schema_ : Schema
        Names, kinds and categories of the columns.
"""


def _final_classifier() -> Any:
    from arboretum.forest.extra_trees import ExtraTreesClassifier

    return ExtraTreesClassifier(200, min_samples_leaf=5, random_state=0)


def _final_regressor() -> Any:
    from arboretum.forest.extra_trees import ExtraTreesRegressor

    return ExtraTreesRegressor(200, min_samples_leaf=5, random_state=0)


class _Stacked(Together):
    """What the two stacking estimators share."""

    _final: ClassVar[Callable[[], Any]]
    final_estimator: Any
    final_estimator_: Any
    stack_method_: list[str]

    def _stands_for(self) -> dict[str, Callable[[], Any]]:
        return {**super()._stands_for(), "final_estimator": type(self)._final}

    def _get_fitted_state(self) -> dict[str, Any]:
        return {
            **super()._get_fitted_state(),
            "final": model_state(self.final_estimator_),
            "methods": list(self.stack_method_),
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        final = cls._final() if model.final_estimator is None else model.final_estimator
        model.final_estimator_ = model_from(final, state["final"])
        methods = state["methods"]
        known = ("predict_proba", "decision_function", "predict")
        if not isinstance(methods, list) or len(methods) != len(model.estimators_):
            raise ModelFileError("it does not say how its models answer")
        for one, method in zip(model.estimators_, methods, strict=True):
            if method not in known or not hasattr(one, method):
                raise ModelFileError("it does not say how its models answer")
        model.stack_method_ = methods
        return model


class StackingClassifier(KnowsClasses, _Stacked, ensemble.StackingClassifier):
    __doc__ = (
        """Models whose out-of-fold answers teach a final model: scikit-learn's `StackingClassifier`.
"""
        + _STACKING_TEXT.format(
            base="a random forest, extra trees and AdaBoost",
            final="`ExtraTreesClassifier(200, min_samples_leaf=5)`",
            method="""
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What the models are asked; "auto" is the first of these that a model has.""",
        )
        + """    classes_ : array

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> from arboretum import C45Classifier, CARTClassifier
    >>> models = [("cart", CARTClassifier(max_depth=3)), ("c45", C45Classifier())]
    >>> StackingClassifier(models).fit(X, y).score(X, y) > 0.9
    True
    """
    )

    _rules: ClassVar = {
        **_STACKING_RULES,
        "stack_method": p.one_of("auto", "predict_proba", "decision_function", "predict"),
    }
    _encoder: ClassVar = "_label_encoder"
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
    ) -> None:
        super().__init__(
            estimators,
            final_estimator,
            cv=cv,
            stack_method=stack_method,
            n_jobs=n_jobs,
            passthrough=passthrough,
            verbose=verbose,
        )


class StackingRegressor(_Stacked, ensemble.StackingRegressor):
    __doc__ = (
        """Models whose out-of-fold answers teach a final model: scikit-learn's `StackingRegressor`.
"""
        + _STACKING_TEXT.format(
            base="a random forest, extra trees and AdaBoost",
            final="`ExtraTreesRegressor(200, min_samples_leaf=5)`",
            method="",
        )
        + """
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> from arboretum import CARTRegressor, RandomForestRegressor
    >>> models = [("cart", CARTRegressor(max_depth=3)), ("rf", RandomForestRegressor(20, random_state=0))]
    >>> StackingRegressor(models).fit(X, y).score(X, y) > 0.4
    True
    """
    )

    _rules: ClassVar = _STACKING_RULES
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
    ) -> None:
        super().__init__(
            estimators,
            final_estimator,
            cv=cv,
            n_jobs=n_jobs,
            passthrough=passthrough,
            verbose=verbose,
        )
