"""A forest evaluated on rows it has not seen: a row is predicted only by the trees whose bag lacks it.

        tree 0   tree 1   tree 2        mean over the trees that have not seen the row
row 0   in bag     .8     in bag        .8
row 1     .2       .4     in bag        .3
row 2   in bag   in bag   in bag        no answer: left out of the score, and counted
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.data.checks import warn_caller
from arboretum.errors import DataError, ModelFileError
from arboretum.predict.walk import run_blocks, walk_block

if TYPE_CHECKING:
    from arboretum.data.matrix import Matrix
    from arboretum.predict.ensemble import Ensemble

__all__ = ["OutOfBag", "check_coverage", "errors_of", "out_of_bag"]


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """What trees predict for rows they have not seen.

    Attributes
    ----------
    mean : (rows, outputs, values) float64 array
        Mean answer; NaN for rows that every tree has seen.
    n_trees : (rows,) int64 array
        How many trees have not seen a row.
    curve : (trees,) float64 array
        Error after each tree: share of wrong classes, or mean squared error, over the rows that have
        an answer by then; NaN while none has.
    """

    mean: np.ndarray
    n_trees: np.ndarray
    curve: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """The rows that have an answer."""
        return np.flatnonzero(self.n_trees > 0)

    # ------------------------------------------------------------------ keeping
    def to_state(self) -> dict[str, Any]:
        """Return it as plain values."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: Any, shape: tuple[int, int, int], n_trees: int) -> OutOfBag:
        """Build it from what `to_state` returned; raise a ModelFileError if that is damaged.

        ``shape`` is (rows, outputs, values).
        """
        wanted = {
            "mean": (shape, np.float64),
            "n_trees": (shape[:1], np.int64),
            "curve": ((n_trees,), np.float64),
        }
        for name, (size, dtype) in wanted.items():
            array = state[name]
            if not isinstance(array, np.ndarray) or (array.shape, array.dtype) != (size, dtype):
                raise ModelFileError("its out-of-bag answers do not fit its rows and trees")
        found = cls(**{name: state[name] for name in wanted})
        some = found.n_trees > 0
        if np.any((found.n_trees < 0) | (found.n_trees > n_trees)) or not some.any():
            raise ModelFileError("its out-of-bag answers come from trees that do not exist")
        if not np.isfinite(found.mean[some]).all() or not np.isnan(found.mean[~some]).all():
            raise ModelFileError("its out-of-bag answers are not numbers")
        return found


def check_coverage(found: OutOfBag, what: str = "tree") -> None:
    """Warn if some rows have no out-of-bag answer; raise a DataError if no row has one."""
    n, never = len(found.n_trees), int(np.count_nonzero(found.n_trees == 0))
    if never == n:
        raise DataError(
            f"no row is out of bag in any {what}, so there is no out-of-bag score: take more "
            f"{what}s (n_estimators), or draw smaller samples (max_samples)"
        )
    if never:
        warn_caller(
            f"Some inputs do not have OOB scores. This probably means too few {what}s were used to compute "
            f"any reliable oob estimates. {never} of {n} rows are in the bag of every {what} and are left "
            "out"
        )


def out_of_bag(
    ensemble: Ensemble,
    matrix: Matrix,
    y: np.ndarray,
    classes: bool,
    unseen_by: np.ndarray,
    n_jobs: int,
) -> OutOfBag:
    """Return the out-of-bag answers of trees of equal weight.

    ``y`` is (rows, outputs), class codes or numbers; ``unseen_by`` is (trees, rows / 8), bits that
    are set where a tree has not seen a row (numpy.packbits).
    """
    n, shape, trees = matrix.n_rows, ensemble.base.shape, ensemble.trees
    total, n_answers = np.zeros((n, *shape)), np.zeros(n, np.int64)
    answers = [value.reshape(-1, *shape) for value in ensemble.terms.values]
    parts: dict[int, np.ndarray] = {}  # per block: errors and rows after each tree

    def go(lo: int, hi: int, X: np.ndarray) -> None:
        errors = np.zeros((2, len(trees)))
        wrong = np.zeros(hi - lo)
        first = lo // 8
        for t, (tree, answer) in enumerate(zip(trees, answers, strict=True)):
            bits = np.unpackbits(unseen_by[t, first : (hi + 7) // 8])
            here = np.flatnonzero(bits[lo - 8 * first : hi - 8 * first])
            if len(here):
                total[lo + here] += answer[walk_block(tree, X[here])]
                n_answers[lo + here] += 1
                wrong[here] = errors_of(
                    total[lo + here], n_answers[lo + here], y[lo + here], classes
                )
            covered = n_answers[lo:hi] > 0
            errors[:, t] = wrong[covered].sum(), covered.sum()
        parts[lo] = errors

    run_blocks(go, matrix, n_jobs)
    errors, rows = np.sum([parts[lo] for lo in sorted(parts)], axis=0)
    with np.errstate(invalid="ignore"):
        mean = total / np.where(n_answers > 0, n_answers, np.nan)[:, None, None]
        return OutOfBag(mean, n_answers, np.where(rows > 0, errors / rows, np.nan))


def errors_of(total: np.ndarray, n_answers: np.ndarray, y: np.ndarray, classes: bool) -> np.ndarray:
    """Return the error of every row, the mean over its outputs."""
    if classes:
        return (total.argmax(axis=2) != y).mean(axis=1)
    return np.square(total[:, :, 0] / n_answers[:, None] - y).mean(axis=1)
