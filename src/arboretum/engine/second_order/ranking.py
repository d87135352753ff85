"""Derivatives of LambdaMART: pairs of rows in a list push each other apart.

A pair with different labels has the loss log(1 + e**(-σ (s_better - s_worse))) times Δ, the change of the
list's metric if the two swapped places (Burges 2010):

    ρ = 1 / (1 + e**(σ (s_better - s_worse)))     g_better -= σ ρ Δ          g_worse += σ ρ Δ
                                                  h        += σ² ρ (1 - ρ) Δ   for both

A list is read in the order of its scores. NDCG changes by the difference of two gains times that of two
discounts. Average precision changes at the two places and at every relevant row between them; with
hits H and harmonic sums S of the relevant rows so far, both from one pass, that takes O(1) too:

    relevant at a, not at b > a:    H_b / b - H_a / a - (S_{b-1} - S_a)
    relevant at b, not at a < b:    (H_a + 1) / a - H_b / b + (S_{b-1} - S_a)
"""

from typing import NamedTuple

import numpy as np

from arboretum.engine.compiler.decorators import kernel, subkernel
from arboretum.engine.elementary import bounded_exp, log2
from arboretum.engine.random import mix, uniform

__all__ = ["MAP", "NDCG", "PAIRWISE", "QueryLists", "RankingScratch", "Rules", "lambda_derivatives"]

PAIRWISE, NDCG, MAP = 0, 1, 2


class QueryLists(NamedTuple):
    """The lists to rank: list q has the rows ``start[q]`` up to ``start[q + 1]``."""

    start: np.ndarray  # (n_lists + 1,) int64
    score: np.ndarray  # (n_rows,) float64, by row
    gain: np.ndarray  # (n_rows,) float64, by row
    discount: np.ndarray  # (longest list,) float64, by place


class Rules(NamedTuple):
    """How pairs are chosen and weighted."""

    metric: int  # PAIRWISE, NDCG or MAP
    top: int  # pairs have one row among the first ``top``; 0: pairs are drawn
    drawn: int  # pairs drawn for every row
    key: np.uint64  # key of the draws
    sigma: float
    factor: float  # factor of the curvature
    least: float  # smallest value of ρ (1 - ρ)
    by_score: bool  # divide Δ by 0.01 + the difference of the scores
    by_sum: bool  # divide a list's derivatives by their size


class RankingScratch(NamedTuple):
    """Scratch arrays as long as the longest list; in order of falling score if nothing else is stated."""

    order: np.ndarray  # (longest list,) int64: the list's rows by falling score
    by_gain: np.ndarray  # (longest list,) int64: the same by falling gain
    place: np.ndarray  # (longest list,) int64: of each row in ``order``
    spare: np.ndarray  # (longest list,) int64
    score: np.ndarray  # (longest list,) float64
    gain: np.ndarray  # (longest list,) float64
    hits: np.ndarray  # (longest list,) float64: relevant rows so far
    harmonic: np.ndarray  # (longest list,) float64: Σ 1 / place of these rows
    g: np.ndarray  # (longest list,) float64: sums over pairs
    h: np.ndarray  # (longest list,) float64
    delta: np.ndarray  # (longest list,) float64: of the pairs of one row
    push: np.ndarray  # (longest list,) float64: their first derivatives
    bend: np.ndarray  # (longest list,) float64: their second derivatives


@kernel
def lambda_derivatives(lists, rules, scratch, first, last, g, h):
    """Write the derivatives of the rows of lists ``first`` up to ``last``.

    g, h (n_rows,) float32, written.
    """
    for q in range(first, last):
        lo = lists.start[q]
        n = lists.start[q + 1] - lo
        ideal = _prepare(lists, rules, scratch, lo, n)
        inverse = 1.0 / ideal if ideal > 0.0 else 0.0
        norm = 1.0
        if rules.top > 0:
            size = _top_pairs(lists, rules, scratch, n, inverse)
            if rules.by_sum and size > 0.0:
                norm = log2(1.0 + size) / size
        else:
            _drawn_pairs(lists, rules, scratch, lo, n, inverse)
            if rules.by_sum:
                norm = 1.0 / rules.drawn
        for k in range(n):
            g[lo + scratch.order[k]] = scratch.g[k] * norm
            h[lo + scratch.order[k]] = scratch.h[k] * norm


# ---------------------------------------------------------------------- a list
@subkernel
def _prepare(lists, rules, scratch, lo, n):
    """Sort a list and set its sums to zero; return the divisor of its metric."""
    _sort(lists.score, lo, n, scratch.order, scratch.spare)
    if rules.metric == NDCG or rules.top == 0:
        _sort(lists.gain, lo, n, scratch.by_gain, scratch.spare)
    hits, harmonic = 0.0, 0.0
    for k in range(n):
        row = scratch.order[k]
        scratch.place[row] = k
        scratch.score[k], scratch.gain[k] = lists.score[lo + row], lists.gain[lo + row]
        scratch.g[k] = scratch.h[k] = 0.0
        if scratch.gain[k] > 0.0:
            hits += 1.0
            harmonic += 1.0 / (k + 1.0)
        scratch.hits[k], scratch.harmonic[k] = hits, harmonic
    if rules.metric != NDCG:
        return hits
    ideal = 0.0
    for k in range(n if rules.top == 0 else min(n, rules.top)):
        ideal += lists.gain[lo + scratch.by_gain[k]] * lists.discount[k]
    return ideal


