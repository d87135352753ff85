"""Histograms of the thresholds of a column."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from arboretum import LGBMRegressor, RandomForestRegressor, plot_split_value_histogram
from arboretum.errors import ParameterError

matplotlib.use("Agg")
import matplotlib.pyplot as plt

RNG = np.random.default_rng(0)
X = pd.DataFrame(
    {"a": RNG.normal(size=200), "b": 0.0, "c": pd.Categorical(RNG.choice(list("xyz"), 200))}
)
Y = X["a"] ** 2 + X["c"].cat.codes


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def model():
    return LGBMRegressor(n_estimators=10, verbose=-1).fit(X, Y)


def test_bars_count_the_thresholds(model):
    cuts = np.concatenate([t.threshold[(t.feature == 0) & ~t.is_leaf] for t in model.trees_])
    for given, feature in ((model, "a"), (model.booster_, 0)):
        ax = plot_split_value_histogram(given, feature)
        assert len(ax.patches) == len(np.unique(cuts))
        assert sum(bar.get_height() for bar in ax.patches) == len(cuts)
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("Feature split value", "Count")
    assert ax.get_title() == "Split value histogram for feature with index 0"
    counts, edges = np.histogram(cuts, 5)
    ax = plot_split_value_histogram(
        model, "a", bins=5, title="@feature@ by @index/name@", width_coef=1
    )
    assert [bar.get_height() for bar in ax.patches] == counts.tolist()
    assert np.allclose([bar.get_x() for bar in ax.patches], edges[:-1])
    assert ax.get_title() == "a by name"
    assert len(plot_split_value_histogram(model, 0, bins="sqrt").patches) == int(
        np.ceil(len(cuts) ** 0.5)
    )
    assert plot_split_value_histogram(RandomForestRegressor(2).fit(X, Y), "a").patches


def test_looks(model):
    ax = plot_split_value_histogram(
        model, "a", xlim=(0, 9), ylim=(0, 8), title=None, xlabel="x", ylabel=None, grid=False,
        figsize=(3, 2), dpi=40, color="r",
    )  # fmt: skip
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 9), (0, 8))
    assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("", "x", "")
    assert ax.patches[0].get_facecolor() == (1, 0, 0, 1)
    assert ax.figure.get_size_inches().tolist() == [3, 2]
    assert ax.figure.dpi == 40
    assert not any(line.get_visible() for line in ax.get_xgridlines())
    assert plot_split_value_histogram(model, "a", ax=ax) is ax


@pytest.mark.parametrize(
    ("feature", "words"),
    [
        ("b", "Cannot plot split value histogram, because feature b was not used in splitting"),
        ("c", "a category"),
        ("aa", "did you mean 'a'"),
        (3, "an index from 0 to 2"),
    ],
)
def test_columns_without_thresholds(model, feature, words):
    with pytest.raises(ParameterError, match=words):
        plot_split_value_histogram(model, feature)
