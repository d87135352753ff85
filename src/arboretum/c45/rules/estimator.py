"""C4.5rules (Quinlan 1993, chapter 5): a few general rules out of an unpruned tree.

grow          an unpruned C4.5 tree; every path to a leaf is a rule
generalise    drop the conditions that do not help (generalising.py)
choose        for each class, the rules that make the shortest message (choosing.py)
order         classes by false positives, rules by accuracy; the default class (ruleset.py)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from arboretum.base import parameters as p
from arboretum.base.anatomy import Anatomy
from arboretum.base.estimator import Estimator
from arboretum.base.parameters import Parameter
from arboretum.c45.c45 import grow_collapsed
from arboretum.c45.estimator import C45_PARAMETERS, CaseTreeClassifier
from arboretum.c45.rules.rule import C45Rule, first_firing
from arboretum.errors import ModelFileError
from arboretum.io.values import labels_of, whole
from arboretum.predict.additive import NoAdditiveForm
from arboretum.structure.condition import format_category

__all__ = ["C45Rules"]


class _NoTree:
    """Stands for what a tree can answer and rules cannot."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        raise AttributeError(f"C45Rules has no {self.name}: it keeps rules_ and no tree")


class C45Rules(CaseTreeClassifier):
    """Quinlan's C4.5rules: an ordered list of IF-THEN rules, made from an unpruned C4.5 tree.

    Every path of the tree is a rule. Conditions are dropped from it as long as its pessimistic error
    rate U_CF(e, N) does not rise. Then, for each class, the rules are kept that describe the class in the
    fewest bits (minimum description length). The classes whose rules make the fewest false positives
    come first; rows that no rule covers get a default class.

    Parameters
    ----------
    [parameters]

    Attributes
    ----------
    [attributes]

    Notes
    -----
    A condition on a missing value does not hold: a row that misses a value is covered only by rules
    that do not test it. (The tree still learns from such rows, as fractional cases.)

    A rule takes part in the choice if it has a condition left, if its estimated error rate is below
    that of answering its class always, 1 - (n_class + 1) / (n + 2), and below 0.7, and if its class
    is the most frequent among the rows it covers.

    Differences to Quinlan's program: exceptions are coded as in his book (log2 of binomial
    coefficients), not by the later code that wants as many false positives as false negatives; every
    column costs the same number of bits; with more than ten rules of a class the search starts with none
    and with all of them, not with random ones. Of a tree with more than 10^9 / n leaves only the
    heaviest become rules.

    Examples
    --------
    >>> import pandas as pd
    >>> weather = pd.DataFrame({
    ...     "outlook": ["sunny"] * 5 + ["overcast"] * 4 + ["rain"] * 5,
    ...     "humidity": [85, 90, 95, 70, 70, 78, 90, 65, 75, 80, 70, 80, 80, 96],
    ...     "windy": "no yes no yes no no yes yes no yes yes no no no".split(),
    ... })
    >>> play = "no no no yes yes yes yes yes yes no no yes yes yes".split()
    >>> model = C45Rules().fit(weather, play)
    >>> print(model.to_text())
    Rule 1: outlook = sunny and humidity > 75
        -> no   [3 covered, 0 wrong, estimated accuracy 63.0 %]
    Rule 2: outlook = rain and windy = yes
        -> no   [2 covered, 0 wrong, estimated accuracy 50.0 %]
    Rule 3: outlook = overcast
        -> yes   [4 covered, 0 wrong, estimated accuracy 70.7 %]
    Rule 4: outlook = rain and windy = no
        -> yes   [3 covered, 0 wrong, estimated accuracy 63.0 %]
    Default: yes
    >>> model.apply(weather.iloc[[0, 3, 5]])
    array([ 0, -1,  2])
    """

    _family: ClassVar = "rules"
    _fitted: ClassVar = "rules_"
    _learned: ClassVar[tuple[str, ...]] = ("rules_",)
    _parameters: ClassVar = {
        **CaseTreeClassifier._parameters,
        **C45_PARAMETERS,
        "theory_weight": Parameter(
            p.real(0),
            "What a bit of the rules counts beside a bit of their exceptions; more keeps fewer rules.",
        ),
    }
    _attributes: ClassVar = {
        "rules_ : list of C45Rule": "In the order in which they are tried.",
        "default_ : object": "The class of rows that no rule covers.",
        "default_counts_ : float array": "Weight of every class among the training rows that no rule "
        "covers.",
        "class_prior_ : float array": "Share of every class in the training rows.",
        "schema_ : Schema": "Names, kinds and categories of the columns.",
        "classes_ : array": "The class labels, sorted.",
        "n_classes_, n_features_in_, n_samples_fit_ : int": "",
        "feature_names_in_ : array of str": "Only if the training table had names.",
    }

    rules_: list[C45Rule]

    decision_path: Any = _NoTree()
    get_depth: Any = _NoTree()
    get_n_leaves: Any = _NoTree()
    feature_importances_: Any = _NoTree()
    trees_: Any = _NoTree()

    def __init__(
        self,
        *,
        confidence: float = 0.25,
        min_cases: float = 2,
        criterion: str = "gain_ratio",
        epsilon: float = 0.0,
        gate: bool = True,
        subset: bool = False,
        max_depth: int | None = None,
        collapse: bool = True,
        error_limit: str = "quinlan",
        theory_weight: float = 0.5,
        class_weight: Any = None,
        categorical_features: Any = None,
        ordinal_features: Any = None,
        unseen: str = "missing",
        n_jobs: int | None = None,
    ) -> None:
        p.take_arguments(locals())

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow a tree and turn it into rules.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas, polars or pyarrow table, scipy.sparse matrix, or path of a CSV or Parquet
            file. NaN, None and null are missing values.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
            Fractional cases: a row of weight 2 counts as two. Rows of weight 0 are left out.

        Returns
        -------
        self
        """
        from arboretum.c45.pruning import Pessimism
        from arboretum.c45.rules.rule import make_rule
        from arboretum.c45.rules.ruleset import rules_of
        from arboretum.c45.table import case_table

        matrix, codes, w = self._learn(X, y, sample_weight)
        threads = self._threads()
        table = case_table(matrix, self.schema_, codes, w, self.n_classes_, n_jobs=threads)
        del matrix  # the table has its own copy of what it needs, and it is the smaller one
        chosen = rules_of(
            grow_collapsed(self, table).to_tree(self.schema_),
            table,
            Pessimism(self.error_limit, float(self.confidence)),
            theory_weight=float(self.theory_weight),
            n_jobs=threads,
        )
        self.class_prior_ = chosen.prior
        self.default_counts_ = chosen.uncovered
        self.n_samples_fit_ = len(table.label)
        self.rules_ = [
            make_rule(c.tests, c.answer, 1.0 - c.rate, c.counts, self.schema_, self.classes_)
            for c in chosen.rules
        ]
        return self

    # ------------------------------------------------------------------ predicting
    def apply(self, X: Any) -> np.ndarray:
        """Return the rule that answers each row, its index in `rules_`; -1: the default class."""
        matrix = self._encode(X)
        return first_firing([rule.tests for rule in self.rules_], matrix.column, matrix.n_rows)

    def _anatomy(self) -> Anatomy:
        found = Estimator._anatomy(self)
        return replace(
            found,
            history=replace(found.history, n_rows=self.n_samples_fit_),
            recipe=replace(
                found.recipe,
                steps={"shares": self._shares, "default": lambda: self._default_answer},
            ),
        )

    def _served(self) -> Any:
        return Estimator._served(self)  # rules answer, no tree

    def _summed_trees(self) -> Any:
        raise NoAdditiveForm(
            f"{type(self).__name__} answers by the first rule that fires, which is no sum over the leaves of "
            "trees, so it has no SHAP values: the rule itself is the reason (apply, rules_); or use "
            "scikit-learn's permutation_importance"
        )

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class shares of the rule that answers each row.

        They are those of all training rows that the rule covers, one more case added that is spread
        over the classes by their overall shares; for the default class, those of the rows that no
        rule covers. The class that `predict` returns has the largest share.
        """
        fired = self.apply(X)
        return self._shares()[fired]

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of the first rule that covers each row, or the default class."""
        fired = self.apply(X)
        answers = [rule.answer for rule in self.rules_]
        return self.classes_[np.array([*answers, self._default_answer])[fired]]

    def _shares(self) -> np.ndarray:
        """Return the class shares of every rule and, last, of the default class."""
        counts = np.array([*(rule.counts for rule in self.rules_), self.default_counts_])
        return (counts + self.class_prior_) / (counts.sum(axis=1, keepdims=True) + 1.0)

    @property
    def _default_answer(self) -> int:
        return int(np.argmax(self.default_counts_ + self.class_prior_))

    @property
    def default_(self) -> Any:
        """The class of rows that no rule covers."""
        self._check_fitted()
        label = self.classes_[self._default_answer]
        return label.item() if isinstance(label, np.generic) else label

    # ------------------------------------------------------------------ reading
    def to_text(self, digits: int = 6, max_categories: int = 8) -> str:
        """Return the rules as text.

        Parameters
        ----------
        digits : int, default=6
            Significant digits of a threshold.
        max_categories : int, default=8
            Longer lists of categories are cut.
        """
        self._check_fitted()
        lines = [
            f"Rule {i}: {rule.pretty(digits, max_categories)}"
            for i, rule in enumerate(self.rules_, start=1)
        ]
        return "\n".join([*lines, f"Default: {format_category(self.default_)}"])

    # ------------------------------------------------------------------ keeping
    def _get_fitted_state(self) -> dict[str, Any]:
        from arboretum.c45.rules.rule import rules_to_state

        return {
            **Estimator._get_fitted_state(self),
            "classes": self.classes_,
            "rules": rules_to_state(self.rules_, self.n_classes_),
            "prior": self.class_prior_,
            "default_counts": self.default_counts_,
            "n_samples": self.n_samples_fit_,
        }

    def _read_fitted_state(self, state: dict[str, Any]) -> None:
        from arboretum.c45.rules.rule import rules_from_state

        self._take_classes(labels_of(state["classes"]))
        self.n_outputs_, n = 1, self.n_classes_
        self.class_prior_ = _weights(state["prior"], n, "shares of the classes")
        self.default_counts_ = _weights(state["default_counts"], n, "default's counts")
        self.n_samples_fit_ = whole(state, "n_samples", 1)
        self.rules_ = rules_from_state(state["rules"], self.schema_, self.classes_)
        shares = self._shares()
        if not np.allclose(shares.sum(axis=1), 1.0):
            raise ModelFileError("the rules' class shares do not add up to 1")
        best = shares.argmax(axis=1).tolist()
        if best[:-1] != [rule.answer for rule in self.rules_]:
            raise ModelFileError("a rule does not answer the class that it covers most")

    def _prove_sound(self) -> None:
        """`rules_from_state` has proved the rules; there is no tree."""


def _weights(array: Any, n: int, what: str) -> np.ndarray:
    # files written by 0.1 may hold whole numbers
    good = isinstance(array, np.ndarray) and array.dtype.kind in "if" and array.shape == (n,)
    if not good or not np.all(np.isfinite(array) & (array >= 0)):
        raise ModelFileError(f"the {what} are not {n} numbers ≥ 0")
    return array.astype(np.float64)
