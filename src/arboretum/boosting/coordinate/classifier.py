"""AdaBoost as coordinate descent: a fixed dictionary of weak classifiers, one coefficient each.

AdaBoost never changes earlier weights. Here every classifier may be visited again, in greedy, cyclic or
random order, and each step goes exactly to the best value of its coefficient, until the exponential loss
falls no more. In greedy order that is AdaBoost whose learner is the best of the dictionary, step by step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy, PartModel
from arboretum.base.estimator import Estimator
from arboretum.base.holdout import shuffled_rows
from arboretum.base.members import member_from_state, member_to_state, tags_like
from arboretum.base.model_of_trees import ModelOfTrees
from arboretum.base.parameters import Parameter
from arboretum.base.rounds import Interrupted, Interruptible
from arboretum.base.shared_parameters import RUNNING, STOPPING, TABLE
from arboretum.base.targets import Classes
from arboretum.boosting.adaboost.learners import in_order
from arboretum.boosting.coordinate.descent import STOPS, Descent, Goal, HeldOutRows, descend
from arboretum.boosting.coordinate.dictionary import Dictionary, MemberDictionary, StumpDictionary
from arboretum.data.slices import as_view, take_rows
from arboretum.data.target import weights
from arboretum.engine.elementwise import probability
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.io.values import numbers_of, whole
from arboretum.predict.additive import NoAdditiveForm

if TYPE_CHECKING:
    from arboretum.predict.ensemble import Ensemble
    from arboretum.structure.tree import Tree

__all__ = ["CoordinateBoostingClassifier"]

_REPORT = ("coordinate", "error", "delta", "loss", "steepest", "validation")


def _are_estimators(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(
            hasattr(e, "fit") and hasattr(e, "predict") and not isinstance(e, type) for e in value
        )
    )


class CoordinateBoostingClassifier(Classes, Interruptible, ModelOfTrees):
    """Coefficients of a fixed dictionary of weak classifiers, two classes, by coordinate descent.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CoordinateBoostingClassifier(max_iter=30).fit(X, y)
    >>> model.score(X, y) > 0.97, model.report_.converged
    (True, False)
    >>> model.dictionary_.describe(int(model.report_.coordinate[0]))
    'x20 > 16.795'
    """

    _family: ClassVar = "coordinate"
    _fitted: ClassVar = "coefficients_"
    _learned: ClassVar = ("coefficients_", "dictionary_", "report_")
    _parameters: ClassVar = {
        **TABLE,
        **STOPPING,
        **RUNNING,
        "estimators": Parameter(
            p.one_of("stumps") | p.ParameterRule("a list of classifiers", _are_estimators),
            "The dictionary: every stump on the columns of the table, or classifiers, which are fitted "
            "first; wrap one in scikit-learn's `FrozenEstimator` to use it as it is.",
        ),
        "order": Parameter(
            p.one_of("greedy", "cyclic", "random"),
            "The next coefficient to change: the one that gains most, one after the other, or a random one.",
        ),
        "max_iter": Parameter(p.integer(1), "Maximum number of steps."),
        "tol": Parameter(
            p.real(0),
            "Convergence: no classifier is better or worse than chance by more, or no larger share of the "
            "loss is left.",
        ),
        "n_iter_no_change": Parameter(
            p.integer(1) | p.none,
            "Hold rows out, stop if their exponential loss has not improved for this many steps, and go back "
            "to where it was best.",
        ),
        "max_bins": Parameter(
            p.integer(2, 65_535) | p.none,
            "Stumps cut every numeric column into at most this many bins of about equal size; None cuts "
            "between any two values.",
        ),
        "random_state": Parameter(p.seed, "Seed of the random order and of the held-out rows."),
    }
    _attributes: ClassVar = {
        "coefficients_ : float array": "λ, one for each classifier of the dictionary.",
        "dictionary_ : Dictionary": "`len(dictionary_)` classifiers; ``dictionary_.describe(j)`` "
        "describes number j.",
        "report_ : Descent": "Every step, and whether it converged; ``print(report_.to_text())``.",
        "n_iter_ : int": "",
        "trees_ : list of Tree": "The classifiers with a coefficient; only stumps and CART trees.",
        **ModelOfTrees._attributes,
        **Interruptible._attributes_of_rounds,
        "schema_ : Schema": "",
        "classes_ : array": "",
        "n_features_in_, n_outputs_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
    }

    dictionary_: Dictionary

    def __init__(
        self,
        estimators: Any = "stumps",
        *,
        order: str = "greedy",
        max_iter: int = 1000,
        tol: float = 1e-9,
        n_iter_no_change: int | None = None,
        validation_fraction: float = 0.1,
        max_bins: int | None = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        p.take_arguments(locals())

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Descend.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Two classes.
        sample_weight : array-like of shape (n_samples,) or None

        Returns
        -------
        self
        """
        from arboretum.engine.keys import seed_from

        self._check_parameters()
        X = as_view(X)
        matrix = self._learn_table(X)
        n = matrix.n_rows
        codes = self._learn_labels(y, n)
        self._warn_of_columns(matrix, codes)
        w = weights(sample_weight, n)
        w = np.ones(n) if w is None else w
        self.seed_ = seed_from(self.random_state)
        train, held = self._hold_out(codes, w)
        signs = 2.0 * codes - 1.0
        stumps = isinstance(self.estimators, str)
        table = matrix if stumps else X
        if held is not None:
            table = matrix.take(train) if stumps else take_rows(X, train)
        self._learn_dictionary(table, self.classes_[codes[train]], w[train])
        held_out = None
        if held is not None:
            held_out = self._held_out(
                matrix.take(held) if stumps else take_rows(X, held), signs[held], w[held]
            )
        goal = Goal(
            self.order, int(self.max_iter), float(self.tol), self.n_iter_no_change, self.seed_
        )
        self.coefficients_, self.report_ = descend(
            self.dictionary_, signs[train], w[train], goal, held_out, bar=bool(self.verbose)
        )
        self.n_iter_ = len(self.report_)
        ended = Interrupted(self.n_iter_, goal.max_iter, "step")
        return self._end_fit(ended if self.report_.stop == "interrupted" else None)

    def _learn_labels(self, y: Any, n_rows: int) -> np.ndarray:
        codes = self._learn_classes(y, n_rows)
        if self.n_classes_ > 2:
            raise DataError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"{type(self).__name__} separates two classes, y has {self.n_classes_}; "
                "AdaBoostClassifier takes more, and scikit-learn's OneVsRestClassifier combines several "
                "of these classifiers"
            )
        return codes[:, 0]

    def _hold_out(self, codes: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the training rows and the held-out rows."""
        if self.n_iter_no_change is None:
            return np.arange(len(codes)), None
        train, held = shuffled_rows(len(codes), float(self.validation_fraction), self.seed_)
        good = len(held) > 0 and w[held].any() and len(train) > 1 and w[train].any()
        if not good or len(np.unique(codes[train])) < len(self.classes_):
            raise DataError(
                f"n_iter_no_change needs held-out rows, and validation_fraction="
                f"{self.validation_fraction} of {len(codes)} rows leaves too few of them, or a class "
                "missing in training: change it, or set n_iter_no_change=None"
            )
        return train, held

    def _learn_dictionary(self, table: Any, labels: np.ndarray, w: np.ndarray) -> None:
        from sklearn.utils.validation import has_fit_parameter

        if isinstance(self.estimators, str):
            jobs = self._threads()
            self.dictionary_ = StumpDictionary.of(table, self.schema_, self.max_bins, jobs)
            return
        members = []
        equal = bool((w == w[0]).all())
        for estimator in self.estimators:
            member = clone(estimator)
            if has_fit_parameter(member, "sample_weight"):
                member.fit(table, labels, sample_weight=w)
            elif equal or type(member).__name__ == "FrozenEstimator":
                member.fit(table, labels)
            else:
                raise ParameterError(
                    f"{type(member).__name__} doesn't support sample_weight: leave the weights out, or "
                    "fit it before and wrap it in FrozenEstimator"
                )
            members.append(member)
        names = [f"{type(member).__name__} {j}" for j, member in enumerate(members)]
        self.dictionary_ = MemberDictionary(members, names, self.classes_)
        self.dictionary_.learn(table)

    def _held_out(self, table: Any, signs: np.ndarray, w: np.ndarray) -> HeldOutRows:
        one = np.ones(1)
        dictionary = self.dictionary_
        return HeldOutRows(lambda j: dictionary.combine(np.array([j]), one, table), signs, w)

    # ------------------------------------------------------------------ predicting
    @property
    def trees_(self) -> list[Tree]:  # type: ignore[override]
        """The classifiers of the dictionary with a coefficient, as trees."""
        return self.ensemble_.trees

    @property
    def ensemble_(self) -> Ensemble:
        """Σ λ_j g_j as trees, where the classifiers are stumps or CART trees."""
        self._check_fitted()
        cached = self.__dict__.setdefault("_cache", {})
        if "all" not in cached:
            used = np.flatnonzero(self.coefficients_)
            sizes = self.coefficients_[used]
            cached["all"] = self.dictionary_.ensemble(used, sizes, self.schema_)
        if cached["all"] is None:
            raise AttributeError(
                f"this {type(self).__name__} has no trees: not all of its classifiers are CART trees over "
                "the columns of the table"
            )
        return cached["all"]

    def _served(self) -> Ensemble:
        return Estimator._served(self)  # its sums go by the coordinates, not by the trees

    def _summed_trees(self) -> Ensemble:
        self._check_fitted()
        try:
            return self.ensemble_
        except AttributeError as error:
            raise NoAdditiveForm(
                f"{error}; so it has no SHAP values: scikit-learn's permutation_importance works "
                "with any model"
            ) from error

    def _anatomy(self) -> Anatomy:
        found, dictionary = Estimator._anatomy(self), self.dictionary_
        trees = getattr(self, "ensemble_", None)  # other kinds of classifiers are no trees
        members = dictionary.members if isinstance(dictionary, MemberDictionary) else []
        steps = self.report_
        return replace(
            found,
            trees=[] if trees is None else trees.trees,
            ensemble=trees,
            parts=tuple(PartModel(f"classifier {j}", one) for j, one in enumerate(members)),
            history=replace(
                found.history,
                n_rounds=len(steps),
                figures={"step": steps.delta, "exponential loss": steps.loss},
            ),
            recipe=replace(
                found.recipe,
                held_out=None if self.n_iter_no_change is None else self._hold_out,
                steps={"table": lambda X: self._read(X)[0]},
            ),
        )

    def _target_of_fit(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Any, Any, Any]:
        return self._learn_labels(y, n_rows), y, weights(sample_weight, n_rows)

    def _read(self, X: Any) -> tuple[Any, int]:
        """Return a table in the form for the dictionary, and its number of rows."""
        matrix = self._encode(X)
        if isinstance(self.dictionary_, StumpDictionary):
            return matrix, matrix.n_rows
        return in_order(self.schema_, X, type(self).__name__), matrix.n_rows

    def decision_function(self, X: Any) -> np.ndarray:
        """Return Σ λ_j g_j(x): positive for the second class."""
        table, n_rows = self._read(X)
        used = np.flatnonzero(self.coefficients_)
        if len(used) == 0:
            return np.zeros(n_rows)
        return self.dictionary_.combine(used, self.coefficients_[used], table)

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `decision_function` after every step of the descent, also those after the best one."""
        table, n_rows = self._read(X)
        total, one = np.zeros(n_rows), np.ones(1)
        for j, delta in zip(self.report_.coordinate, self.report_.delta, strict=True):
            total = total + delta * self.dictionary_.combine(np.array([j]), one, table)
            yield total

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict` after every step."""
        return map(self._labels, self.staged_decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict_proba` after every step."""
        return map(self._shares, self.staged_decision_function(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class."""
        return self._labels(self.decision_function(X))

    def _labels(self, decision: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.repeat(self.classes_, len(decision))
        return self.classes_[(decision > 0).astype(np.int64)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities e^F / (e^F + e^-F) of the decision F, which the exponential loss estimates."""
        return self._shares(self.decision_function(X))

    def _shares(self, decision: np.ndarray) -> np.ndarray:
        if len(self.classes_) == 1:
            return np.ones((len(decision), 1))
        second = probability(2.0 * decision)
        return np.column_stack([1 - second, second])

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        state = super()._get_fitted_state()
        report = {name: getattr(self.report_, name) for name in _REPORT}
        dictionary: Any
        if isinstance(self.dictionary_, StumpDictionary):
            dictionary = self.dictionary_.to_state()
        else:
            assert isinstance(self.dictionary_, MemberDictionary)
            dictionary = [member_to_state(member) for member in self.dictionary_.members]
        return {
            **state,
            "dictionary": dictionary,
            "coefficients": self.coefficients_,
            "report": {**report, "first_loss": self.report_.first_loss, "stop": self.report_.stop},
            "seed": self.seed_,
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        self.seed_ = whole(state, "seed", 0)
        if self.n_classes_ > 2:
            raise ModelFileError("the classes are not one or two labels")
        self._read_dictionary(state)
        report = state["report"]
        arrays = [report[name] for name in _REPORT]
        good = all(isinstance(a, np.ndarray) and a.ndim == 1 for a in arrays)
        if not good or len({len(a) for a in arrays[:-1]}) > 1 or report["stop"] not in STOPS:
            raise ModelFileError("the report of the descent is invalid")
        steps, delta = report["coordinate"], report["delta"]
        inside = steps.dtype == np.int64 and ((steps >= 0) & (steps < len(self.dictionary_))).all()
        if not inside or delta.dtype != np.float64 or not np.isfinite(delta).all():
            raise ModelFileError("the report of the descent has steps of unknown classifiers")
        self.report_ = Descent(
            **dict(zip(_REPORT, arrays)),
            first_loss=float(report["first_loss"]),
            stop=report["stop"],
        )
        self.n_iter_ = len(self.report_)

    def _prove_sound(self) -> None:
        if hasattr(self, "ensemble_"):  # other classifiers have checked their own trees
            super()._prove_sound()

    def _read_dictionary(self, state: dict[str, Any]) -> None:
        """Take the dictionary and its coefficients."""
        kept = state["dictionary"]
        if isinstance(self.estimators, str):
            self.dictionary_ = StumpDictionary.from_state(self.schema_, kept)
        else:
            if not isinstance(kept, list) or len(kept) != len(self.estimators):
                raise ModelFileError("its classifiers are not those of its parameters")
            members = [
                member_from_state(base, one)
                for base, one in zip(self.estimators, kept, strict=True)
            ]
            names = [f"{type(member).__name__} {j}" for j, member in enumerate(members)]
            self.dictionary_ = MemberDictionary(members, names, self.classes_)
        self.coefficients_ = numbers_of(state, "coefficients", len(self.dictionary_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags_like(tags, [] if isinstance(self.estimators, str) else self.estimators)