@subkernel
def _sort(key, lo, n, order, spare):
    """Write the rows of a list by falling key, equal ones in order: a merge sort.

    key (n_rows,) float64; order (longest list,) int64, written; spare (longest list,) int64, scratch.
    """
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for left in range(0, n, 2 * width):
            middle, right = min(left + width, n), min(left + 2 * width, n)
            a, b = left, middle
            for k in range(left, right):
                if b >= right or (a < middle and key[lo + order[a]] >= key[lo + order[b]]):
                    spare[k] = order[a]
                    a += 1
                else:
                    spare[k] = order[b]
                    b += 1
        for k in range(n):
            order[k] = spare[k]
        width *= 2


# ---------------------------------------------------------------------- pairs
@subkernel
def _top_pairs(lists, rules, scratch, n, inverse):
    """Pair each of the first rows with all rows after it; return the sum of pushes, in both directions."""
    size = 0.0
    spread = scratch.score[0] != scratch.score[n - 1]
    for a in range(min(rules.top, n)):
        _changes(lists, rules, scratch, a, a + 1, n, inverse)
        size += _push(rules, scratch, a, a + 1, n, spread)
    return size


@subkernel
def _drawn_pairs(lists, rules, scratch, lo, n, inverse):
    """Pair every row with a few drawn from the rows of another gain; equal gains are neighbours."""
    spread = scratch.score[0] != scratch.score[n - 1]
    begin = 0
    while begin < n:
        gain, end = lists.gain[lo + scratch.by_gain[begin]], begin + 1
        while end < n and lists.gain[lo + scratch.by_gain[end]] == gain:
            end += 1
        others = n - (end - begin)
        for i in range(begin, end if others > 0 else begin):
            row = scratch.by_gain[i]
            key = mix(rules.key, np.uint64(lo + row))
            for k in range(rules.drawn):
                at = int(uniform(mix(key, np.uint64(k))) * others)
                other = scratch.by_gain[at if at < begin else at + end - begin]
                a, b = scratch.place[row], scratch.place[other]
                a, b = min(a, b), max(a, b)
                _changes(lists, rules, scratch, a, b, b + 1, inverse)
                _push(rules, scratch, a, b, b + 1, spread)
        begin = end


@subkernel
def _changes(lists, rules, scratch, a, first, last, inverse):
    """Write by how much the metric changes if place a swaps with later ones.

    It is below 0 where the later row is the better one, and 0 for equal gains.
    """
    gain, gains, delta = scratch.gain[a], scratch.gain[first:last], scratch.delta[first:last]
    if rules.metric == PAIRWISE:
        for b in range(last - first):
            delta[b] = (1.0 if gain > gains[b] else 0.0) - (1.0 if gain < gains[b] else 0.0)
    elif rules.metric == NDCG:
        discount, discounts = lists.discount[a], lists.discount[first:last]
        for b in range(last - first):
            delta[b] = (gain - gains[b]) * (discount - discounts[b]) * inverse
    else:
        here, harmonic = scratch.hits[a] / (a + 1.0), scratch.harmonic[a]
        for b in range(last - first):
            there = scratch.hits[first + b] / (first + b + 1.0)
            between = scratch.harmonic[first + b - 1] - harmonic
            if gain > gains[b]:
                delta[b] = (here - there + between) * inverse
            elif gain < gains[b]:
                delta[b] = -(here + 1.0 / (a + 1.0) - there + between) * inverse
            else:
                delta[b] = 0.0


@subkernel
def _push(rules, scratch, a, first, last, spread):
    """Let the row at place a and later ones push each other; return the sum of pushes, in both directions.

    One loop for each result, over slices: LLVM does not turn loops over many arrays, or from an index
    that might be negative, into vector instructions.
    """
    score, scores, deltas = scratch.score[a], scratch.score[first:last], scratch.delta[first:last]
    pushes, bends = scratch.push[first:last], scratch.bend[first:last]
    g, h = scratch.g[first:last], scratch.h[first:last]
    near, far = (0.01, 1.0) if rules.by_score and spread else (1.0, 0.0)
    sigma, least = rules.sigma, rules.least
    steep = rules.factor * sigma * sigma
    for b in range(last - first):
        apart = score - scores[b]
        delta = deltas[b] / (near + far * abs(apart))
        rho = 1.0 / (1.0 + bounded_exp(sigma * (apart if delta > 0.0 else -apart)))
        bend = rho * (1.0 - rho)
        pushes[b] = sigma * rho * delta
        bends[b] = steep * abs(delta) * (least if bend < least else bend)
    for b in range(last - first):
        g[b] += pushes[b]
    for b in range(last - first):
        h[b] += bends[b]
    push, bend, size = 0.0, 0.0, 0.0
    for b in range(last - first):
        push += pushes[b]
        bend += bends[b]
        size += abs(pushes[b])
    scratch.g[a] -= push
    scratch.h[a] += bend
    return 2.0 * size
