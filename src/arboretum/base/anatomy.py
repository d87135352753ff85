"""The parts of a fitted model that explanations read, under the same names for every model.

    model._anatomy() ──► Anatomy ──► text, plots, rules, worksheets, report

Explanations read this record and the public API of a model, nothing else. Every family of estimators fills it
in one method, `_anatomy`, which adds to what the class above it returns. Making the record is cheap: it
refers to arrays and functions of the model and computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from arboretum.base.sampling import BagRules, Bootstrap
    from arboretum.data.matrix import Matrix
    from arboretum.data.schema import Schema
    from arboretum.predict.ensemble import Ensemble
    from arboretum.structure.pruning_cv import PruningCurve
    from arboretum.structure.tree import Tree

__all__ = ["Anatomy", "FitHistory", "FitRecipe", "LearnedTarget", "PartModel", "TableColumns"]


@dataclass(frozen=True, eq=False)
class TableColumns:
    """The columns of a model, and how a table becomes the numbers its trees read.

    Attributes
    ----------
    schema : Schema
        Names, kinds and categories.
    encode : callable
        ``encode(X)`` returns a `Matrix` in the numbers that the trees split on.
    numbers : callable
        ``numbers(X)`` returns a `Matrix` in the numbers of `schema`. They differ from those of `encode`
        where the model cuts numbers into bins first (ID3).
    cuts : dict
        Cut points by column, where the model cuts numbers into bins.
    missing : float
        A number that means missing besides NaN; NaN if there is none.
    """

    schema: Schema
    encode: Callable[[Any], Matrix]
    numbers: Callable[[Any], Matrix]
    cuts: Mapping[int, np.ndarray] = field(default_factory=dict)
    missing: float = np.nan


@dataclass(frozen=True, eq=False)
class PartModel:
    """A model inside another one.

    Attributes
    ----------
    name : str
        What it is called in the report and by ``worksheet.member``.
    model : fitted estimator
        Of this library or another.
    columns : int array or None
        The columns of the table it reads; None: all.
    weight : float
        Its weight in the answer.
    reads_table : bool
        False if it reads the predictions of other parts (the final model of stacking).
    """

    name: str
    model: Any
    columns: np.ndarray | None = None
    weight: float = 1.0
    reads_table: bool = True


@dataclass(frozen=True, eq=False)
class FitHistory:
    """What the fit kept of how it went.

    Attributes
    ----------
    n_rows : int
        Rows the model was fitted on; 0 if it does not keep their number.
    n_rounds : int
        Rounds of boosting; 0 for models that are not made in rounds.
    end : int or None
        `predict` uses the rounds before this one; None: all.
    seed : int or None
        The seed the fit drew its numbers from.
    seconds : float or None
        How long the fit took; a model from a file does not keep it.
    notes : dict
        What was written beside the model: the name of the target and the like.
    interrupted : str
        How far an interrupted fit got, "85 of 1500"; else empty.
    stop : str
        Why there are no more rounds, where the model keeps it.
    curves : dict
        (table, metric) -> the metric after every round.
    figures : dict
        A number for every round, by name: "rate", "error" and "weight" of the learner, "loss",
        "out-of-bag loss", "training error", "held-out error", "step".
    pruning : PruningCurve or None
        Errors along the pruning path, after `prune_cv`.
    oob_score, oob_curve : float, array, or None
        Out-of-bag score of the model, and error after every tree.
    oob_measure : str
        What the score is, "accuracy" or "R²"; empty if a function of the user's returned it.
    """

    n_rows: int = 0
    n_rounds: int = 0
    end: int | None = None
    seed: int | None = None
    seconds: float | None = None
    notes: Mapping[str, Any] = field(default_factory=dict)
    interrupted: str = ""
    stop: str = ""
    curves: Mapping[tuple[str, str], Any] = field(default_factory=dict)
    figures: Mapping[str, np.ndarray] = field(default_factory=dict)
    pruning: PruningCurve | None = None
    oob_score: Any = None
    oob_measure: str = ""
    oob_curve: np.ndarray | None = None


class LearnedTarget(NamedTuple):
    """A training target as the fit took it.

    Attributes
    ----------
    target : GrowTarget or array
        What trees are grown on: the `GrowTarget` of trees and forests, else class codes or numbers.
    labels : array
        The target as the members of the model are given it.
    weight : float64 array of shape (n_rows,), or None
        Weights of the rows.
    classes : array, list of arrays, or None
        The labels found, as in ``classes_``.
    """

    target: Any
    labels: Any
    weight: np.ndarray | None
    classes: Any


@dataclass(frozen=True, eq=False)
class FitRecipe:
    """How the fit made the model: the steps that an explanation computes again.

    Attributes
    ----------
    threads : callable
        Returns how many threads the model uses.
    learn : callable
        ``learn(y, sample_weight, n_rows)`` returns a `LearnedTarget`: the training target as the fit took it.
        The model does not change.
    criterion : str
        The criterion of splits; empty if there is no such parameter.
    held_out : callable or None
        ``held_out(codes, weight)`` returns the rows that were learned from and those held out (None if there
        are none).
    bagged_together : bool
        The trees of a bag were grown from one table, as a forest's are.
    steps : dict
        What only one family has, by name:

        ============  ====================================================================================
        forest        ``plan(matrix, target, weight)``: how its trees are grown
        bag           ``in_order(X)``: a table with the columns in the order of the fit; ``answer(t, X)``: the
                      answer of an estimator; ``plan(matrix, labels, weight)``: how its trees are grown
        imputer       ``rows()``: the training rows as numbers; ``rounds(y)``: table and leaves at the start
                      of every round, and the filled table last
        adaboost      ``answers(X)``: answers of every learner in turn; ``weigh(w, answers, codes)``: the
                      verdict of a round; ``combine(answers, weights)``, for regressors
        coordinate    ``table(X)``: a table as the dictionary reads it
        friedman      ``start(X, n_rows)``: the sums before the first round; ``rows(X, rows)``: rows of the
                      table as estimators take them; ``sums(X, start)``: the sums after every round of
                      members; ``staged(X)``: the sums after every round
        rules         ``shares()``: class probabilities of every rule and of the default class;
                      ``default()``: the code of the default class
        averaged      ``members()``: the boosters whose mean the model is; ``choices()``: what was tried
        second order  ``labels(y, n_rows)``, ``rows(given, matrix, y)``: the parts of a training table;
                      ``predicted(margin)``: what margins mean; ``objective()``: the loss
        ============  ====================================================================================
    """

    threads: Callable[[], int]
    learn: Callable[[Any, Any, int], LearnedTarget]
    criterion: str = ""
    held_out: Callable[[np.ndarray, Any], tuple[np.ndarray, np.ndarray | None]] | None = None
    bagged_together: bool = False
    steps: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Anatomy:
    """The parts of one fitted model.

    Attributes
    ----------
    family : str
        "tree", "id3", "c45", "rules", "forest", "cuts", "bag", "adaboost", "coordinate", "friedman",
        "second order", "averaged", "stack", "vote" or "imputer".
    columns : TableColumns
    recipe : FitRecipe
    trees : list of Tree
        The trees of the model, or of its members if each of them is one tree; empty if there are none.
    ensemble : Ensemble or None
        The trees as one, with all rounds; None if they do not add up to an answer over the columns.
    is_sum : bool
        `predict` returns what the ensemble adds up to, and nothing else.
    answers : dict
        By the name of a method ("predict", "predict_proba"), the function from the sums of the ensemble,
        (rows, outputs, …), to what the method returns.
    bags : Bootstrap, BagRules or None
        The training rows of every tree or member.
    classes : tuple of arrays, or None
        Labels of the classes of every target; None for numbers.
    n_targets : int
        Targets that are predicted at once.
    parts : tuple of PartModel
        The models it is made of, other than its own trees.
    history : FitHistory

    Examples
    --------
    >>> from arboretum import RandomForestClassifier
    >>> forest = RandomForestClassifier(5, random_state=0).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> anatomy = forest._anatomy()
    >>> anatomy.family, len(anatomy.trees), anatomy.leaves, anatomy.history.n_rows
    ('forest', 5, 'answers', 4)
    """

    family: str
    columns: TableColumns
    recipe: FitRecipe
    trees: list[Tree] = field(default_factory=list)
    ensemble: Ensemble | None = None
    is_sum: bool = False
    answers: Mapping[str, Callable[[np.ndarray], Any]] = field(default_factory=dict)
    bags: Bootstrap | BagRules | None = None
    classes: tuple[np.ndarray, ...] | None = None
    n_targets: int = 1
    parts: tuple[PartModel, ...] = ()
    history: FitHistory = field(default_factory=FitHistory)

    @property
    def leaves(self) -> str:
        """What the numbers of a leaf mean: "answers", "residuals" or "gradients"."""
        gradients = dict.fromkeys(("second order", "averaged"), "gradients")
        return {"friedman": "residuals", **gradients}.get(self.family, "answers")

    @property
    def used(self) -> Ensemble | None:
        """The rounds of the ensemble that `predict` uses."""
        end = self.history.end
        return (
            self.ensemble if end is None or self.ensemble is None else self.ensemble.rounds(0, end)
        )

    @property
    def labels(self) -> np.ndarray | None:
        """Labels of the classes of one target; None for numbers and for several targets."""
        return self.classes[0] if self.classes is not None and len(self.classes) == 1 else None

    def all_trees(self) -> Iterator[Tree]:
        """Yield the trees of the model, or else those of the models it is made of."""
        if self.trees:
            yield from self.trees
            return
        for part in self.parts:
            if has_anatomy(part.model):
                yield from part.model._anatomy().all_trees()


def has_anatomy(model: Any) -> bool:
    """Return whether a model is an estimator of this library."""
    return hasattr(model, "_anatomy")
