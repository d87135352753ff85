"""Tables of everything that boosts, of its bins, sketches, bounds and messages; see tables.py.

>>> from arboretum.textbook.small_tables import drug_dosage
>>> from arboretum.textbook.xgboost import boost_xgb
>>> doses = drug_dosage()
>>> model = boost_xgb(doses.X, doses.y, n_rounds=2)
>>> print(table(model.rounds[0].trees[0].candidates))
question   missing   G left  H left  G right  H right  similarity left  similarity right     gain  admissible
x0 < 15    left      9.5000  1.0000  -9.5000   3.0000          45.1250           22.5625  67.6875        True
x0 < 22.5  left      2.0000  2.0000  -2.0000   2.0000           1.3333            1.3333   2.6667        True
x0 < 30    left     -6.5000  3.0000   6.5000   1.0000          10.5625           21.1250  31.6875        True
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from arboretum.textbook.adaboost import AdaRound, TextbookAdaBoost
from arboretum.textbook.adaboost_regression import R2Round, TextbookR2
from arboretum.textbook.adaboost_theory import GeneralisationTerms, MarginRow, TheoryRow
from arboretum.textbook.common_trees import CommonRound
from arboretum.textbook.coordinate_boosting import Coordinates, CoordinateStep
from arboretum.textbook.gbm import GBMLeaf, GBMRound, GBMTree, TextbookGBM
from arboretum.textbook.gradient_scan import (
    GradientCandidate,
    GradientNode,
    GradientScan,
    ManyCuts,
)
from arboretum.textbook.lightgbm import LGBMNode
from arboretum.textbook.lightgbm_bins import BinnedTable, ColumnBins
from arboretum.textbook.lightgbm_boosting import BundledTable, LGBMRound, TextbookLGBM
from arboretum.textbook.lightgbm_bounds import EFBExperiment, GossBound, GossExperiment
from arboretum.textbook.lightgbm_sampling import Bundle, GossSample
from arboretum.textbook.lightgbm_splits import LGBMCandidate
from arboretum.textbook.parallel import Message, ParallelGrowth, VotingExperiment
from arboretum.textbook.quantile_sketch import QuantileSummary
from arboretum.textbook.stagewise_modelling import Stage, Stages
from arboretum.textbook.symmetric import LevelCut, LevelScan, SymmetricTree
from arboretum.textbook.system_design import ColumnBlocks, LevelGrowth, Operations, SortingTime
from arboretum.textbook.tables import LINES, Table, numbers, path_text, table
from arboretum.textbook.taylor import TaylorStep
from arboretum.textbook.xgboost import TextbookXGB, XGBNode, XGBRound
from arboretum.textbook.xgboost_approximate import ApproximateTree
from arboretum.textbook.xgboost_splits import XGBCandidate

__all__: list[str] = []


def _columns(**figures: Iterable[Any]) -> Table:
    """Return a table with a row number and a column for every list of figures."""
    names = tuple(name.replace("_", " ") for name in figures)
    lines = zip(*(np.asarray(values).tolist() for values in figures.values()))
    return Table(("row", *names), tuple((i, *line) for i, line in enumerate(lines)))


def _per_class(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    if values.ndim == 1 or values.shape[1] == 1:
        return {name: values.reshape(len(values))}
    return {f"{name} {k}": column for k, column in enumerate(values.T)}


# ---------------------------------------------------------------------- AdaBoost
@table.register
def _(model: TextbookAdaBoost) -> Table:
    return table(list(model.rounds))


@table.register
def _(r: AdaRound) -> Table:
    return _columns(weight=r.w, wrong=r.wrong, next_weight=r.next_w)


@table.register
def _(model: TextbookR2) -> Table:
    return table(list(model.rounds))


@table.register
def _(r: R2Round) -> Table:
    return _columns(weight=r.w, loss=r.losses, next_weight=r.next_w)


@table.register
def _(descent: Coordinates) -> Table:
    return table(list(descent.steps))


# ---------------------------------------------------------------------- Friedman's boosting
@table.register
def _(model: TextbookGBM) -> Table:
    return table(list(model.rounds))


@table.register
def _(r: GBMRound) -> Table:
    residuals = np.column_stack([tree.residuals for tree in r.trees])
    return _columns(in_bag=r.in_bag, **_per_class("residual", residuals), **_per_class("F", r.F))


@table.register
def _(tree: GBMTree) -> Table:
    return table(list(tree.leaves))


@table.register
def _(model: Stages) -> Table:
    return table(list(model.rounds))


@table.register
def _(stage: Stage) -> Table:
    return _columns(**_per_class("f", stage.f))


# ---------------------------------------------------------------------- XGBoost
@table.register
def _(model: TextbookXGB) -> Table:
    return table(list(model.rounds))


@table.register
def _(r: XGBRound) -> Table:
    return _columns(**_per_class("g", r.g), **_per_class("h", r.h), **_per_class("F", r.scores))


@table.register
def _(r: CommonRound) -> Table:
    return _columns(g=r.g, h=r.h, **_per_class("F", r.F))


@table.register
def _(tree: XGBNode) -> Table:
    rows = []
    for node in tree:
        split, gain = node.stop or "leaf", None
        if node.left is not None and node.chosen is not None:
            split, gain = node.chosen.question, node.chosen.gain
        figures = (len(node.rows), node.G, node.H, node.similarity, gain, node.value)
        rows.append((path_text(node.path), split, *figures))
    columns = ("node", "question", "rows", "G", "cover H", "similarity", "gain", "value")
    return Table(columns, tuple(rows))


@table.register
def _(tree: ApproximateTree) -> Table:
    rows = tuple(
        (path_text(path), f"x{f}", len(cuts), numbers(cuts))
        for path, columns in tree.proposals.items()
        for f, cuts in enumerate(columns)
    )
    return Table(("node", "column", "cuts", "proposed"), rows)


@table.register
def _(summary: QuantileSummary) -> Table:
    parts = (summary.values, summary.rmin, summary.rmax, summary.weight)
    rows = tuple(zip(*(part.tolist() for part in parts)))
    return Table(("value", "rmin", "rmax", "weight"), rows)


@table.register
def _(blocks: ColumnBlocks) -> Table:
    rows = tuple(
        (f"x{f}", value, row)
        for f in range(blocks.n_columns)
        for value, row in zip(*(part.tolist() for part in blocks.column(f)))
    )
    return Table(("column", "value", "row"), rows)


@table.register
def _(growth: LevelGrowth) -> Table:
    rows = tuple(
        (path_text(path), split.question, split.gain) for path, split in growth.splits.items()
    )
    return Table(("node", "question", "gain"), rows)


# ---------------------------------------------------------------------- LightGBM
def _question(c: LGBMCandidate) -> str:
    if c.kind == "number":
        return f"x{c.feature} <= {c.cut:.6g}"
    return f"x{c.feature} in {{{', '.join(f'{v:.6g}' for v in sorted(c.categories))}}}"


@table.register
def _(model: TextbookLGBM) -> Table:
    return table(list(model.rounds))


@table.register
def _(r: LGBMRound) -> Table:
    return _columns(**_per_class("g", r.g), **_per_class("h", r.h), **_per_class("F", r.scores))


@table.register
def _(tree: LGBMNode) -> Table:
    rows = []
    for node in tree:
        split, gain, order = node.stop or "leaf", None, None
        if node.left is not None and node.chosen is not None:
            split, gain, order = _question(node.chosen), node.chosen.gain, node.order
        G, H, n = node.sums.tolist()
        figures = (int(n), G, H, node.source, gain, node.output)
        rows.append((path_text(node.path), order, split, *figures))
    columns = ("node", "split as", "question", "rows", "G", "H", "histogram", "gain", "output")
    return Table(columns, tuple(rows))


@table.register
def _(bins: ColumnBins) -> Table:
    if bins.categories is not None:
        return Table(("bin", "category"), tuple(enumerate(bins.categories.tolist())))
    return Table(("bin", "up to"), tuple(enumerate([*bins.cuts.tolist(), np.inf])))


@table.register
def _(binned: BinnedTable) -> Table:
    rows = tuple(
        (f"x{f}", "numbers" if b.categories is None else "categories", b.n_bins, numbers(b.cuts))
        for f, b in enumerate(binned.bins)
    )
    return Table(("column", "kind", "bins", "cuts"), rows)


@table.register
def _(bundled: BundledTable) -> Table:
    rows = tuple(
        (", ".join(f"x{bundled.columns[j]}" for j in b.features), b.n_bins, b.conflicts)
        for b in bundled.bundles
    )
    return Table(("columns", "bins", "conflicts"), rows)


@table.register
def _(sample: GossSample) -> Table:
    lines = zip(sample.rows.tolist(), sample.score[sample.rows].tolist(), sample.factor.tolist())
    return Table(("row", "|g·h|", "factor"), tuple(lines))


@table.register
def _(found: GossExperiment) -> Table:
    lines = enumerate(found.errors.tolist())
    return Table(("draw", "error", "bound"), tuple((*line, found.bound.bound) for line in lines))


@table.register
def _(growth: ParallelGrowth) -> Table:
    return table(list(growth.messages))


# ---------------------------------------------------------------------- gradient scans
@table.register
def _(scan: GradientScan) -> Table:
    rows = zip(*scan.left.T.tolist(), scan.gain.tolist(), scan.allowed.tolist())
    columns = ("split", "G left", "H left", "rows left", "gain", "allowed")
    return Table(columns, tuple((i, *row) for i, row in enumerate(rows)))


@table.register
def _(scan: LevelScan) -> Table:
    sides = range(len(scan.scans))
    rows = tuple(
        (*_cut_or_set(cut, categories), ("right", "left")[side], gain)
        for side in sides
        for (cut, categories), gain in zip(scan.cuts, scan.gains(side).sum(axis=0).tolist())
    )
    return Table(("cut", "categories", "missing", "gain"), rows)


@table.register
def _(tree: SymmetricTree) -> Table:
    return table([level.chosen for level in tree.levels])


def _cut_or_set(cut: float, categories: frozenset[int] | None) -> tuple[float | None, str | None]:
    """Return the cut of a number, or the categories that go left."""
    return (cut, None) if categories is None else (None, numbers(sorted(categories)))


@table.register
def _(cuts: ManyCuts) -> Table:
    parts = (cuts.column, cuts.bin, cuts.missing_left, cuts.scan.gain)
    rows = tuple(zip(*(np.asarray(part).tolist() for part in parts)))
    return Table(("column", "last bin on the left", "missing left", "gain"), rows)


# ---------------------------------------------------------------------- a line for each
LINES |= {
    AdaRound: (("round", "error", "say", "Z"), lambda r: (r.number, r.error, r.say, r.Z)),
    R2Round: (
        ("round", "error", "β", "say", "Z"), lambda r: (r.number, r.error, r.beta, r.say, r.Z)
    ),
    TheoryRow: (
        ("round", "error", "edge", "say", "Z", "train error", "product Z", "exp(-2Σγ²)",
         "least margin"),
        lambda r: (
            r.number, r.error, r.edge, r.say, r.Z, r.train_error, r.product, r.exponential,
            r.least_margin,
        ),
    ),
    MarginRow: (("θ", "share", "bound"), lambda r: (r.theta, r.share, r.bound)),
    GeneralisationTerms: (
        ("margin share", "complexity", "confidence", "bound"),
        lambda t: (t.margin_share, t.complexity, t.confidence, t.bound),
    ),
    CoordinateStep: (
        ("step", "classifier", "error", "change", "λ", "loss", "steepest edge"),
        lambda s: (s.number, s.j, s.error, s.delta, s.coefficient, s.loss, s.steepest),
    ),
    GBMRound: (
        ("round", "leaves", "η", "train score", "out-of-bag score"),
        lambda r: (
            r.number, sum(len(tree.leaves) for tree in r.trees), r.eta, r.train_score, r.oob_score
        ),
    ),
    GBMLeaf: (
        ("leaf", "rows", "mean residual", "step"),
        lambda f: (path_text(f.path), len(f.rows), f.mean, f.step),
    ),
    Stage: (("round", "length", "mean loss"), lambda s: (s.number, s.length, s.mean_loss)),
    XGBCandidate: (
        ("question", "missing", "G left", "H left", "G right", "H right", "similarity left",
         "similarity right", "gain", "admissible"),
        lambda c: (
            c.question, c.default, c.G_left, c.H_left, c.G_right, c.H_right, c.similarity_left,
            c.similarity_right, c.gain, c.admissible,
        ),
    ),
    XGBRound: (
        ("trees", "leaves", "Σg", "Σh", "largest |g|"),
        lambda r: (
            len(r.trees), sum(node.left is None for tree in r.trees for node in tree),
            float(r.g.sum()), float(r.h.sum()), float(np.abs(r.g).max()),
        ),
    ),
    Operations: (("sorting", "scanning", "total"), lambda o: (o.sorting, o.scanning, o.total)),
    LGBMCandidate: (
        ("question", "missing", "left G H n", "right G H n", "left output", "right output", "gain",
         "admissible"),
        lambda c: (
            _question(c), c.default, numbers(c.left_sums), numbers(c.right_sums), c.left_output,
            c.right_output, c.gain, c.admissible,
        ),
    ),
    LGBMRound: (
        ("rows", "trees", "leaves", "Σg", "largest |g|"),
        lambda r: (
            len(r.g) if r.sample is None else len(r.sample.rows), len(r.trees),
            sum(node.left is None for tree in r.trees for node in tree), float(r.g.sum()),
            float(np.abs(r.g).max()),
        ),
    ),
    Bundle: (
        ("columns", "offsets", "bins", "conflicts"),
        lambda b: (numbers(b.features), numbers(b.offsets), b.n_bins, b.conflicts),
    ),
    Message: (
        ("node", "what", "bytes"), lambda m: (path_text(m.node), m.what, m.bytes)
    ),
    VotingExperiment: (
        ("rows", "tables", "same tree", "gain", "bytes"),
        lambda v: (v.n_rows, v.n_tables, v.same, v.gain, v.bytes),
    ),
    SortingTime: (
        ("threads", "seconds", "seconds by formula"),
        lambda t: (t.n_threads, t.seconds, t.expected),
    ),
    GossBound: (
        ("left", "right", "C", "D", "sides", "root", "bound"),
        lambda b: (b.n_left, b.n_right, b.C, b.D, b.sides, b.root, b.bound),
    ),
    EFBExperiment: (
        ("rows", "conflict rate", "conflicts", "accuracy", "bundled", "change", "[(1-γ)n]^(-2/3)"),
        lambda e: (
            e.n_rows, e.conflict_rate, e.conflicts, e.accuracy, e.bundled, e.change, e.order
        ),
    ),
    TaylorStep: (
        ("Σr", "Σh", "γ", "loss before", "promised", "loss after"),
        lambda s: (-s.slope, s.curvature, s.gamma, s.before, s.promised, s.after),
    ),
    GradientCandidate: (
        ("column", "cut", "categories", "missing", "G left", "H left", "G right", "H right", "gain",
         "verdict"),
        lambda c: (
            f"x{c.feature}", *_cut_or_set(c.cut, c.categories), c.default, c.G_left, c.H_left, c.G_right,
            c.H_right, c.gain, c.verdict,
        ),
    ),
    LevelCut: (
        ("column", "cut", "categories", "missing", "gain"),
        lambda c: (f"x{c.feature}", *_cut_or_set(c.cut, c.categories), c.default, c.gain),
    ),
    GradientNode: (("G", "H", "rows", "answer"), lambda n: (n.G, n.H, n.n, n.answer)),
}  # fmt: skip
