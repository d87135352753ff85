"""The rows of a round of boosting by mistakes: which are wrong, what they cost, and all next weights.

Each is one pass where NumPy takes several. Sums are left to NumPy, which adds in pairs.
"""

from __future__ import annotations

from arboretum.engine.compiler.decorators import kernel

__all__ = ["add_votes", "mark_mistakes", "multiply_weights"]


@kernel
def mark_mistakes(wrong, w, lost):
    """Write the weights of the rows that are wrong, and 0 for the others.

    wrong (n_rows,) bool; w (n_rows,) float64; lost (n_rows,) float64, written.
    """
    for i in range(len(w)):
        lost[i] = w[i] if wrong[i] else 0.0


@kernel
def multiply_weights(w, wrong, if_right, if_wrong, new):
    """Write weights times what being right or wrong makes of them.

    w (n_rows,) float64; wrong (n_rows,) bool; new (n_rows,) float64, written.
    """
    for i in range(len(w)):
        new[i] = w[i] * (if_wrong if wrong[i] else if_right)


@kernel
def add_votes(answers, second, weight, total, misses):
    """Add the votes of a learner for one of two classes; write which rows the vote so far gets wrong.

    answers (n_rows,) int32 or int64; second (n_rows,) bool; total (n_rows,) float64, added to; misses
    (n_rows,) bool, written.
    """
    for i in range(len(total)):
        total[i] += weight if answers[i] == 1 else -weight
        misses[i] = (total[i] > 0.0) != second[i]
