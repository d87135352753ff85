"""The proof that a model from a file can predict: every index that a kernel will use lies in its array.

Kernels do not check their indices, so a file must be proved sound before the first of them runs:

    schema ── columns, categories ──► every tree (structure/sound.py): links, columns, sets, children
                                          │ kinds of splits, same number of answers
                                          ▼
                                      the ensemble: whole rounds, weights, base, class probabilities

A family lists in `_questions` which kinds of splits its trees have, and sets `_spreads` if they send rows
down several branches; everything else follows from the ensemble itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from arboretum.errors import ModelFileError
from arboretum.predict.leaf_values import read_leaves
from arboretum.structure.joined import arrays_of, pieces, sizes_of
from arboretum.structure.tree import LEAF, SUBSET, THRESHOLD, Tree

if TYPE_CHECKING:
    from arboretum.data.schema import Schema
    from arboretum.predict.ensemble import Ensemble

__all__ = ["YES_NO", "prove_ensemble", "prove_shares"]

YES_NO = (THRESHOLD, SUBSET)  # the kinds of splits of all models but C4.5 and ID3
_ROUNDING = 1e-6  # probabilities are divided and summed in floating point


def prove_ensemble(
    ensemble: Ensemble,
    schema: Schema,
    *,
    questions: Sequence[int] = YES_NO,
    spreads: bool = False,
) -> None:
    """Raise a ModelFileError unless the trees fit each other and the columns of the schema.

    Parameters
    ----------
    ensemble : Ensemble
        Its trees must have passed `validate_tree`, each by itself.
    schema : Schema
        The columns that rows will have.
    questions : list of kinds
        The kinds of splits that its trees may have.
    spreads : bool
        Whether they may send a row with a missing value down several branches.
    """
    trees = ensemble.trees
    weights, base = ensemble.weights, ensemble.base
    if len(weights) != len(trees) or not np.isfinite(weights).all():
        raise ModelFileError("its trees do not have one finite weight each")
    if not np.isfinite(base).all():
        raise ModelFileError("its answer before the first tree is not finite")
    if trees:
        _prove_questions(trees, schema, questions, spreads)
        _prove_widths(ensemble)
        _prove_range(ensemble)


def _prove_questions(
    trees: Sequence[Tree], schema: Schema, questions: Sequence[int], spreads: bool
) -> None:
    """Check that all trees split on the columns of the model, with its kinds of splits."""
    for number, tree in enumerate(trees):
        if tree.schema is not schema and tree.n_features != schema.n_features:
            raise ModelFileError(f"tree {number} has other columns than the model")
    parts = pieces(trees)
    ends = np.cumsum(sizes_of(parts))

    def refuse(bad: np.ndarray, problem: str) -> None:
        if bad.any():
            raise ModelFileError(f"tree {np.searchsorted(ends, bad.argmax(), 'right')} {problem}")

    kind = np.concatenate(arrays_of(parts, "kind"))
    allowed = np.isin(np.arange(256), (LEAF, *questions))  # by kind
    refuse(~allowed[kind], "has splits that trees of this model do not have")
    spreading = (kind != LEAF) & (np.concatenate(arrays_of(parts, "missing_child")) < 0)
    if not spreads:
        refuse(
            spreading, "sends missing values down several branches, as trees of this model do not"
        )
    elif spreading.any():
        for number, tree in enumerate(trees):
            if not _spreads_all(tree):
                raise ModelFileError(
                    f"tree {number} has branches without weight to spread missing values by"
                )


def _spreads_all(tree: Tree) -> bool:
    """Return whether the shares of the branches of every spreading split add up to 1."""
    parts = np.cumsum(np.append(0.0, tree.share))
    split = ~tree.is_leaf & (tree.missing_child < 0)
    first, n = tree.first_child[split], tree.n_children[split]
    return bool(np.allclose(parts[first + n] - parts[first], 1.0))


def _prove_widths(ensemble: Ensemble) -> None:
    """Check that all leaves have the same shape, and that a round has one number for every answer."""
    trees, base = ensemble.trees, ensemble.base
    shape = trees[0].value.shape[1:]
    if {value.shape[1:] for value in arrays_of(pieces(trees), "value")} != {shape}:
        raise ModelFileError("its trees disagree on outputs or classes")
    numbers = read_leaves(trees[0].value[:1], ensemble.reading).shape[1]
    together = ensemble.rule in ("mean", "median")  # every tree answers for all outputs
    if base.size % numbers or ((together or numbers > 1) and numbers != base.size):
        raise ModelFileError(
            f"its trees have {numbers} numbers per leaf, but it answers {base.size}"
        )
    if len(trees) % ensemble.per_round:
        raise ModelFileError("its trees do not make whole rounds")


def _prove_range(ensemble: Ensemble) -> None:
    """Check that the sum of the largest leaves of all trees is a finite float; a median has no sum."""
    if ensemble.rule == "median":
        return
    parts = pieces(ensemble.trees)
    sizes = sizes_of(parts)
    value = np.concatenate([np.abs(one).max(axis=(1, 2)) for one in arrays_of(parts, "value")])
    largest = np.maximum.reduceat(value, np.cumsum([0, *sizes[:-1]]))
    with np.errstate(over="ignore"):
        total = np.abs(ensemble.base).max() + (np.abs(ensemble.weights) * largest).sum()
    if not np.isfinite(total):
        raise ModelFileError("its leaves and weights add up to numbers beyond the range of floats")


def prove_shares(trees: Sequence[Tree], n_classes: Sequence[int]) -> None:
    """Raise a ModelFileError unless every node has probabilities of the classes of every output."""
    width = max(n_classes)
    beyond = np.arange(width) >= np.array(n_classes)[:, None]  # outputs with fewer classes
    for number, tree in enumerate(trees):
        value = tree.value
        if value.shape[1:] != beyond.shape:
            raise ModelFileError("the trees and the model disagree on outputs or classes")
        fair = (value.min() >= 0.0) and bool((np.abs(value.sum(axis=2) - 1.0) < _ROUNDING).all())
        if not fair or (value * beyond).any():
            raise ModelFileError(
                f"a node of tree {number} has numbers that are not probabilities of its classes"
            )
