"""What stacking and voting add to scikit-learn's classes.

Models of this library as defaults, files read by path, saving without pickle. The models get the table as it
is, so names, categories and missing values arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.parameters import Declared
from arboretum.data.schema import Schema, learn_schema
from arboretum.data.slices import as_view, take_rows
from arboretum.data.table import Table
from arboretum.data.target import encode_classes, numbers
from arboretum.errors import ModelFileError, ParameterError
from arboretum.forest.estimator import Forest

__all__ = [
    "ESTIMATORS",
    "KnowsClasses",
    "Together",
    "model_from",
    "model_state",
    "tree_classifiers",
    "tree_regressors",
]


def _are_named(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in value)
        and all(isinstance(name, str) for name, _ in value)
    )


ESTIMATORS = p.none | p.Rule("a list of (name, estimator) pairs", _are_named)


def tree_classifiers() -> list[tuple[str, Any]]:
    """Return the classifiers that answer together by default."""
    from arboretum.boosting.adaboost.classifier import AdaBoostClassifier
    from arboretum.forest.extra_trees import ExtraTreesClassifier
    from arboretum.forest.random_forest import RandomForestClassifier

    return [
        ("random_forest", RandomForestClassifier(random_state=0)),
        ("extra_trees", ExtraTreesClassifier(random_state=0)),
        ("adaboost", AdaBoostClassifier(random_state=0)),
    ]


def tree_regressors() -> list[tuple[str, Any]]:
    """Return the regressors that answer together by default."""
    from arboretum.boosting.adaboost.regressor import AdaBoostRegressor
    from arboretum.forest.extra_trees import ExtraTreesRegressor
    from arboretum.forest.random_forest import RandomForestRegressor

    return [
        ("random_forest", RandomForestRegressor(random_state=0)),
        ("extra_trees", ExtraTreesRegressor(random_state=0)),
        ("adaboost", AdaBoostRegressor(random_state=0)),
    ]


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


class Together(Declared):
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
            "models": [model_state(model) for model in self.estimators_],
            "n_rows": self._n_rows,
        }

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        from sklearn.utils import Bunch

        from arboretum.base.estimator import whole

        model = cls(**parameters)
        model._check_parameters()
        model.schema_ = schema
        model._n_rows = whole(state, "n_rows", 1)
        kept, pairs = state["models"], model._pairs()
        if not isinstance(kept, list) or len(kept) != len(pairs):
            raise ModelFileError("its models are not those of its parameters")
        model.estimators_ = [
            model_from(base, one) for (_, base), one in zip(pairs, kept, strict=True)
        ]
        model.named_estimators_ = Bunch(
            **{name: fitted for (name, _), fitted in zip(pairs, model.estimators_, strict=True)}
        )
        if schema.named:
            model.feature_names_in_ = np.array(schema.names, dtype=object)
        return model


def model_state(model: Any) -> dict[str, Any]:
    """Return what is kept of a fitted model; one that is not this library's is refused."""
    if not hasattr(model, "_get_fitted_state"):
        raise ParameterError(
            f"a {type(model).__name__} is not an estimator of arboretum, so it cannot be saved natively: "
            "keep the model with joblib"
        )
    return {"schema": model.schema_.to_state(), "state": model._get_fitted_state()}


def model_from(base: Any, kept: Any) -> Any:
    """Return a model that was kept, with the parameters of ``base``."""
    schema = Schema.from_state(kept["schema"])
    return type(base)._from_fitted_state(base.get_params(deep=False), schema, kept["state"])


class KnowsClasses(Together):
    """A classifier's labels, kept with it."""

    _encoder: ClassVar[str]  # the attribute scikit-learn keeps its encoder of labels in
    classes_: np.ndarray

    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "classes": self.classes_}

    @classmethod
    def _from_fitted_state(cls, parameters: dict, schema: Schema, state: dict) -> Self:
        model = super()._from_fitted_state(parameters, schema, state)
        model.classes_ = _read_classes(state["classes"])
        setattr(model, cls._encoder, _encoder_of(model.classes_))
        return model


def _read_classes(classes: Any) -> np.ndarray:
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or not len(classes):
        raise ModelFileError("the classes are not a list of labels")
    return classes


def _encoder_of(classes: np.ndarray) -> Any:
    from sklearn.preprocessing import LabelEncoder

    encoder = LabelEncoder()
    encoder.classes_ = classes
    return encoder
