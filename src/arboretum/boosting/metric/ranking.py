"""Metrics of rankings: areas under curves, and the quality of the top of a list.

Only the order of the scores counts. Rows in order of falling score are walked once, and everything is a
running sum at the *thresholds*, the places where the score changes (rows of equal score enter together):

    score      .9   .7   .7   .2
    label       1    0    1    0        P = 2 positives, N = 2 negatives
    tp, fp    1,0       2,1  2,2        ROC area = Σ Δfp (tp + tp before) / 2 / (P N) = 0.875

Lists to rank come as groups of consecutive rows, see `queries`.

References: Järvelin & Kekäläinen 2002 (NDCG); Keilwagen, Grosse & Grau 2014 (the precision-recall curve
between two thresholds, with weights).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from arboretum.engine import sums
from arboretum.engine.elementwise import log
from arboretum.errors import DataError

if TYPE_CHECKING:
    from arboretum.boosting.metric.evaluation_set import EvaluationSet, Predicted
    from arboretum.boosting.metric.queries import Queries

Curve = tuple[np.ndarray, np.ndarray]


# ---------------------------------------------------------------------- two classes
def thresholds(score: np.ndarray, label: np.ndarray, weight: np.ndarray | None = None) -> Curve:
    """Return the weight of the positives and of the negatives at or above every distinct score.

    Parameters
    ----------
    score : float64 array of shape (n,)
    label : float64 array of shape (n,)
        0 or 1; a label between counts as part positive, part negative.
    weight : float64 array of shape (n,), optional

    Examples
    --------
    >>> tp, fp = thresholds(np.array([0.9, 0.7, 0.7, 0.2]), np.array([1.0, 0.0, 1.0, 0.0]))
    >>> tp.tolist(), fp.tolist()
    ([1.0, 2.0, 2.0], [0.0, 1.0, 2.0])
    """
    if weight is None and score.min() >= 0 and ((label == 0) | (label == 1)).all():
        return _packed_thresholds(score, label)
    order = np.argsort(score)[::-1]
    score = score[order]
    last = np.append(np.flatnonzero(score[1:] != score[:-1]), len(score) - 1)
    positive = label if weight is None else label * weight
    everything = last + 1.0 if weight is None else np.cumsum(weight[order])[last]
    tp = np.cumsum(positive[order])[last]
    return tp, np.maximum(everything - tp, 0.0)


def _packed_thresholds(score: np.ndarray, label: np.ndarray) -> Curve:
    """The same as `thresholds` for scores ≥ 0, labels of 0 or 1 and no weights, by sorting integers.

    The bits of such a score, read as a whole number, are in the score's order, and the sign bit is
    free: shifted left by one they leave room for the label. Sorting values takes a third of the time
    that sorting row numbers takes.
    """
    key = (score + 0.0).view(np.int64)  # + 0.0 turns -0.0 into 0.0
    key <<= 1
    key |= label == 1
    key.sort()
    key = key[::-1]
    value = key >> 1
    last = np.append(np.flatnonzero(value[1:] != value[:-1]), len(key) - 1)
    tp = np.cumsum(key & 1)[last]
    return tp.astype(np.float64), (last + 1 - tp).astype(np.float64)


def roc_auc(curve: Curve) -> float:
    """Return the area under the ROC curve: NaN with one class only."""
    tp, fp = curve
    area = _roc_pieces(tp, fp, _before(tp), _before(fp)).sum()
    return float(area / (tp[-1] * fp[-1])) if tp[-1] > 0 and fp[-1] > 0 else np.nan


def pr_auc(curve: Curve) -> float:
    """Return the area under the precision-recall curve, interpolated: NaN with one class only."""
    tp, fp = curve
    if not (tp[-1] > 0 and fp[-1] > 0):
        return np.nan
    return float(_pr_pieces(tp, fp, _before(tp), _before(fp), tp[-1]).sum())


def average_precision(curve: Curve) -> float:
    """Return Σ precision × Δrecall over the thresholds, without interpolation: NaN without positives."""
    tp, fp = curve
    if not tp[-1] > 0:
        return np.nan
    gained = tp - _before(tp)
    some = gained > 0
    return float((gained[some] * tp[some] / (tp[some] + fp[some])).sum() / tp[-1])


def _before(total: np.ndarray) -> np.ndarray:
    return np.concatenate(([0.0], total[:-1]))


def _roc_pieces(tp: np.ndarray, fp: np.ndarray, tp0: np.ndarray, fp0: np.ndarray) -> np.ndarray:
    return (fp - fp0) * (tp + tp0) * 0.5


def _pr_pieces(
    tp: np.ndarray, fp: np.ndarray, tp0: np.ndarray, fp0: np.ndarray, total: Any
) -> np.ndarray:
    """Return the area between neighbouring thresholds.

    Between two thresholds fp grows by h for every unit of tp, so at recall x (tp = x P) the precision
    is x / (a x + b) with a = 1 + h and b = (fp₀ - h tp₀) / P, whose integral is
    x / a - b / a² log(a x + b); and a x + b is (tp + fp) / P at either end.
    """
    gained = tp - tp0
    some = gained > 0
    safe = np.where(some, gained, 1.0)
    h = np.where(some, fp - fp0, 0.0) / safe
    a, b = 1.0 + h, (fp0 - h * tp0) / total
    curved = some & (tp0 + fp0 > 0)  # the first piece starts at the origin: b = 0, no logarithm
    logarithm = log(np.where(curved, tp + fp, 1.0) / np.where(curved, tp0 + fp0, 1.0))
    return np.where(some, (gained / total - b / a * logarithm) / a, 0.0)


# ---------------------------------------------------------------------- groups
def dcg(queries: Queries, gain: np.ndarray, order: np.ndarray, k: int) -> np.ndarray:
    """Return the discounted cumulative gain of every group's first k rows in an order."""
    top = queries.top(k)
    return queries.sum(gain[order[top]] * queries.discount[top], top)


