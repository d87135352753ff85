"""Stacking and voting: several different models answer together.

    stacking   out-of-fold answers of the models ──▶ a final model learns what to make of them
    voting     their answers are averaged, or counted

The machinery is scikit-learn's, whose classes these are; what is added: models of this library as defaults,
files read by path, saving without pickle. The models get the table as it is, so names, categories and missing
values arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import ensemble

from arboretum import parameters as p
from arboretum.data.schema import Schema, learn_schema
from arboretum.data.table import Table
from arboretum.data.target import encode_classes, numbers
from arboretum.errors import ModelFileError, ParameterError
from arboretum.forest.estimator import Forest
from arboretum.forest.views import as_view, take_rows
from arboretum.parameters import Declared

__all__ = ["StackingClassifier", "StackingRegressor", "VotingClassifier", "VotingRegressor"]


def _are_named(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in value)
        and all(isinstance(name, str) for name, _ in value)
    )


_ESTIMATORS = p.none | p.Rule("a list of (name, estimator) pairs", _are_named)
_FINAL = p.none | p.Rule(
    "an estimator (an object, not its class)",
    lambda v: hasattr(v, "fit") and hasattr(v, "predict") and not isinstance(v, type),
)
_STACKING_RULES = {
    "estimators": _ESTIMATORS,
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


def _tree_classifiers() -> list[tuple[str, Any]]:
    from arboretum.boosting.adaboost import AdaBoostClassifier
    from arboretum.forest.extra_trees import ExtraTreesClassifier
    from arboretum.forest.random_forest import RandomForestClassifier

    return [
        ("random_forest", RandomForestClassifier(random_state=0)),
        ("extra_trees", ExtraTreesClassifier(random_state=0)),
        ("adaboost", AdaBoostClassifier(random_state=0)),
    ]


def _tree_regressors() -> list[tuple[str, Any]]:
    from arboretum.boosting.adaboost_regressor import AdaBoostRegressor
    from arboretum.forest.extra_trees import ExtraTreesRegressor
    from arboretum.forest.random_forest import RandomForestRegressor

    return [
        ("random_forest", RandomForestRegressor(random_state=0)),
        ("extra_trees", ExtraTreesRegressor(random_state=0)),
        ("adaboost", AdaBoostRegressor(random_state=0)),
    ]


def _final_classifier() -> Any:
    from arboretum.forest.extra_trees import ExtraTreesClassifier

    return ExtraTreesClassifier(200, min_samples_leaf=5, random_state=0)


def _final_regressor() -> Any:
    from arboretum.forest.extra_trees import ExtraTreesRegressor

    return ExtraTreesRegressor(200, min_samples_leaf=5, random_state=0)


class _Rows(Table):
    """A `Table` that scikit-learn can cut into folds."""

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_rows, len(self.names)

    def __len__(self) -> int:
        return self.n_rows

    @property
    def iloc(self) -> _Rows:
        return self

    def take(self, rows: Any, axis: int = 0) -> _Rows:
        return _cuttable(take_rows(Table(**vars(self)), np.asarray(rows)))

    def __getitem__(self, rows: Any) -> _Rows:
        return self.take(np.arange(self.n_rows)[rows])


def _cuttable(table: Table) -> _Rows:
    return _Rows(table.names, table.named, table.n_rows, table.body)


class _Together(Declared):
    """What the four classes add to scikit-learn's."""

    _models: ClassVar[Callable[[], list[tuple[str, Any]]]]

    schema_: Schema
    estimators: Any
    estimators_: list[Any]
    named_estimators_: Any
    feature_names_in_: np.ndarray
    n_outputs_ = 1

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit all models.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
            Every model must take it then.
        **fit_params
            Handed to scikit-learn.

        Returns
        -------
        self
        """
        self._check_parameters()
        X = as_view(X)
        self.schema_, matrix = learn_schema(X)
        self._n_rows = matrix.n_rows
        self._check_target(y, matrix.n_rows)
        if isinstance(X, Table):
            X = _cuttable(X)
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        with self._defaults():
            super().fit(X, y, **fit_params)  # type: ignore[misc]
        return self

    def _check_target(self, y: Any, n_rows: int) -> None:
        """Raise a DataError where y is no target; scikit-learn lets some of these pass."""
        from sklearn.base import is_classifier

        check: Any = encode_classes if is_classifier(self) else numbers
        check(y, n_rows=n_rows, estimator_name=type(self).__name__)

    @contextmanager
    def _defaults(self) -> Iterator[None]:
        """Let scikit-learn see what None stands for."""
        given = {name: getattr(self, name) for name in self._stands_for()}
        try:
            for name, value in given.items():
                if value is None:
                    setattr(self, name, self._stands_for()[name]())
            yield
        finally:
            for name, value in given.items():
                setattr(self, name, value)

    def _stands_for(self) -> dict[str, Callable[[], Any]]:
        return {"estimators": type(self)._models}

    def __len__(self) -> int:
        return len(self.estimators_)

    # ------------------------------------------------------------------ keeping
    def save(self, path: Any) -> None:
        """Write the model to one file, if all its models are of this library; `arboretum.load` reads it."""
        Forest.save(self, path)  # type: ignore[arg-type]

    def _pairs(self) -> list[tuple[str, Any]]:
        """Return names and models, without those dropped."""
        pairs = type(self)._models() if self.estimators is None else self.estimators
        return [(name, model) for name, model in pairs if not isinstance(model, str)]

    def _get_fitted_state(self) -> dict[str, Any]:
        return {
            "models": [_model_state(model) for model in self.estimators_],
            "n_rows": self._n_rows,
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from sklearn.utils import Bunch

        from arboretum.tree.model import whole

        model = cls(**parameters)
        model._check_parameters()
        model.schema_ = schema
        model._n_rows = whole(state, "n_rows", 1)
        kept, pairs = state["models"], model._pairs()
        if not isinstance(kept, list) or len(kept) != len(pairs):
            raise ModelFileError("its models are not those of its parameters")
        model.estimators_ = [
            _model_from(base, one) for (_, base), one in zip(pairs, kept, strict=True)
        ]
        model.named_estimators_ = Bunch(
            **{name: fitted for (name, _), fitted in zip(pairs, model.estimators_, strict=True)}
        )
        if schema.named:
            model.feature_names_in_ = np.array(schema.names, dtype=object)
        return model


def _model_state(model: Any) -> dict[str, Any]:
    if not hasattr(model, "_get_fitted_state"):
        raise ParameterError(
            f"a {type(model).__name__} is not an estimator of arboretum, so it cannot be saved natively: "
            "keep the model with joblib"
        )
    return {"schema": model.schema_.to_state(), "state": model._get_fitted_state()}


def _model_from(base: Any, kept: Any) -> Any:
    schema = Schema.from_state(kept["schema"])
    return type(base)._from_fitted_state(base.get_params(deep=False), schema, kept["state"])


class _Stacked(_Together):
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
            "final": _model_state(self.final_estimator_),
            "methods": list(self.stack_method_),
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        final = cls._final() if model.final_estimator is None else model.final_estimator
        model.final_estimator_ = _model_from(final, state["final"])
        methods = state["methods"]
        known = ("predict_proba", "decision_function", "predict")
        if not isinstance(methods, list) or len(methods) != len(model.estimators_):
            raise ModelFileError("it does not say how its models answer")
        for one, method in zip(model.estimators_, methods, strict=True):
            if method not in known or not hasattr(one, method):
                raise ModelFileError("it does not say how its models answer")
        model.stack_method_ = methods
        return model


# ---------------------------------------------------------------------- stacking
class StackingClassifier(_Stacked, ensemble.StackingClassifier):
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
    _models: ClassVar = staticmethod(_tree_classifiers)
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

    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "classes": self.classes_}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        model.classes_ = _read_classes(state["classes"])
        model._label_encoder = _encoder_of(model.classes_)
        return model


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
    _models: ClassVar = staticmethod(_tree_regressors)
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


# ---------------------------------------------------------------------- voting
_VOTING_TEXT = """
    Parameters
    ----------
    estimators : list of (str, estimator) pairs or None, default=None
        The models; any of them may be the word "drop". None is a random forest, extra trees and
        AdaBoost.{voting}
    weights : list of numbers or None, default=None
        What each model counts; None: the same.
    n_jobs : int or None, default=None
        As joblib does; models of this library use threads of their own.{flatten}
    verbose : bool, default=False

    Attributes
    ----------
    estimators_ : list of estimators
    named_estimators_ : Bunch
    schema_ : Schema
        Names, kinds and categories of the columns.
