"""The rows of a round of boosting by mistakes: who is wrong, what it costs, what all weigh next.

Each is one pass where NumPy takes several. Sums are left to NumPy, which adds in pairs.
"""

from __future__ import annotations

from arboretum.engine.compiler.decorators import kernel

__all__ = ["add_votes", "mark_mistakes", "multiply_weights"]


@kernel
def mark_mistakes(wrong, w, lost):
    """Write the weights of the rows that are wrong, and 0 for the others."""
    for i in range(len(w)):
        lost[i] = w[i] if wrong[i] else 0.0


@kernel
def multiply_weights(w, wrong, if_right, if_wrong, new):
    """Write weights times what being right or wrong makes of them."""
    for i in range(len(w)):
        new[i] = w[i] * (if_wrong if wrong[i] else if_right)


@kernel
def add_votes(answers, second, weight, total, misses):
    """Add the votes of a learner for one of two classes; write whom the vote so far gets wrong."""
    for i in range(len(total)):
        total[i] += weight if answers[i] == 1 else -weight
        misses[i] = (total[i] > 0.0) != second[i]
