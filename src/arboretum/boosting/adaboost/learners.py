"""How a weak learner learns from weighted rows, round after round.

    reweight    it gets the weights                        (it must take ``sample_weight``)
    resample    it gets n rows drawn by weight             (any estimator can)

Any estimator is cloned, fitted and used to predict the training rows (`AnyLearner`). Trees of this library
are grown from columns that were sorted once, and return the leaf of every row as they are grown
(`TreeLearner`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.base.members import flat
from arboretum.base.sampling import draw_by_weight
from arboretum.cart.cart import CARTClassifier, CARTRegressor
from arboretum.data.schema import Schema, _match
from arboretum.data.slices import as_view, take_columns, take_rows
from arboretum.data.table import read_table
from arboretum.engine.keys import key_of, uniform_array
from arboretum.errors import DataError
from arboretum.lazy import cached_property

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.grow.grower import Grower, GrowTarget
    from arboretum.grow.settings import Growth
    from arboretum.structure.tree import Tree

__all__ = [
    "AnyLearner",
    "TreeLearner",
    "draws_of",
    "in_order",
    "is_shared_tree",
    "make_member",
    "places_of",
    "shares_of",
    "tree_learner",
]

_ROWS, _STATE = 0x4DA, 0x57A7E


# ---------------------------------------------------------------------- members
def make_member(base: Any, seed: int, number: int) -> Any:
    """Return an unfitted copy of the base with a random state of its own."""
    from sklearn.base import clone

    member = clone(base)
    known = member.get_params(deep=True)
    states = [name for name in known if name == "random_state" or name.endswith("__random_state")]
    if states:
        state = _state_of(seed, number)
        member.set_params(**dict.fromkeys(sorted(states), state))
    return member


def _state_of(seed: int, number: int) -> int:
    """Return the random state of a member."""
    return key_of(seed, number, _STATE) >> 32


def draws_of(seed: int, number: int, n: int, attempt: int = 0) -> np.ndarray:
    """Return the n numbers in [0, 1) with which round ``number`` draws rows."""
    return uniform_array(key_of(seed, number, _ROWS + attempt), n)


# ---------------------------------------------------------------------- predictions
def in_order(schema: Schema, X: Any, name: str) -> Any:
    """Return a table with the columns of the fit, in their order, for estimators of any library."""
    X = as_view(X)
    order = np.array(_match(schema, read_table(flat(X)), name))
    return X if (order == np.arange(len(order))).all() else take_columns(X, order)


def places_of(member: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Return the codes of the classes an estimator predicts."""
    return _find(np.asarray(member.predict(X)), classes, member)