"""
_VOTING_RULES = {
    "estimators": _ESTIMATORS,
    "weights": p.none
    | p.Rule("a list of numbers", lambda v: np.iterable(v) and not isinstance(v, str)),
    "n_jobs": p.jobs,
    "verbose": p.flag | p.integer(0),
}


class _Voting(_Together):
    """What the two voting estimators share."""

    weights: Any

    @property
    def _weights_not_none(self) -> list[float] | None:
        """Weights of the models that were not dropped."""
        if self.weights is None:
            return None
        pairs = type(self)._models() if self.estimators is None else self.estimators
        return [
            w
            for (_, model), w in zip(pairs, self.weights, strict=False)
            if not isinstance(model, str)
        ]


class VotingClassifier(_Voting, ensemble.VotingClassifier):
    __doc__ = (
        """Models that vote: scikit-learn's `VotingClassifier`.
"""
        + _VOTING_TEXT.format(
            voting="""
    voting : {"hard", "soft"}, default="soft"
        Count votes, or average class shares. (scikit-learn's default counts.)""",
            flatten="""
    flatten_transform : bool, default=True
        Shape of `transform` with shares.""",
        )
        + """    classes_ : array

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from arboretum import C45Classifier, CARTClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> models = [("cart", CARTClassifier(max_depth=2)), ("c45", C45Classifier())]
    >>> VotingClassifier(models).fit(X, y).predict(X.iloc[[0, 60, 149]])
    array([0, 1, 2])
    """
    )

    _rules: ClassVar = {
        **_VOTING_RULES,
        "voting": p.one_of("hard", "soft"),
        "flatten_transform": p.flag,
    }
    _models: ClassVar = staticmethod(_tree_classifiers)

    def __init__(
        self,
        estimators: Any = None,
        *,
        voting: str = "soft",
        weights: Any = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            estimators,
            voting=voting,
            weights=weights,
            n_jobs=n_jobs,
            flatten_transform=flatten_transform,
            verbose=verbose,
        )

    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "classes": self.classes_}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        model.classes_ = _read_classes(state["classes"])
        model.le_ = _encoder_of(model.classes_)
        return model


class VotingRegressor(_Voting, ensemble.VotingRegressor):
    __doc__ = (
        """The mean of several models: scikit-learn's `VotingRegressor`.
"""
        + _VOTING_TEXT.format(voting="", flatten="")
        + """
    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from arboretum import CARTRegressor, RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> models = [("cart", CARTRegressor(max_depth=3)), ("rf", RandomForestRegressor(20, random_state=0))]
    >>> VotingRegressor(models).fit(X, y).score(X, y) > 0.5
    True
    """
    )

    _rules: ClassVar = _VOTING_RULES
    _models: ClassVar = staticmethod(_tree_regressors)

    def __init__(
        self,
        estimators: Any = None,
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(estimators, weights=weights, n_jobs=n_jobs, verbose=verbose)


def _read_classes(classes: Any) -> np.ndarray:
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
        raise ModelFileError("the classes are not a list of labels")
    return classes


def _encoder_of(classes: np.ndarray) -> Any:
    from sklearn.preprocessing import LabelEncoder

    encoder = LabelEncoder()
    encoder.classes_ = classes
    return encoder
