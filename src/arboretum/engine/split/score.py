"""What a cut is worth: the formulas that every search shares, from whole numbers added up per side.

With n and n_L the weight of a node and of its left side, S_c and L_c the sums of their channels (a channel
is the weight of one class in one output, or one output's target) and D_c = L_c - n_L S_c / n, a cut decreases

    squared error, Gini   Σ_c D_c² / (n_L n_R)         with one sum of class 1, half of Gini
    Friedman              (Σ_c D_c)² / (n_L n_R)       the outputs' mean difference, squared
    entropy, log-loss     [Σ_c f(L_c) + f(R_c) - f(S_c) - f(n_L) - f(n_R) + f(n)] / n,   f(x) = x log2 x
    Poisson               [Σ_c L_c ln(L_c/n_L) + R_c ln(R_c/n_R) - S_c ln(S_c/n)] / n
    error                 [max L_c + max R_c - max S_c] / n    classes of one output: the rows put right

(the mean over outputs). The first form has no cancellation and one division. A kernel that adds up in another
order would give other last bits: two searches that must agree call the same function.
"""

import math

import numpy as np

from arboretum.engine import elementwise
from arboretum.engine.compiler.decorators import inline, subkernel
from arboretum.engine.elementary import expm1, log, log2
from arboretum.engine.split.best import REFUSED

__all__ = [
    "ABSOLUTE",
    "CHANCE",
    "ENTROPY",
    "ERROR",
    "FRIEDMAN",
    "GINI",
    "INFORMATION",
    "LN2",
    "POISSON",
    "POISSON_FORM",
    "SQUARED",
    "SQUARES",
    "XLOGX",
    "breaks_order",
    "channel_score",
    "channel_squares",
    "error_score",
    "form_of",
    "free_categories",
    "least_squares",
    "moment_score",
    "score_sums",
    "squares",
    "squares_from_mean",
    "x_log2_x",
    "xlogx",
]

GINI, ENTROPY, SQUARED, POISSON, FRIEDMAN, ABSOLUTE, ERROR = 0, 1, 2, 3, 4, 5, 6  # criteria
SQUARES, POISSON_FORM, INFORMATION = 0, 1, 2  # forms of a score from one sum
LN2 = 0.6931471805599453
# share of a row's impurity that a category which means nothing gains by its place in the order: (E|z|)² of a
# standard normal z (docs/gbm.md)
CHANCE = 2.0 / math.pi
_counts = np.arange(1, 1 << 16, dtype=np.float64)
XLOGX = np.concatenate([[0.0], _counts * elementwise.log(_counts)])


# --------------------------------------------------------------------------- pieces
@subkernel
def free_categories(n_categories, n_rows, loner):
    """Return how many categories gain ``CHANCE`` of a row's impurity by their order alone.

    Two have no order to choose. Among more than half as many categories as rows some hold a single row, at
    least 2m - n of them, which count for ``loner`` more (grow/settings.py).
    """
    return np.float64(max(n_categories - 2, 0)) + loner * max(2 * n_categories - n_rows, 0)


@inline
def xlogx(x, table):
    """Return x ln x of a whole number; small ones are looked up.

    table (n_kept,) float64.
    """
    i = np.int64(x)
    if i < len(table):
        return table[i]
    return np.float64(x) * log(np.float64(x))


@inline
def x_log2_x(x):
    """Return x log2 x, 0 for 0 (and for the rounding error of nothing)."""
    return x * log2(x) if x > 0.0 else 0.0


@inline
def squares_from_mean(left_sum, left_weight, mean, weight):
    """Return D² / (n_L n_R); ``mean`` is the node's S / n. NaN where a side is empty."""
    n_left = np.float64(left_weight)
    d = np.float64(left_sum) - n_left * mean
    return d * d / (n_left * (np.float64(weight) - n_left))


@inline
def squares(left_sum, left_weight, total, weight):
    """Return D² / (n_L n_R), as `squares_from_mean`; written out, ExtraTrees are 5 % faster."""
    d = np.float64(left_sum) - np.float64(left_weight) * (np.float64(total) / np.float64(weight))
    return d * d / (np.float64(left_weight) * (np.float64(weight) - np.float64(left_weight)))


@inline
def least_squares(score, total, weight, form):
    """Return the D² / (n_L n_R) without which a cut cannot reach a score that needs logarithms.

    Information of two classes is at most ln(1 + χ²/n) (Jensen's inequality), and χ²/n is D² / (n_L n_R) over
    the product of the classes' shares. The Poisson score is at most D² / (n_L n_R) over the mean, since
    ln x <= x - 1. What cannot be the best needs no logarithm. The bar is a little lower than that, by more
    than logarithms of sums are rounded.
    """
    share = total / weight
    if form == POISSON_FORM:
        return 0.999999 * max(score - 1e-12 * share, 0.0) * share
    return 0.999999 * expm1(max(score - 1e-12, 0.0) * LN2) * share * (1.0 - share)


@inline
def channel_squares(left, total, left_weight, weight):
    """Return Σ D_c² and Σ D_c.

    left, total (n_channels,) int64.
    """
    n, n_left = np.float64(weight), np.float64(left_weight)
    squared, together = 0.0, 0.0
    for c in range(len(total)):
        d = np.float64(left[c]) - n_left * (np.float64(total[c]) / n)
        squared += d * d
        together += d
    return squared, together


