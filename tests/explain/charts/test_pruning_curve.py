"""plot_pruning_curve: the curve, its band, the choice, and odd alphas."""

import sys

import matplotlib
import numpy as np
import pytest

from arboretum import CARTClassifier
from arboretum.errors import ParameterError
from arboretum.explain import plot_pruning_curve
from arboretum.structure.pruning_cv import PruningCurve

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def curve(alpha, error, best, rule="min"):
    n = len(alpha)
    return PruningCurve(
        alpha=np.array(alpha),
        n_leaves=np.arange(n, 0, -1),
        mean_score=np.array(error),
        std_error=np.full(n, 0.02),
        best=best,
        rule=rule,
        path=None,
    )


FULL = curve([0.0, 0.001, 0.01, 0.1, np.inf], [0.10, 0.09, 0.08, 0.09, 0.4], best=3, rule="1se")


def line(ax, label):
    return next(x for x in ax.lines if x.get_label().startswith(label))


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_curve_band_and_choice():
    ax = plot_pruning_curve(FULL)
    ax.figure.canvas.draw()
    x, y = line(ax, "error").get_data()
    assert np.array_equal(y, FULL.mean_score)
    assert np.array_equal(x[1:4], FULL.alpha[1:4])
    assert 0 < x[0] < 0.001  # zero and infinity have a place beyond their neighbours
    assert 0.1 < x[4] < np.inf
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx(0.42)
    chosen = line(ax, "chosen")
    assert (chosen.get_xdata()[0], chosen.get_ydata()[0]) == (0.1, 0.09)
    assert "chosen: α = 0.1, 2 leaves" in legend(ax)
    assert line(ax, "lowest error + 1 SE").get_ydata()[0] == pytest.approx(0.10)
    assert "lowest error" in legend(ax)
    assert ax.get_xticklabels()[0].get_text() == "0"
    (top,) = ax.child_axes
    assert [t.get_text() for t in top.get_xticklabels()] == ["5", "4", "3", "2", "1"]


def test_minimum_rule_needs_no_limit_line():
    ax = plot_pruning_curve(curve([0.001, 0.01, 0.1], [0.3, 0.2, 0.4], best=1))
    assert not any("lowest" in text for text in legend(ax))
    assert ax.get_xscale() == "log"
    assert "0" not in [t.get_text() for t in ax.get_xticklabels()]


@pytest.mark.parametrize("alpha", [[0.0], [0.5], [0.0, np.inf], [0.02, 0.021]])
def test_short_paths(alpha):
    _, ax = plt.subplots()
    assert plot_pruning_curve(curve(alpha, [0.5] * len(alpha), best=0), ax=ax) is ax
    ax.figure.canvas.draw()
    assert np.isfinite(line(ax, "error").get_xdata()).all()


def test_leaf_ticks_do_not_crowd():
    n = 300
    ax = plot_pruning_curve(curve(np.geomspace(1e-6, 1, n), np.linspace(0.1, 0.5, n), best=0))
    (top,) = ax.child_axes
    assert len(top.get_xticks()) <= 13


def test_without_prune_cv():
    with pytest.raises(
        ParameterError, match=r"DecisionTreeClassifier has no pruning_curve_: call .*prune_cv"
    ):
        plot_pruning_curve(CARTClassifier().fit([[0], [1]], [0, 1]))


def test_missing_matplotlib(monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ImportError, match=r"plot_pruning_curve .* pip install arboretum-trees\[plot\]"
    ):
        plot_pruning_curve(FULL)
