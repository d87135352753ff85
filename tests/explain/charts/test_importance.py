"""plot_importance: bars in order, whiskers, names that are long or odd, and bad input."""

import sys
from types import SimpleNamespace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import arboretum
from arboretum.errors import ParameterError
from arboretum.explain.charts.importance import plot_importance
from arboretum.forest.importance import Importance

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def worth(mean, error=0.1, names=None):
    """Return two measurements with this mean and standard error; one if there is no error."""
    names = tuple(f"x{f}" for f in range(len(mean))) if names is None else names
    mean = np.array(mean)
    twice = np.array([mean]) if np.isnan(error) else np.array([mean - error, mean + error])
    return Importance(twice, names, "increase of something")


def labels(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_bars_fall_from_top_to_bottom():
    ax = plot_importance(worth([0.1, 0.7, -0.2, 0.3]))
    ax.figure.canvas.draw()
    assert labels(ax) == ["x1", "x3", "x0", "x2"]
    assert [bar.get_width() for bar in ax.patches] == [0.7, 0.3, 0.1, -0.2]
    assert ax.patches[0].get_facecolor() != ax.patches[3].get_facecolor()
    assert ax.yaxis_inverted()
    assert ax.get_xlabel() == "increase of something"
    (whiskers,) = (c for c in ax.collections if len(c.get_segments()) == 4)
    assert np.allclose(whiskers.get_segments()[0][:, 0], [0.6, 0.8])


def test_only_the_top_and_how_many_are_left_out():
    ax = plot_importance(worth([3.0, 1.0, 2.0]), top=2)
    assert labels(ax) == ["x0", "x2"]
    assert ax.get_title(loc="right") == "1 less important column not shown"
    assert plot_importance(worth(np.ones(30)), top=None).get_title(loc="right") == ""
    assert len(plot_importance(worth(np.ones(30))).patches) == 20


def test_the_figure_grows_with_the_bars_and_given_axes_are_used():
    small, large = plot_importance(worth([1.0])), plot_importance(worth(np.ones(40)), top=None)
    assert large.figure.get_figheight() > 4 * small.figure.get_figheight()
    _, ax = plt.subplots()
    assert plot_importance(worth([1.0]), ax=ax) is ax


def test_odd_names_and_no_standard_error():
    names = ("cost in $ of $x_", "word " * 20, "line\nbreak")
    ax = plot_importance(worth([3.0, 2.0, 1.0], np.nan, names))
    ax.figure.canvas.draw()
    assert labels(ax)[0] == names[0]
    assert len(labels(ax)[1]) == 32
    assert labels(ax)[2] == "line break"


@pytest.mark.parametrize("top", [0, -1, 2.5, "all", True])
def test_bad_top(top):
    with pytest.raises(ParameterError, match="top of plot_importance must be an int ≥ 1 or None"):
        plot_importance(worth([1.0]), top=top)


@pytest.mark.parametrize("thing", [None, [0.1, 0.2], SimpleNamespace(mean=[1.0])])
def test_not_an_importance(thing):
    with pytest.raises(ParameterError, match=r"draws a fitted estimator or the result"):
        plot_importance(thing)


def test_missing_matplotlib(monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(
        ImportError, match=r"plot_importance .* pip install arboretum-trees\[plot\]"
    ):
        plot_importance(worth([1.0]))


def small(name):
    """A fitted model of this name, on a table of which the first column matters."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(80, 3)), columns=["a", "b", "c"])
    y = np.array(X["a"] > 0, dtype=int)
    y[::9] = 1 - y[::9]
    model = getattr(arboretum, name)()
    known = model.get_params()
    wanted = {"n_estimators": 5, "discretize": "mdl", "random_state": 0}
    model.set_params(**{k: v for k, v in wanted.items() if k in known})
    if name.endswith("Ranker"):
        return model.fit(X, y, group=[40, 40])
    return model.fit(X, y)


@pytest.mark.parametrize("name", sorted(set(arboretum.ESTIMATORS) - {"ProximityImputer"}))
def test_every_model_can_be_drawn(name):
    ax = plot_importance(small(name))
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert set(names) == {"a", "b", "c"}
    # coordinate boosting learns the noise by heart, random cuts have no target
    if name not in ("CoordinateBoostingClassifier", "IsolationForest", "RandomTreesEmbedding"):
        assert names[0] == "a"
    assert ax.get_xlabel()


def test_the_result_of_scikit_learn():
    from sklearn.inspection import permutation_importance as shuffled

    model = small("CARTClassifier")
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=["a", "b", "c"])
    result = shuffled(model, X, model.predict(X), n_repeats=3, random_state=0)
    assert plot_importance(result).get_yticklabels()[0].get_text() == "x0"
    assert plot_importance(result, names=["a", "b", "c"]).get_yticklabels()[0].get_text() == "a"
    with pytest.raises(ParameterError, match="2 names for 3 columns"):
        plot_importance(result, names=["a", "b"])


def test_a_model_that_knows_no_importance():
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match=r"sklearn.inspection.permutation_importance"):
        plot_importance(model)
    with pytest.raises(NotFittedError):
        plot_importance(arboretum.CARTClassifier())
