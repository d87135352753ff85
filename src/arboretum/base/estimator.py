"""What all estimators share: columns, encoded rows, threads, model files, tags, warm starts.

    X ──_learn_table──► schema_, matrix        new X ──_encode──► matrix
    fitted model ──save──► file ──load──► _read_fitted_state

``_fitted`` names the attribute that a fitted model has, ``_learned`` the attributes that a fit begins
without. The fitted state is written to a file by `_get_fitted_state` and read by `_read_fitted_state`:
every class of a family adds its part and calls the next.

A fit with ``warm_start=True`` keeps the members of the last fit and adds to them. All such models are checked
in the same way: the number of members may not shrink, and the table must be that of the first fit.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import wraps
from inspect import getattr_static
from pathlib import Path
from time import perf_counter
from types import FunctionType
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if

from arboretum.base.anatomy import Anatomy, FitHistory, FitRecipe, LearnedTarget, TableColumns
from arboretum.base.collections import adapter_of
from arboretum.base.parameters import Declared
from arboretum.data.checks import warn_caller
from arboretum.data.column_warnings import one_warning, warn_of_columns
from arboretum.data.schema import Schema, encode, learn_schema
from arboretum.errors import DataError, ParameterError

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.predict.ensemble import Ensemble
    from arboretum.predict.predictor import Predictor

__all__ = ["Estimator", "check_same", "goes_on", "signature"]

_AvailableIf = type(available_if(bool)(bool))  # methods that only some fitted models have
_FEW_ROWS = 64  # too few rows to be worth a second thread

# What determines, beside the parameters, the meaning of the trees' predictions.
_MEANING = frozenset(
    ("schema_", "n_features_in_", "classes_", "n_classes_", "n_outputs_", "_one_output")
) | {"_objective", "loss_"}


def _all_at_once(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return a fit whose result appears on the estimator in one step, with the seconds it took.

    The work is done on a second object. Until it ends, other threads get the answers of the last fit (or
    `NotFittedError`), and a fit that fails leaves the last one as it is. Ctrl-C keeps finished rounds.
    """

    @wraps(fit)
    def fitted(self: Any, *args: Any, **kwargs: Any) -> Any:
        began = perf_counter()
        new = object.__new__(type(self))
        new.__dict__.update(self.__dict__)
        for name, value in self.__dict__.items():  # warm starts append to the lists of the last fit
            if type(value) is list and (name[0] == "_" or name[-1] == "_"):
                new.__dict__[name] = list(value)
        try:
            with one_warning():  # one for all tables of the fit
                y = args[1] if len(args) > 1 else kwargs.get("y")
                adapter = adapter_of(
                    args[0] if args else kwargs.get("X"), by_name=isinstance(y, str)
                )
                if adapter is None:
                    model = fit(new, *args, **kwargs)
                else:
                    model = adapter.fit(new, fit, args, kwargs)
        except KeyboardInterrupt:
            if "interrupted_" in vars(new):
                self.__dict__ = new.__dict__
            raise
        new._fit_seconds = perf_counter() - began
        self.__dict__ = new.__dict__
        return self if model is new else model

    return fitted


_FITS = ("fit", "prune_cv")
_NAMES = """
predict predict_proba predict_log_proba predict_votes predict_copies predict_interval predict_set
predictor apply score score_samples transform
decision_function decision_path prediction_interval prediction_variance proximity margins theory
staged_predict staged_predict_proba staged_decision_function staged_score staged_margins
shap_values shap_base_value explain partial_dependence permutation_importance feature_importances report
save save_model
"""
_READERS = _NAMES.split()


