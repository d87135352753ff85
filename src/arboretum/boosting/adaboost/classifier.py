"""AdaBoost for classes (Freund and Schapire 1997; SAMME: Zhu, Zou, Rosset and Hastie 2009).

Learn, find the mistakes, give them more weight, learn again; the learners vote, better ones with more
weight. The theory is part of the model: `margins`, `training_error_bound`, `margin_bound`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.parameters import Parameter
from arboretum.base.targets import Classes
from arboretum.boosting.adaboost import formulas, learners
from arboretum.boosting.adaboost import theory as laws
from arboretum.boosting.adaboost.estimator import AdaBoost
from arboretum.cart.cart import CARTClassifier
from arboretum.engine.elementwise import softmax
from arboretum.errors import DataError, ModelFileError, ParameterError
from arboretum.predict import leaf_values
from arboretum.predict.ensemble import Ensemble
from arboretum.predict.link import Link, opposite_shares

if TYPE_CHECKING:
    from arboretum.structure.tree import Tree

__all__ = ["AdaBoostClassifier"]

_READINGS = {"discrete": "sign", "SAMME": "SAMME", "SAMME.R": "SAMME.R"}
_VOTES = {
    "discrete": leaf_values.discrete_votes,
    "SAMME": leaf_values.samme_votes,
    "SAMME.R": leaf_values.samme_r_votes,
}


class _NoTheory(ParameterError, AttributeError):
    """Raised by attributes: `hasattr` and `dir` treat them as missing."""


class AdaBoostClassifier(Classes, AdaBoost):
    """Weak classifiers, each trained on the mistakes of those before it, and their weighted vote.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Notes
    -----
    A learner no better than chance is discarded and ends the boosting, with a warning; it is an error if
    it is the first. A perfect one is kept with a weight of 1 and ends it too.

    `decision_function` is Σ β h(x) for "discrete"; for the others it is the mean vote, as scikit-learn's:
    from -2 to 2 for two classes, of shape (rows, K) for more.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=30).fit(X, y)
    >>> errors = 1 - np.array(list(model.staged_score(X, y)))
    >>> bool((errors <= model.training_error_bound()).all()), round(float(errors[-1]), 3)
    (True, 0.002)
    """

    _parameters: ClassVar = {
        **AdaBoost._parameters,
        "estimator": Parameter(
            p.none | p.an_estimator,
            "The weak learner, from any library that follows scikit-learn; None is a stump, "
            "`CARTClassifier(max_depth=1)`. CART trees are grown from columns that are sorted once for all "
            "rounds.",
        ),
        "algorithm": Parameter(
            p.one_of("discrete", "SAMME", "SAMME.R"),
            '"discrete" is for two classes, with a weight of ½ ln((1-e)/e). "SAMME" is for any number and '
            "has ln((1-e)/e) + ln(K-1), which is twice that for two classes: the same weights and the same "
            'answers. In "SAMME.R" probabilities vote; it needs learners with `predict_proba`.',
        ),
    }
    _attributes: ClassVar = {
        **AdaBoost._attributes,
        "edges_, normalisers_ : float arrays": "γ = ½ - error and Z of every round; not with "
        '"SAMME.R".',
        "train_errors_ : float array": "Weighted training error of the vote after every round; not with "
        '"SAMME.R".',
        "classes_ : array": "The class labels, sorted.",
        "n_classes_ : int": "",
    }
    _tree: ClassVar = CARTClassifier
    _depth: ClassVar = 1
    _classifies: ClassVar = True
    _chance_text: ClassVar = "no better than chance on the rows as they are weighted now"

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        algorithm: str = "SAMME",
        sampling: str = "reweight",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        keep_weights: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str | None = None,
    ) -> None:
        p.take_arguments(locals())

    # ------------------------------------------------------------------ fitting
    def _check_base(self, base: Any) -> None:
        super()._check_base(base)
        if self.algorithm == "SAMME.R" and not hasattr(base, "predict_proba"):
            raise ParameterError(
                f"algorithm='SAMME.R' votes with probabilities, and {type(base).__name__} has no "
                "predict_proba: use algorithm='SAMME'"
            )

    def _learn_labels(self, y: Any, n_rows: int) -> tuple[np.ndarray, np.ndarray]:
        codes = self._learn_classes(y, n_rows)[:, 0]
        if self.algorithm == "discrete" and self.n_classes_ > 2:
            raise ParameterError(
                f"algorithm='discrete' is for two classes, y has {self.n_classes_}: use 'SAMME'"
            )
        return codes, self.classes_[codes]

    def _weigh(self, w: np.ndarray, answers: np.ndarray, y: np.ndarray) -> formulas.Verdict | None:
        rate = float(self.learning_rate)
        if self.algorithm == "SAMME.R":
            return formulas.weigh_by_shares(w, answers, y, rate)
        return formulas.weigh_by_mistakes(w, answers != y, self.algorithm, self.n_classes_, rate)

    def _weigh_first(self, w: np.ndarray, answers: np.ndarray, y: np.ndarray) -> formulas.Verdict:
        error = float(w[answers != y].sum())
        chance = formulas.chance_of(self.algorithm, self.n_classes_)
        raise DataError(
            f"the estimator of {type(self).__name__} is worse than random, or no better: the first learner, "
            f"a {type(self._base()).__name__}, has a weighted error of {error:.4g}; a "
            f"guess has {chance:.4g}: there is nothing to boost, try another estimator"
        )

    @property
    def _has_theory(self) -> bool:  # type: ignore[override]
        return self.algorithm != "SAMME.R"

    def _tally(self, y: np.ndarray) -> Any:
        shares = self.algorithm == "SAMME.R"
        return formulas.SharesTally(y) if shares else formulas.VoteTally(y, self.n_classes_)

    # ------------------------------------------------------------------ predictions of members
    def _read_nodes(self, value: np.ndarray) -> np.ndarray:
        """Return the predictions of a tree's nodes: class codes, or probabilities."""
        return value[:, 0] if self.algorithm == "SAMME.R" else leaf_values.winners(value)

    def _read(self, member: Any, X: Any) -> np.ndarray:
        read = learners.shares_of if self.algorithm == "SAMME.R" else learners.places_of
        return read(member, X, self.classes_)

    def _votes(self, answers: np.ndarray) -> np.ndarray:
        return _VOTES[self.algorithm](answers, self.n_classes_)

    # ------------------------------------------------------------------ predicting
    @property
    def _reading(self) -> str:
        return _READINGS[self.algorithm]

    def _as_one(self, trees: list[Tree], reading: str) -> Ensemble:
        if reading == "sign":
            link = Link("logit", 2.0)
            return Ensemble(trees, self.estimator_weights_, np.zeros(1), reading=reading, link=link)
        link = Link("softmax", 1.0 / max(self.n_classes_ - 1, 1))
        base = np.zeros(self.n_classes_)
        return Ensemble(trees, self.estimator_weights_, base, 1, "mean", reading, link)

    def _combined(self, X: Any) -> np.ndarray:
        """Return the mean of all votes, (rows, classes), or their sum, (rows, 1), for "discrete"."""
        self._check_fitted()
        if self._has_trees:
            matrix = self._encode(X)
            return self.ensemble_.answers(matrix, self._threads_for(matrix))
        *_, last = self._staged(X)
        return last

    def _staged(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the combined votes after each round."""
        self._check_fitted()
        if self._has_trees:
            yield from self.ensemble_.staged(self._encode(X), self._threads())
            return
        total: Any = 0.0
        for k, answers in enumerate(self._answers(X)):
            total = total + self.estimator_weights_[k] * self._votes(answers)
            all_weight = self.estimator_weights_[: k + 1].sum()
            yield total if self.algorithm == "discrete" else total / all_weight

    def _decide(self, combined: np.ndarray) -> np.ndarray:
        """Turn combined votes into decisions."""
        if self.algorithm == "discrete":
            return combined[:, 0]
        return combined[:, 1] - combined[:, 0] if self.n_classes_ == 2 else combined

    def _shares(self, decision: np.ndarray) -> np.ndarray:
        if self.n_classes_ == 1:
            return np.ones((len(decision), 1))
        if self.n_classes_ > 2:
            return softmax(decision / (self.n_classes_ - 1))
        return opposite_shares(decision, 1.0 if self.algorithm == "discrete" else 0.5)

    def _labels(self, decision: np.ndarray) -> np.ndarray:
        if self.n_classes_ == 1:
            return np.repeat(self.classes_, len(decision))
        if decision.ndim == 1:
            return self._label_of_two(decision, 0.0)
        return self.classes_[decision.argmax(axis=1)]

    def _meanings(self) -> dict[str, Callable[[np.ndarray], Any]]:
        return {
            "predict": lambda combined: self._labels(self._decide(combined)),
            "predict_proba": lambda combined: self._shares(self._decide(combined)),
            "decision_function": self._decide,
        }

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the combined vote; for two classes one number, positive for the second class."""
        return self._decide(self._combined(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the class with the most weight, the first in order between equals."""
        return self._labels(self.decision_function(X))

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities: e^F / (e^F + e^-F) of Σ β h for "discrete", else softmax of the mean vote.

        The second ones, scikit-learn's, rank rows well and stay close to 1/K.
        """
        return self._shares(self.decision_function(X))

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `decision_function` after each round."""
        return map(self._decide, self._staged(X))

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict` after each round."""
        return map(self._labels, self.staged_decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Yield `predict_proba` after each round."""
        return map(self._shares, self.staged_decision_function(X))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Yield the accuracy after each round."""
        from sklearn.metrics import accuracy_score

        for answer in self.staged_predict(X):
            yield float(accuracy_score(y, answer, sample_weight=sample_weight))

    # ------------------------------------------------------------------ theory
    @property
    def _betas(self) -> np.ndarray:
        """Return β of every round: the estimator weight on the scale of labels -1 and 1."""
        self._check_fitted()
        if self.algorithm == "SAMME.R":
            raise _NoTheory(
                "the theory of margins is about learners that vote with their weight; in SAMME.R "
                "probabilities vote: use algorithm='SAMME' or 'discrete'"
            )
        return self.estimator_weights_ / (1 if self.algorithm == "discrete" else 2)

    @property
    def edges_(self) -> np.ndarray:
        """γ_t = ½ - e_t: how much better than a coin every learner is."""
        self._betas  # noqa: B018 (SAMME.R has none)
        return 0.5 - self.estimator_errors_

    @property
    def normalisers_(self) -> np.ndarray:
        """Z_t: by how much every round shrinks the bound on the training error."""
        return laws.normalisers(self.estimator_errors_, self._betas)

    def margins(self, X: Any, y: Any) -> np.ndarray:
        """Return every row's margin: the weight for its class less the most for another, over all weight.

        It lies between -1 and 1, is positive for correct predictions, and is larger the clearer the vote.
        """
        *_, last = self.staged_margins(X, y)
        return last

    def staged_margins(self, X: Any, y: Any) -> Iterator[np.ndarray]:
        """Yield `margins` after each round."""
        self._betas  # noqa: B018
        codes = laws.codes_among(y, self.classes_, type(self).__name__)
        return laws.staged_margins(
            self._answers(X), self.estimator_weights_, codes, self.n_classes_
        )

    def training_error_bound(self) -> np.ndarray:
        """Return the bound on the weighted training error after each round: Π Z_t."""
        return laws.bounds_of(self.estimator_errors_, self._betas).product

    def theory(self) -> laws.Theory:
        """Return the theory's figures for every round, and the training error that they bound.

        Examples
        --------
        >>> X, y = [[1.0], [2.0], [3.0], [4.0], [5.0]], [1, 1, 0, 0, 1]
        >>> stump = CARTClassifier(criterion="error", max_depth=1)
        >>> model = AdaBoostClassifier(stump, n_estimators=3, algorithm="discrete").fit(X, y)
        >>> print(model.theory())
        round   error    edge   alpha       Z  product Z  exp(-2Σγ²)  train error
            1  0.2000  0.3000  0.6931  0.8000     0.8000      0.8353       0.2000
            2  0.2500  0.2500  0.5493  0.8660     0.6928      0.7371       0.2000
            3  0.1667  0.3333  0.8047  0.7454     0.5164      0.5902       0.0000
        """
        betas = self._betas
        if not hasattr(self, "train_errors_"):
            raise ModelFileError(
                "this file was written by a version that kept no training errors: fit it again, or "
                "compute them with 1 - staged_score(X, y)"
            )
        bounds = laws.bounds_of(self.estimator_errors_, betas)
        return laws.Theory(
            self.estimator_errors_, self.edges_, betas, self.normalisers_, bounds.product,
            bounds.exponential, self.train_errors_,
        )  # fmt: skip

    def margin_bound(self, theta: Any, *, edge: float | None = None) -> Any:
        """Return the bound on the share of training rows with a margin ≤ ``theta``.

        With the best weights of two classes it is Π 2 √(e^(1-θ) (1-e)^(1+θ)). An array gives an array.

        ``edge`` selects the bound for a learner with this edge in every round,
        ((1-2γ)^(1-θ) (1+2γ)^(1+θ))^(T/2): it falls with the rounds T where θ < γ. For γ up to the least of
        `edges_` it holds for this model, if it has two classes and a learning rate of 1.
        """
        if edge is None:
            return laws.margin_bound(self.estimator_errors_, self._betas, theta)
        self._check_plain("the bound of a uniform edge")
        if not 0 < edge <= 0.5:
            raise ParameterError(f"edge of margin_bound must lie in (0, ½], got {edge!r}")
        return laws.uniform_margin_bound(float(edge), theta, len(self.estimators_))

    def generalisation_bound(
        self,
        X: Any,
        y: Any,
        theta: float,
        *,
        delta: float = 0.05,
        constant: float = 1.0,
        n_hypotheses: int | None = None,
    ) -> laws.GeneralisationBound:
        """Return the bound on the error on new rows, which holds with probability 1 - δ, term by term.

        P_S[y f ≤ θ] + C √(log|H| / (m θ²)) + C √(log(1/δ) / m), for all θ at once.

        Parameters
        ----------
        X, y
            The training rows.
        theta : float
            θ, above 0 and at most 1.
        delta : float
            The probability that the bound fails.
        constant : float
            C. The theorem gives O(...): it leaves C open, and 1 is only a choice.
        n_hypotheses : int, optional
            |H|, the number of learners each round chose from. Stumps are counted, by the distinct
            cut points of X; of others it must be given.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = AdaBoostClassifier(n_estimators=50).fit(X, y)
        >>> found = model.generalisation_bound(X, y, 0.2)
        >>> round(found.margin_share, 3), round(found.complexity, 3), found.n_hypotheses
        (0.13, 0.674, 30622)
        """
        self._check_plain("the bound on the error of new rows")
        margins = self.margins(X, y)
        if n_hypotheses is None:
            base = self.estimator_
            if type(base) is not CARTClassifier or base.max_depth != 1:
                raise ParameterError(
                    "n_hypotheses of generalisation_bound must be given: only stumps "
                    "(CARTClassifier(max_depth=1)) are counted"
                )
            n_hypotheses = laws.count_stumps(self._encode(X), self.schema_)
        share = float(np.mean(margins <= theta))
        return laws.generalisation_bound(share, theta, n_hypotheses, len(margins), delta, constant)

    def _check_plain(self, what: str) -> None:
        self._betas  # noqa: B018 (SAMME.R has none)
        if self.n_classes_ != 2 or self.learning_rate != 1:
            raise ParameterError(
                f"{what} is for two classes and a learning_rate of 1, here they are {self.n_classes_} and "
                f"{self.learning_rate}"
            )

    # ------------------------------------------------------------------ keeping
    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        super()._read_fitted_state(state)
        if self.algorithm == "discrete" and self.n_classes_ > 2:
            raise ModelFileError("a discrete AdaBoost has more than two classes")
        for member in self.estimators_:
            known = getattr(member, "classes_", None)
            if not isinstance(known, np.ndarray) or not np.isin(known, self.classes_).all():
                raise ModelFileError("the estimators and the model disagree on the classes")
            shared = type(member) is CARTClassifier and member.schema_ is self.schema_
            if shared and len(known) != self.n_classes_:
                raise ModelFileError("the trees and the model disagree on the number of classes")
