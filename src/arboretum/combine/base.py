"""What stacking and voting add to scikit-learn's classes.

Models of this library as defaults, files read by path, saving without pickle. The models get the table as it
is, so names, categories and missing values arrive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy, PartModel
from arboretum.base.estimator import Estimator
from arboretum.base.members import (
    COLUMN_KINDS,
    kinds_of_base,
    member_from_state,
    member_to_state,
    readable,
    with_column_kinds,
)
from arboretum.base.parameters import Parameter
from arboretum.base.shap_values import Explains
from arboretum.base.shared_parameters import MEMBERS_TABLE, RUNNING
from arboretum.data.checks import members_silent
from arboretum.data.column_warnings import one_warning, warn_of_classes, warn_of_columns
from arboretum.data.schema import Schema, encode
from arboretum.data.slices import as_view, take_rows
from arboretum.data.table import Table
from arboretum.data.target import encode_classes, numbers
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.io.values import labels_of, whole

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix

__all__ = ["KeepsClasses", "Together", "tree_classifiers", "tree_regressors"]


_LARGEST_CLASS = 2.0**62  # scikit-learn turns labels into int64 to see whether they are whole


def _are_named(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in value)
        and all(isinstance(name, str) for name, _ in value)
    )


def tree_classifiers() -> list[tuple[str, Any]]:
    """Return the classifiers that are combined by default."""
    from arboretum.boosting.adaboost.classifier import AdaBoostClassifier
    from arboretum.forest.extra_trees import ExtraTreesClassifier
    from arboretum.forest.random_forest import RandomForestClassifier

    return [
        ("random_forest", RandomForestClassifier(random_state=0)),
        ("extra_trees", ExtraTreesClassifier(random_state=0)),
        ("adaboost", AdaBoostClassifier(random_state=0)),
    ]


def tree_regressors() -> list[tuple[str, Any]]:
    """Return the regressors that are combined by default."""
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


class Together(Explains, Estimator):
    """What the four classes add to scikit-learn's."""

    _models: ClassVar[Callable[[], list[tuple[str, Any]]]]
    _family: ClassVar[str]
    _fitted: ClassVar = "estimators_"
    _learned: ClassVar = ("estimators_", "named_estimators_", "final_estimator_", "stack_method_")
    _parameters: ClassVar = {
        **MEMBERS_TABLE,
        **RUNNING,
        "estimators": Parameter(
            p.none | p.ParameterRule("a list of (name, estimator) pairs", _are_named),
            'The models that learn from the table; any of them may be "drop". None is a random '
            "forest, extra trees and AdaBoost.",
        ),
        "n_jobs": Parameter(
            p.jobs, "Passed to joblib; models of this library use threads of their own."
        ),
    }
    _attributes: ClassVar = {
        "estimators_ : list of estimators": "The models, fitted on all rows.",
        "named_estimators_ : Bunch": "",
        "schema_ : Schema": "Names, kinds and categories of the columns.",
    }

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
            Needs models that all take it.
        **fit_params
            Passed to scikit-learn.

        Returns
        -------
        self
        """
        from sklearn.utils.metadata_routing import _raise_for_params

        _raise_for_params(fit_params, self, "fit")
        self._check_parameters()
        X = as_view(X)
        matrix = self._learn_table(readable(None, X))
        self._n_rows = matrix.n_rows
        self._check_target(y, matrix)
        if isinstance(X, Table):
            X = _cuttable(X)
        if sample_weight is not None:
            fit_params["sample_weight"] = sample_weight
        with self._defaults(), members_silent():
            super().fit(X, y, **fit_params)
        return self

    def _check_parameters(self) -> None:
        if self.estimators is not None and not _are_named(self.estimators):
            raise ParameterError(
                "Invalid 'estimators' attribute, 'estimators' should be a non-empty list of (string, "
                f"estimator) tuples: estimators of {type(self).__name__} must be None or a list of (name, "
                f"estimator) pairs, got {self.estimators!r}"
            )
        super()._check_parameters()

    def _column_kinds(self) -> dict[str, Any]:
        return kinds_of_base(self)

    def _take_schema(self, schema: Schema) -> None:
        self.schema_ = schema  # scikit-learn gets the number of columns from the models
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)

    def _encode(self, X: Any) -> Matrix:
        """Return rows encoded for all models together; each applies its own policy for unseen categories."""
        self._check_fitted()
        unseen = self.unseen or "missing"
        return encode(self.schema_, X, unseen=unseen, estimator_name=type(self).__name__)

    def _anatomy(self) -> Anatomy:
        found = super()._anatomy()
        kept = [pair for pair in self.named_estimators_.items() if not isinstance(pair[1], str)]
        parts = [
            PartModel(name, model, weight=weight)
            for (name, model), weight in zip(kept, self._weights_of_parts(), strict=True)
        ]
        return replace(found, parts=tuple(parts))

    def _weights_of_parts(self) -> list[float]:
        """Return the weight of every model in the prediction."""
        return [1.0] * len(self.estimators_)

    # scikit-learn's methods call these for the predictions of all models.
    def _predict(self, X: Any) -> Any:
        with one_warning():
            return super()._predict(X)

    def _collect_probas(self, X: Any) -> Any:
        with one_warning():
            return super()._collect_probas(X)

    def _transform(self, X: Any) -> Any:
        with one_warning():
            return super()._transform(X)

    def _check_target(self, y: Any, matrix: Matrix) -> np.ndarray | None:
        """Return class codes, if any; raise if y is no valid target (scikit-learn lets some pass)."""
        from sklearn.base import is_classifier

        n_rows, name = matrix.n_rows, type(self).__name__
        if not is_classifier(self):
            values, _ = numbers(y, n_rows=n_rows, estimator_name=name)
            warn_of_columns(self.schema_, matrix, values, classes=False)
            return None
        classes, codes, _ = encode_classes(y, n_rows=n_rows, estimator_name=name)
        if (
            np.issubdtype(classes[0].dtype, np.floating)
            and np.abs(classes[0]).max() > _LARGEST_CLASS
        ):
            raise DataError(
                f"y of {name} holds {np.abs(classes[0]).max():.6g}, too large for a class: use a "
                "regressor, or turn the labels into small whole numbers or strings"
            )
        warn_of_classes(len(classes[0]), len(codes), classes[0][0])
        warn_of_columns(self.schema_, matrix, codes, classes=True)
        return codes

    @contextmanager
    def _defaults(self) -> Iterator[None]:
        """Replace None by the defaults while scikit-learn reads the parameters."""
        given = {name: getattr(self, name) for name in self._stands_for()}
        try:
            for name, value in given.items():
                if value is None:
                    setattr(self, name, self._stands_for()[name]())
            self.estimators = self._with_column_kinds(self.estimators)
            yield
        finally:
            for name, value in given.items():
                setattr(self, name, value)

    def _with_column_kinds(self, pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        """Return the models, with the settings of the columns where they take them."""
        given_kinds = [name for name in COLUMN_KINDS if getattr(self, name) is not None]
        if not given_kinds:
            return pairs
        if getattr(self, "cv", None) == "prefit":
            raise ParameterError(
                f"{given_kinds[0]} comes too late for models that are fitted: leave it None"
            )
        able = [
            hasattr(model, "get_params") and given_kinds[0] in model.get_params()
            for _, model in pairs
        ]
        if not any(able):
            raise ParameterError(
                f"{given_kinds[0]} of {type(self).__name__} is for models that read columns of "
                "words themselves, "
                "and none of these does: leave it None, and encode the columns"
            )
        return [
            (name, with_column_kinds(self, model) if can else model)
            for (name, model), can in zip(pairs, able, strict=True)
        ]

    def _stands_for(self) -> dict[str, Callable[[], Any]]:
        return {"estimators": type(self)._models}

    @property
    def named_estimators(self) -> Any:
        """The models by name, including the defaults that None stands for."""
        from sklearn.utils import Bunch

        pairs = type(self)._models() if self.estimators is None else self.estimators
        return Bunch(**dict(pairs))

    def _sk_visual_block_(self) -> Any:
        with self._defaults():
            return super()._sk_visual_block_()

    def __len__(self) -> int:
        return len(self.estimators_)

    def __sklearn_is_fitted__(self) -> bool:
        """Return True if all models are fitted; an interrupted fit has learned the columns only."""
        return self._fitted in vars(self)

    # ------------------------------------------------------------------ keeping
    def _pairs(self) -> list[tuple[str, Any]]:
        """Return names and models, without those dropped."""
        pairs = type(self)._models() if self.estimators is None else self.estimators
        return self._with_column_kinds([pair for pair in pairs if not isinstance(pair[1], str)])

    def _get_fitted_state(self) -> dict[str, Any]:
        return {
            **super()._get_fitted_state(),
            "models": [member_to_state(model) for model in self.estimators_],
            "n_rows": self._n_rows,
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        from sklearn.utils import Bunch

        super()._read_fitted_state(state)
        self._n_rows = whole(state, "n_rows", 1)
        kept, pairs = state["models"], self._pairs()
        if not isinstance(kept, list) or len(kept) != len(pairs):
            raise ModelFileError("its models are not those of its parameters")
        names = [name for name, _ in pairs]
        self.estimators_ = [
            member_from_state(base, one) for (_, base), one in zip(pairs, kept, strict=True)
        ]
        self.named_estimators_ = Bunch(**dict(zip(names, self.estimators_, strict=True)))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super(Estimator, self).__sklearn_tags__()
        if self.estimators is None:  # else scikit-learn has read the tags of the models
            each = [get_tags(model).input_tags for _, model in type(self)._models()]
            tags.input_tags.sparse = all(one.sparse for one in each)
            tags.input_tags.allow_nan = all(one.allow_nan for one in each)
        return tags


class KeepsClasses(Together):
    """Keeps a classifier's labels with it."""

    _encoder: ClassVar[str]  # the attribute where scikit-learn keeps its label encoder
    classes_: np.ndarray

    def _get_fitted_state(self) -> dict[str, Any]:
        return {**super()._get_fitted_state(), "classes": self.classes_}

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self.classes_ = labels_of(state["classes"])
        for model in self.estimators_:
            if not _same_number(model, len(self.classes_)):
                raise ModelFileError("its models disagree with it on the classes")
        final = getattr(self, "final_estimator_", None)
        codes = np.arange(len(self.classes_))  # the classes of the final model
        if final is not None and not np.array_equal(getattr(final, "classes_", ()), codes):
            raise ModelFileError("its final model does not predict its classes")
        setattr(self, self._encoder, _encoder_of(self.classes_))


def _same_number(model: Any, n_classes: int) -> bool:
    known = getattr(model, "classes_", None)
    return isinstance(known, np.ndarray) and len(known) == n_classes


def _encoder_of(classes: np.ndarray) -> Any:
    from sklearn.preprocessing import LabelEncoder

    encoder = LabelEncoder()
    encoder.classes_ = classes
    return encoder