def _of_one_state(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that reads one state of the model throughout, even if a fit replaces it meanwhile."""

    @wraps(method)
    def reading(self: Any, *args: Any, **kwargs: Any) -> Any:
        view = object.__new__(type(self))
        view.__dict__ = self.__dict__  # a fit replaces this dict instead of changing it
        given = args[0] if args else kwargs.get("X")
        adapter = None if given is None else adapter_of(given, by_name="out" in kwargs)
        if adapter is not None:
            kwargs.pop("X", None)
            return adapter.answer(view, method, args or (given,), kwargs)
        return method(view, *args, **kwargs)

    setattr(reading, "_reads_one_state", True)  # noqa: B010
    return reading


class Estimator(Declared, BaseEstimator):
    """A model over the columns of `schema_`."""

    schema_: Schema
    n_features_in_: int
    feature_names_in_: np.ndarray

    _family: ClassVar[str]  # which anatomy it has (base/anatomy.py)
    _fitted: ClassVar[str]  # an attribute that fitted models have
    _learned: ClassVar[tuple[str, ...]] = ()  # attributes that a fit removes first
    _cached: ClassVar[tuple[str, ...]] = ()  # dicts computed from the rest; not pickled
    _several_outputs: ClassVar[bool] = False  # y may have several columns

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in _FITS:
            if name in vars(cls):
                setattr(cls, name, _all_at_once(vars(cls)[name]))
        for name in _READERS:
            method = getattr_static(cls, name, None)
            if isinstance(method, FunctionType) and not hasattr(method, "_reads_one_state"):
                setattr(cls, name, _of_one_state(method))
            elif isinstance(method, _AvailableIf) and not hasattr(method.fn, "_reads_one_state"):
                setattr(cls, name, available_if(method.check)(_of_one_state(method.fn)))

    # ------------------------------------------------------------------ the table
    def _learn_table(self, X: Any, kinds: dict[str, Any] | None = None) -> Matrix:
        """Learn the columns of a table and forget the last fit; return the encoded rows.

        ``kinds`` are the arguments of `learn_schema`; None: the user's settings.
        """
        schema, matrix = learn_schema(X, **(self._column_kinds() if kinds is None else kinds))
        for name in ("interrupted_", *self._learned):
            self.__dict__.pop(name, None)
        self._take_schema(schema)
        return matrix

    def _count_categories(self, matrix: Matrix, w: np.ndarray | None) -> None:
        """Count the categories of the rows with a positive weight: columns are charged by them."""
        self.schema_ = self.schema_.weighed(matrix, w)

    def _warn_of_columns(self, matrix: Matrix, y: np.ndarray) -> None:
        """Warn of columns that will probably harm the model; y holds class codes or numbers."""
        warn_of_columns(self.schema_, matrix, y, classes=hasattr(self, "classes_"))

    def _in_effect(self) -> dict[str, Any]:
        """Return the parameters, with the values the fit used where they were None."""
        return self.get_params(deep=False)

    def _column_kinds(self) -> dict[str, Any]:
        """Return the user's settings of the columns: arguments of `learn_schema`."""
        return {
            "categorical_features": self.categorical_features,
            "ordinal_features": self.ordinal_features,
        }

    def _take_schema(self, schema: Schema) -> None:
        self.schema_ = schema
        self.n_features_in_ = schema.given.n_features
        self.__dict__.pop("feature_names_in_", None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.given.names, dtype=object)
        for name in self._cached:  # empty, so that predicting adds no attribute
            setattr(self, name, {})

    def _encode(self, X: Any) -> Matrix:
        """Return new rows, encoded."""
        self._check_fitted()
        return encode(self.schema_, X, unseen=self.unseen, estimator_name=type(self).__name__)

    def _check_fitted(self) -> None:
        if self._fitted not in vars(
            self
        ):  # scikit-learn's own check takes longer than a walk down a tree
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(self, self._fitted)

    def _threads(self) -> int:
        from arboretum.engine.parallel import effective_jobs, most_threads

        return min(effective_jobs(self.n_jobs), most_threads())

    def _threads_for(self, matrix: Matrix) -> int:
        """Return the number of threads for these rows; for a few rows, counting cores would take longer."""
        return 1 if matrix.n_rows <= _FEW_ROWS else self._threads()

    # ------------------------------------------------------------------ serving
    def predictor(self, method: str = "predict") -> Predictor:
        """Return a method of the fitted model as a plain function of float arrays, for a server.

        All that can be checked is checked here; a call looks at the shape of X only. The results are those of
        the method, bit by bit, also after the model is fitted again. Any number of threads may call it, and
        it can be pickled.

        Parameters
        ----------
        method : {"predict", "predict_proba", "decision_function"}, default="predict"
            Classifiers have the second; boosted models the third, which for regressors and rankers is the
            sum of the trees before the link.

        Returns
        -------
        Predictor
            Takes numbers: NaN is missing, a category is its index among the categories of its column.
            ``predictor.encode`` turns a table into such an array.
        """
        from arboretum.predict.predictor import Predictor

        self._check_fitted()
        ensemble, part = self._served(), self._without_trees()
        meanings = part._meanings()
        if method not in meanings:
            raise ParameterError(
                f"method of predictor must be one of {sorted(meanings)} for {type(self).__name__}, got "
                f"{method!r}"
            )
        return Predictor(part, ensemble, method, self._absent)

    @property
    def _absent(self) -> float:
        """The number that stands for missing values; NaN is always missing."""
        return math.nan

    def _served(self) -> Ensemble:
        """Return the trees that `predict` uses."""
        raise ParameterError(
            f"{type(self).__name__} does not predict by a sum of trees over the columns of its table, so it "
            "has no predictor: call its predict"
        )

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        """Return, by the name of a method, the function that turns the ensemble's output into its result."""
        return {}

    def _without_trees(self) -> Self:
        """Return the model with its parameters and what determines the meaning of its predictions."""
        part = type(self).__new__(type(self))
        kept = {*self.get_params(deep=False), *_MEANING}
        part.__dict__.update({k: v for k, v in vars(self).items() if k in kept})
        part.__dict__.setdefault(self._fitted, None)
        return part

    # ------------------------------------------------------------------ looking at it
    # The explain room stands above all models: these methods find it by its public names.
    def report(self, X: Any, y: Any, path: str | Path | None = None, **options: Any) -> Any:
        """Make one page about the model and its predictions for a table: see `arboretum.report`."""
        import arboretum

        return arboretum.report(self, X, y, path, **options)

    def partial_dependence(self, X: Any, features: Any, **options: Any) -> Any:
        """Return the predictions if rows had other values: see `arboretum.partial_dependence`."""
        import arboretum

        return arboretum.partial_dependence(self, X, features, **options)

    def feature_importances(
        self, kind: str = "gain", X: Any = None, y: Any = None, **options: Any
    ) -> Any:
        """Return what every column is worth, in one of six ways: see `arboretum.feature_importances`."""
        import arboretum

        return arboretum.feature_importances(self, kind, X, y, **options)

    def to_dtreeviz(self, tree: Any = 0) -> Any:
        """Return a tree in scikit-learn's form, which dtreeviz draws: see `arboretum.to_dtreeviz`."""
        import arboretum

        return arboretum.to_dtreeviz(self, tree)

    def _anatomy(self) -> Anatomy:
        """Return the parts of the fitted model that explanations read; families add theirs."""
        self._check_fitted()
        kept, classes = vars(self), getattr(self, "classes_", None)
        ended = kept.get("interrupted_")
        return Anatomy(
            family=self._family,
            columns=TableColumns(self.schema_, self._encode, self._encode, missing=self._absent),
            recipe=FitRecipe(self._threads, self._learn_again, str(getattr(self, "criterion", ""))),
            answers=self._meanings(),
            classes=None if classes is None else tuple(each_output(classes)),
            n_targets=int(getattr(self, "n_outputs_", 1)),
            history=FitHistory(
                n_rows=kept.get("_n_rows", 0),
                seed=kept.get("seed_"),
                seconds=kept.get("_fit_seconds"),
                notes=kept.get("notes_", {}),
                interrupted="" if ended is None else f"{ended.done} of {ended.wanted}",
                stop=str(kept.get("stop_", "")),
            ),
        )

    def _learn_again(self, y: Any, sample_weight: Any, n_rows: int) -> LearnedTarget:
        """Return a training target as the fit took it; the model does not change."""
        twin = copy.copy(self)
        target, labels, weight = twin._target_of_fit(y, sample_weight, n_rows)
        return LearnedTarget(target, labels, weight, getattr(twin, "classes_", None))

    def _target_of_fit(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any, Any]:
        """Learn a target; return it as trees take it, as members take it, and the weights of the rows."""
        return y, y, sample_weight

    # ------------------------------------------------------------------ keeping
    def save(self, path: str | Path | BinaryIO) -> None:
        """Write the model to one file; `arboretum.load` reads it back.

        Estimators and functions that are not of this library have no place in such a file: a model that
        was given some is kept with joblib.
        """
        from arboretum.io.native import save

        save(self, path)

    def _get_fitted_state(self) -> dict[str, Any]:
        """Return what `fit` learned as plain values and arrays."""
        self._check_fitted()
        return {}

    @classmethod
    def _from_fitted_state(
        cls, parameters: dict[str, Any], schema: Schema, state: dict[str, Any]
    ) -> Self:
        """Return the fitted model that a file holds; what makes no sense is a ModelFileError."""
        cls._refuse_unknown_names(parameters)
        model = cls(**parameters)
        model._check_parameters()
        model._take_schema(schema)
        model._read_fitted_state(state)
        model._prove_sound()
        return model

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        """Take what `_get_fitted_state` returned, and check it."""

    def _prove_sound(self) -> None:
        """Raise a ModelFileError unless no kernel can be led astray (predict/soundness.py)."""

    def __getstate__(self) -> dict[str, Any]:
        """Return what pickle keeps: nothing that is worked out from the rest."""
        state = super().__getstate__()
        left_out = {"_fit_seconds", *self._cached}  # seconds: pickles of equal models are equal
        return {name: value for name, value in state.items() if name not in left_out}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.target_tags.single_output = True
        tags.target_tags.multi_output = self._several_outputs
        return tags


# ---------------------------------------------------------------------- going on from the last fit
def goes_on(model: Any, what: str) -> bool:
    """Tell whether a fit adds to what there is; ``what`` is one of the things that are added."""
    if not (model.warm_start and hasattr(model, model._fitted)):
        return False
    done = model._n_done
    if model.n_estimators < done:
        raise ParameterError(
            f"n_estimators is {model.n_estimators}, but there are {done} {what}s already: with "
            "warm_start=True it must not get smaller"
        )
    if model.n_estimators == done:
        warn_caller(
            "Warm-start fitting without increasing n_estimators does not fit new trees: there are "
            f"{done} {what}s already"
        )
    return True


def signature(model: Any) -> tuple[Any, ...]:
    """Return what must stay the same: columns, classes, outputs."""
    each = each_output(getattr(model, "classes_", None))
    return getattr(model, "schema_", None), each, getattr(model, "n_outputs_", None)


def each_output(classes: Any) -> list[Any]:
    """Return the labels of every output as a list."""
    return classes if isinstance(classes, list) else [classes]


def check_same(model: Any, earlier: tuple[Any, ...]) -> None:
    """Raise a DataError if the columns or the target differ from those the model began with; rows may."""
    now = signature(model)
    columns, columns_now = (
        [(c.name, c.value_kind, c.categories) for c in schema.columns]
        for schema in (earlier[0], now[0])
    )
    same = columns == columns_now and earlier[2] == now[2] and len(earlier[1]) == len(now[1])
    if not (same and all(map(np.array_equal, earlier[1], now[1]))):
        raise DataError(
            "with warm_start=True the table must have the columns, categories and classes of the first "
            "fit: set warm_start=False to begin anew"
        )
    if earlier[0] == now[0]:
        model._take_schema(earlier[0])  # the same object as in the members