# --------------------------------------------------------------------------- one sum
@inline
def form_of(criterion):
    """Return how a cut is scored from one sum: squares, unless the criterion takes logarithms."""
    if criterion == POISSON:
        return POISSON_FORM
    return INFORMATION if criterion == ENTROPY else SQUARES


@inline
def moment_score(left_sum, left_weight, right_sum, total, weight, form, table):
    """Return the impurity decrease of a cut from its sums, or -1 where it is forbidden.

    The right sum is the exact difference of whole numbers: where nothing is left it is exactly 0.

    table (n_kept,) float64.
    """
    if form == SQUARES:
        return squares(left_sum, left_weight, total, weight)
    right_weight = weight - left_weight
    if form == INFORMATION:
        ones = xlogx(left_sum, table) + xlogx(right_sum, table) - xlogx(total, table)
        others = (
            xlogx(left_weight - left_sum, table) + xlogx(right_weight - right_sum, table)
            - xlogx(weight - total, table)
        )  # fmt: skip
        sides = xlogx(left_weight, table) + xlogx(right_weight, table)
        # in this order a division and its mirror image (sides and classes swapped) score the same bits
        gain = (others + ones) + (xlogx(weight, table) - sides)
        return max(gain / (weight * LN2), 0.0)
    if left_sum <= 0.0 or right_sum <= 0.0:
        return REFUSED
    gain = (
        left_sum * log(left_sum / left_weight)
        + right_sum * log(right_sum / right_weight)
        - total * log(total / weight)
    )
    return max(gain / weight, 0.0)


@inline
def breaks_order(left_sum, left_weight, total, weight, sign, lower, upper):
    """Tell whether a cut's two means break a monotone constraint or leave the node's bounds.

    A column without a constraint (sign 0) is free: the children's values are clipped to the bounds.
    """
    if sign == 0:
        return False
    left = left_sum / left_weight
    right = (total - left_sum) / (weight - left_weight)
    if (right - left) * sign < 0.0:
        return True
    return min(left, right) < lower or max(left, right) > upper


# --------------------------------------------------------------------------- channels
@subkernel
def _entropy_score(left, total, left_weight, weight, outputs, table):
    """Return the decrease of entropy, in bits; see `channel_score`.

    left, total (n_channels,) int64; table (n_kept,) float64.
    """
    right_weight = weight - left_weight
    gain = 0.0  # added up as in `moment_score`
    for c in range(len(total)):
        gain += xlogx(left[c], table) + xlogx(total[c] - left[c], table) - xlogx(total[c], table)
    sides = xlogx(left_weight, table) + xlogx(right_weight, table)
    gain += outputs * (xlogx(weight, table) - sides)
    return max(gain / (np.float64(weight) * LN2 * outputs), 0.0)


@subkernel
def _poisson_score(left, total, left_weight, weight, outputs):
    """Return the decrease of half the Poisson deviance; see `channel_score`.

    left, total (n_channels,) int64.
    """
    n, n_left = np.float64(weight), np.float64(left_weight)
    gain = 0.0
    for c in range(len(total)):
        t, l = np.float64(total[c]), np.float64(left[c])  # noqa: E741
        r = np.float64(total[c] - left[c])  # whole numbers: nothing left is exactly 0
        if l <= 0.0 or r <= 0.0:
            return REFUSED
        gain += l * log(l / n_left) + r * log(r / (n - n_left)) - t * log(t / n)
    return max(gain / (n * outputs), 0.0)


@subkernel
def error_score(left, total, weight):
    """Return the share of the weight that a cut puts right: each side answers its heaviest class.

    left, total (n_channels,) int64.
    """
    on_left, on_right, before = np.int64(0), np.int64(0), np.int64(0)
    for c in range(len(total)):
        on_left = max(on_left, left[c])
        on_right = max(on_right, total[c] - left[c])
        before = max(before, total[c])
    return np.float64(on_left + on_right - before) / np.float64(weight)


@inline
def channel_score(left, total, left_weight, weight, criterion, outputs, table):
    """Return the impurity decrease of a cut from its channels (int64 arrays), or -1 if forbidden.

    left, total (n_channels,) int64; table (n_kept,) float64.
    """
    if criterion == ENTROPY:
        return _entropy_score(left, total, left_weight, weight, outputs, table)
    if criterion == POISSON:
        return _poisson_score(left, total, left_weight, weight, outputs)
    if criterion == ERROR:
        return error_score(left, total, weight)
    squared, together = channel_squares(left, total, left_weight, weight)
    if criterion == FRIEDMAN:
        squared = together * together / outputs
    n, n_left = np.float64(weight), np.float64(left_weight)
    return squared / (n_left * (n - n_left) * outputs)


@inline
def score_sums(left, total, left_weight, weight, rules, logs):
    """Return the impurity decrease of a cut as the search of presorted lists computes it, or -1 if forbidden.

    left, total (n_channels,) int64; logs: ``rules.logs``, None where one sum's squares decide.
    """
    if logs is None:
        score = squares(left[0], left_weight, total[0], weight)
    else:
        if len(total) == 1:
            on_left, whole = np.float64(left[0]), np.float64(total[0])
            on_right, form = np.float64(total[0] - left[0]), form_of(rules.criterion)
            n_left, n = np.float64(left_weight), np.float64(weight)
            score = moment_score(on_left, n_left, on_right, whole, n, form, logs)
        else:
            score = channel_score(
                left, total, left_weight, weight, rules.criterion, rules.outputs, logs
            )
    return score