def precisions_at_hits(
    queries: Queries, relevant: np.ndarray, order: np.ndarray, k: int
) -> np.ndarray:
    """Return the sum of the precisions at every group's relevant rows, as far as the first k.

    Divided by min(k, number of relevant rows), what k places could hold, it is average precision.
    """
    top = queries.top(k)
    hit = relevant[order[top]]
    ends = np.cumsum(np.minimum(queries.sizes, k))
    hits = np.cumsum(hit)
    earlier = np.concatenate(([0], hits[ends[:-1] - 1]))
    hits -= np.repeat(earlier, np.diff(ends, prepend=0))
    return queries.sum(hit * hits / (queries.position[top] + 1.0), top)


def precisions_at(queries: Queries, label: np.ndarray, order: np.ndarray, k: int) -> np.ndarray:
    """Return the share of relevant rows (labels 0 or 1) among every group's first k."""
    top = queries.top(k)
    return queries.sum(label[order[top]], top) / np.minimum(queries.sizes, k)


def pairwise_aucs(
    queries: Queries, label: np.ndarray, score: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Return, for every group, the share of pairs of unlike labels that the scores put in order.

    Equal scores are half right; NaN where all labels are equal. With labels of 0 and 1 it is the area
    under the group's ROC curve; with grades, the rows of each grade are set against all lower ones.
    """
    label, score = label[order], score[order]
    right = np.zeros(len(queries))
    pairs = np.zeros(len(queries))
    for grade in np.unique(label)[1:]:
        better, worse = label == grade, label < grade
        last, tp, fp, tp0, fp0 = _thresholds_by_group(queries, score, better, worse)
        right += queries.sum(_roc_pieces(tp, fp, tp0, fp0), last)
        pairs += queries.sum(better) * queries.sum(worse)
    with np.errstate(invalid="ignore"):
        return right / pairs


def pr_aucs(
    queries: Queries, label: np.ndarray, score: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Return every group's area under the precision-recall curve: NaN with one class only."""
    label, score = label[order], score[order]
    last, tp, fp, tp0, fp0 = _thresholds_by_group(queries, score, label, 1.0 - label)
    total = queries.sum(label)
    pieces = _pr_pieces(tp, fp, tp0, fp0, np.maximum(total, 1.0)[queries.group[last]])
    both = (total > 0) & (total < queries.sizes)
    return np.where(both, queries.sum(pieces, last), np.nan)


def _thresholds_by_group(
    queries: Queries, score: np.ndarray, positive: np.ndarray, negative: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Return where each threshold is, and tp, fp, tp before and fp before within its group."""
    changes = score[1:] != score[:-1]
    changes[queries.start[1:] - 1] = True
    last = np.append(np.flatnonzero(changes), queries.n_rows - 1)
    group = queries.group[last]
    now, before = [], []
    for weight in (positive, negative):
        total = np.cumsum(weight, dtype=np.float64)
        earlier = np.where(queries.start > 0, total[queries.start - 1], 0.0)[group]
        now.append(total[last] - earlier)
        before.append(_before(total[last]) - earlier)
    return last, *now, *before


# ---------------------------------------------------------------------- metric values
def area_under_roc(given: Predicted) -> float:
    """Return XGBoost's auc: for two classes, for each class against the rest, or for lists.

    The mean over classes is weighted by how often each occurs; over lists it is the plain mean.
    """
    if given.prediction.ndim == 2:
        curves = list(_one_against_the_rest(given))
        areas, shares = [roc_auc(curve) for curve in curves], [tp[-1] for tp, _ in curves]
        return np.multiply(areas, shares).sum() / sum(shares)
    return _area(given, roc_auc, pairwise_aucs)


def area_under_pr(given: Predicted) -> float:
    """Return XGBoost's aucpr: as auc, but the mean over classes is not weighted."""
    if given.prediction.ndim == 2:
        return float(np.mean([pr_auc(curve) for curve in _one_against_the_rest(given)]))
    if given.truth.grouped:
        _check_binary(given.truth)
    return _area(given, pr_auc, pr_aucs)


def _one_against_the_rest(given: Predicted) -> Iterator[Curve]:
    codes = given.codes
    for k, score in enumerate(given.matrix.T):
        yield thresholds(score, (codes == k).astype(np.float64), given.truth.weight)


def _area(
    given: Predicted, of_curve: Callable[[Curve], float], by_group: Callable[..., np.ndarray]
) -> float:
    truth = given.truth
    if not truth.grouped:
        if not truth.once("0 to 1", lambda: truth.y.min() >= 0 and truth.y.max() <= 1):
            raise DataError("areas under curves need labels from 0 to 1, or groups to rank")
        return of_curve(thresholds(given.vector, truth.y, truth.weight))
    areas = by_group(truth.queries, truth.y, given.vector, given.order)
    known = ~np.isnan(areas)
    return sums.mean(areas[known])


def binary_roc_auc(given: Predicted) -> float:
    """Return LightGBM's auc: any label above 0 is a yes; 1 if there is one class only."""
    return _known(roc_auc(thresholds(given.vector, given.positive, given.truth.weight)))


def binary_average_precision(given: Predicted) -> float:
    """Return LightGBM's average_precision, by the same rules."""
    return _known(average_precision(thresholds(given.vector, given.positive, given.truth.weight)))


def _known(area: float) -> float:
    return 1.0 if math.isnan(area) else area


def mean_ndcg(given: Predicted, k: int, gains: tuple[float, ...] | None, empty: float) -> float:
    """Return the mean NDCG of the first k rows over the groups.

    ``gains`` is a table by label, None for the label itself; ``empty`` is the value of a group without
    any gain.
    """
    truth, queries = given.truth, given.truth.queries
    gain = truth.once(("gain", gains), lambda: _gain(truth.y, gains))
    best = truth.once("best order", lambda: queries.order(truth.y))
    ideal = truth.once(("ideal", gains, k), lambda: dcg(queries, gain, best, k))
    reached = dcg(queries, gain, given.order, k)
    return given.group_mean(np.where(ideal > 0, reached / ideal, empty))


def _gain(y: np.ndarray, gains: tuple[float, ...] | None) -> np.ndarray:
    if y.min() < 0:
        raise DataError(f"labels to rank by must not be negative, got {y.min():g}")
    if gains is None:
        return y
    if y.max() >= len(gains) or (y != np.floor(y)).any():
        raise DataError(
            f"labels to rank by must be whole numbers from 0 to {len(gains) - 1}, got up to "
            f"{y.max():g}: a gain is needed for each (LightGBM takes a list, label_gain; in XGBoost "
            "ndcg_exp_gain=False takes the labels themselves)"
        )
    return np.array(gains)[y.astype(np.intp)]


def mean_average_precision(given: Predicted, k: int, empty: float, binary: bool) -> float:
    """Return the mean average precision of the first k rows over the groups.

    Labels above 1/2 are relevant; ``binary`` refuses labels that are not 0 or 1.
    """
    if binary:
        _check_binary(given.truth)
    queries = given.truth.queries
    relevant = given.truth.once("relevant", lambda: given.y > 0.5)
    many = given.truth.once("relevant rows", lambda: queries.sum(relevant))
    precision = precisions_at_hits(queries, relevant, given.order, k) / np.minimum(many, k)
    return given.group_mean(np.where(many > 0, precision, empty))


def precision_at(given: Predicted, k: int) -> float:
    """Return the mean share of relevant rows among the first k over the groups."""
    _check_binary(given.truth)
    return given.group_mean(precisions_at(given.truth.queries, given.y, given.order, k))


def _check_binary(truth: EvaluationSet) -> None:
    if not truth.once("binary", lambda: ((truth.y == 0) | (truth.y == 1)).all()):
        raise DataError("precision in lists needs labels of 0 and 1: use ndcg for grades")