def shares_of(member: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Return the class probabilities an estimator predicts, (rows, classes); it may lack some classes."""
    shares = np.asarray(member.predict_proba(X), dtype=np.float64)
    if shares.shape[1] == len(classes):
        return shares
    found = np.zeros((len(shares), len(classes)))
    found[:, _find(np.asarray(member.classes_), classes, member)] = shares
    return found


def _find(labels: np.ndarray, classes: np.ndarray, member: Any) -> np.ndarray:
    places = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
    strange = np.flatnonzero(classes[places] != labels)
    if len(strange):
        raise DataError(
            f"{type(member).__name__} predicts {labels[strange[0]]!r}, which is not a class of y: is "
            "it a classifier?"
        )
    return places


# ---------------------------------------------------------------------- learners
@dataclass(frozen=True, eq=False)
class AnyLearner:
    """Fits copies of any estimator and predicts the training rows with them.

    Weights add up to 1, as in scikit-learn; for estimators of this library to the number of rows,
    because C4.5 reads them as counts of cases.
    """

    base: Any
    X: Any  # as the base takes it
    y: np.ndarray
    read: Callable[[Any, Any], np.ndarray]  # predictions of a member
    resample: bool
    seed: int

    def learn(self, w: np.ndarray, number: int, attempt: int = 0) -> tuple[Any, np.ndarray]:
        """Return a fitted member and its predictions of all rows; another attempt draws other rows."""
        member = make_member(self.base, self.seed, number)
        try:
            if self.resample:
                rows = draw_by_weight(w, draws_of(self.seed, number, len(w), attempt))
                member.fit(take_rows(self.X, rows), self.y[rows])
            else:
                ours = type(self.base).__module__.startswith("arboretum.")
                member.fit(self.X, self.y, sample_weight=w * len(w) if ours else w)
            return member, self.read(member, self.X)
        except Exception as error:
            error.add_note(f"this is round {number + 1} of boosting, a {type(member).__name__}")
            raise


def is_shared_tree(base: Any, resample: bool) -> bool:
    """Return True if `TreeLearner` can grow the trees of this base.

    It treats a row drawn twice as a row of weight 2. That changes trees only if rows are counted, in
    leaves, in bins or by class.
    """
    if type(base) not in (CARTClassifier, CARTRegressor):
        return False
    counts_rows = base.min_samples_leaf != 1 or base.min_samples_split != 2
    counts_rows |= base.max_bins is not None or getattr(base, "class_weight", None) is not None
    draws = base.splitter != "best" or base.max_features is not None
    alone = base.criterion in ("absolute_error", "error") or base.surrogates != 0
    alone |= base.max_bins is not None
    return not (resample and counts_rows) and not (draws and alone)


def round_weights(w: np.ndarray, given: np.ndarray | None) -> np.ndarray:
    """Return weights whose sums are exact: each weight of boosting, rounded, times the given weight.

    A row of weight 3 and three such rows then weigh the same to the last bit, and so do sides and leaves
    with equal weights in theory: ties stay ties in spite of rounding. The grid leaves rows down to a 64th of
    the mean weight exact, up to four million rows. Its bits change in steps of 8, so that three times as
    many rows usually have the same grid: 2^-37 of a weight for fewer than 1,024 rows, 2^-29 for fewer than
    262,144, 2^-25 for more.

    >>> given, rounded = np.array([3.0, 1.0, 2.0]), round_weights(np.full(6, 1 / 6), None)
    >>> round_weights(given / 6, given).tolist() == [rounded[:3].sum(), rounded[3], rounded[4:].sum()]
    True
    """
    factor = w if given is None else np.divide(w, given, out=np.zeros_like(w), where=given > 0)
    spare = min(max(-(-(len(w).bit_length() + 6) // 8) * 8, 16), 28)
    split = factor * (2.0**spare + 1.0)  # Veltkamp's method rounds to 53 - spare bits
    factor = split - (split - factor)
    return factor if given is None else factor * given


@dataclass(frozen=True, eq=False)
class TreeLearner:
    """Grows trees of this library from columns sorted once."""

    base: Any  # a private copy
    grower: Grower
    matrix: Matrix  # the training table
    growth: Growth
    target: GrowTarget  # without weights
    learned: dict[str, Any]  # attributes that all fitted trees have in common
    read: Callable[
        [np.ndarray], np.ndarray
    ]  # node values, (nodes, 1, values) -> predictions of nodes
    resample: bool
    seed: int
    given: np.ndarray | None  # sample weights; None: all the same
    factor: np.ndarray | None = None  # class weight of every row

    def learn(self, w: np.ndarray, number: int, attempt: int = 0) -> tuple[Any, np.ndarray]:
        """Return a fitted tree and its predictions of all rows; another attempt draws other rows."""
        from arboretum.engine.compiler.decorators import writable  # imports Numba

        if self.resample:
            drawn = draw_by_weight(w, draws_of(self.seed, number, len(w), attempt))
            w = np.bincount(drawn, minlength=len(w)).astype(np.float64)
        else:
            w = round_weights(w if self.factor is None else w * self.factor, self.given)
        rows = None if w.min() > 0 else np.flatnonzero(w > 0)
        target = replace(self.target, weights=writable(w))
        grown = self.grower.grow(target, rows, self._key_of(number))
        grown = grown.pruned(self.growth, self.matrix)
        return self._member(number, grown.tree), self.read(grown.tree.value)[grown.leaf_of_row]

    def _key_of(self, number: int) -> int:
        """Return the key of a tree's draws of columns or cuts: its own `seed_from`."""
        if not self.growth.draws:
            return 0
        self._rng.seed(_state_of(self.seed, number))  # making another takes ten times as long
        return int(self._rng.randint(0, 2**31 - 1)) << 31 | int(self._rng.randint(0, 2**31 - 1))

    @cached_property
    def _rng(self) -> np.random.RandomState:
        return np.random.RandomState(0)

    def _member(self, number: int, tree: Tree) -> Any:
        """Return the fitted result of `make_member`, without reading its parameters again."""
        member = object.__new__(type(self.base))
        state = _state_of(self.seed, number)
        vars(member).update(vars(self.base), random_state=state, **self.learned, _kept_tree=tree)
        return member


def tree_learner(
    base: Any,
    table: tuple[Matrix, Schema],
    y: np.ndarray,
    read: Callable[[np.ndarray], np.ndarray],
    given: np.ndarray | None,
    *,
    resample: bool,
    seed: int,
    threads: int,
) -> TreeLearner:
    """Return the learner of a CART.

    ``y``: labels as it takes them, ``given``: weights of the rows.
    """
    from arboretum.data.checks import check_rows
    from arboretum.grow.choose import Use, choose_grower
    from arboretum.grow.settings import growth, n_drawn

    matrix, schema = table
    tree = make_member(base, seed, 0)
    tree._check_parameters()
    tree.n_jobs = threads
    tree._take_schema(schema)
    check_rows(matrix.n_rows)
    target, factor = tree._learn_target(y, None, matrix.n_rows)
    weighted = replace(target, weights=np.ones(matrix.n_rows))
    least = float(tree.min_weight_fraction_leaf)
    settings = growth(tree, schema, weighted, matrix.n_rows)
    settings = replace(settings, min_weight_leaf=0.0, min_share=least)
    grower = choose_grower(matrix, schema, settings, weighted, Use.WEIGHTS)
    tree.max_features_ = n_drawn(base.max_features, schema.n_features)
    names = [name for name in vars(tree) if name.endswith("_") or name == "_one_output"]
    learned = {name: vars(tree)[name] for name in names}
    if given is not None and np.all(given == given[0]):
        given = None
    if given is not None:  # quotients stay well within float64, and integers exact
        given = np.ldexp(given, -int(np.frexp(given.max())[1]))
    member = make_member(base, seed, 0)
    return TreeLearner(
        member, grower, matrix, settings, target, learned, read, resample, seed, given, factor
    )
