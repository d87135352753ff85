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
        assert names[-1 if name.startswith(("XGB", "LGBM")) else 0] == "a"
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


@pytest.fixture(scope="module")
def boosters():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    X["e"] = 0.0  # no splits
    y = 3 * X["a"] + 2 * X["b"] + X["c"] + 0.1 * X["d"]
    small = {"n_estimators": 5, "max_depth": 3}
    return (
        arboretum.XGBRegressor(**small).fit(X, y),
        arboretum.LGBMRegressor(**small, verbose=-1, min_child_samples=5).fit(X, y),
    )


@pytest.mark.parametrize("importance_type", ["auto", "weight", "gain", "total_cover"])
def test_a_booster_of_xgboost_is_drawn_as_there(boosters, importance_type):
    model, _ = boosters
    kind = "weight" if importance_type == "auto" else importance_type
    scores = model.get_booster().get_score(importance_type=kind)
    for given in (model, model.get_booster()):
        ax = plot_importance(given, importance_type=importance_type)
        assert [ax.get_title(), ax.get_xlabel(), ax.get_ylabel()] == [
            "Feature importance", "Importance score", "Features"
        ]  # fmt: skip
        widths = [bar.get_width() for bar in ax.patches]
        assert dict(zip(labels(ax), widths)) == pytest.approx(scores)
        assert widths == sorted(widths)
        assert "e" not in labels(ax)
        assert ax.get_xlim() == (0, pytest.approx(1.1 * widths[-1]))
        assert ax.get_ylim() == (-1, len(widths))
        assert [text.get_text() for text in ax.texts] == [str(width) for width in widths]
    assert labels(plot_importance(booster=scores)) == labels(ax)


def test_a_booster_of_lightgbm_is_drawn_as_there(boosters):
    _, model = boosters
    booster = model.booster_
    for given in (model, booster):
        ax = plot_importance(given)
        assert ax.get_xlabel() == "Feature importance"
        assert sorted(bar.get_width() for bar in ax.patches) == sorted(
            one for one in booster.feature_importance() if one
        )
    gain = plot_importance(model, importance_type="gain", xlabel="by @importance_type@")
    assert gain.get_xlabel() == "by gain"
    largest = booster.feature_importance("gain").max()
    assert gain.texts[-1].get_text() == f"{largest:.3f}"
    exact = plot_importance(model, importance_type="gain", precision=None)
    assert exact.texts[-1].get_text() == str(largest)
    own = model.set_params(importance_type="gain")
    assert plot_importance(own).patches[-1].get_width() == largest
    model.set_params(importance_type="split")
    assert "e" not in labels(plot_importance(model))
    assert set(labels(plot_importance(model, ignore_zero=False))) == set("abcde")


def test_looks_are_for_every_model(boosters):
    forest = small("RandomForestRegressor")
    for model in (*boosters, forest):
        ax = plot_importance(
            model, max_num_features=2, height=0.5, xlim=(0, 7), ylim=(-2, 3), title="t", xlabel="x",
            ylabel=None, grid=False, show_values=True, values_format="{v:.1f}!", color="r",
            figsize=(3, 4), dpi=50,
        )  # fmt: skip
        assert (ax.get_title(), ax.get_xlabel(), ax.get_ylabel()) == ("t", "x", "")
        assert (ax.get_xlim(), ax.get_ylim()) == ((0, 7), (-2, 3))
        assert [bar.get_height() for bar in ax.patches] == [0.5, 0.5]
        assert all(bar.get_facecolor() == (1, 0, 0, 1) for bar in ax.patches)
        assert not any(line.get_visible() for line in ax.get_xgridlines())
        assert ax.texts[0].get_text().endswith("!")
        assert ax.figure.get_size_inches().tolist() == [3, 4]
        assert ax.figure.dpi == 50
    assert not plot_importance(boosters[0], show_values=False).texts
    used = np.count_nonzero(boosters[1].feature_importances_)
    assert len(plot_importance(boosters[1], max_num_features=0).patches) == used
    assert plot_importance(forest, importance_type="split").get_xlabel() == "splits on the column"
    _, ax = plt.subplots()
    assert plot_importance(forest, ax) is ax


def test_a_file_of_names(boosters, tmp_path):
    (tmp_path / "map.txt").write_text("".join(f"{f} col{f} q\n" for f in range(5)))
    ax = plot_importance(boosters[0], fmap=tmp_path / "map.txt", ignore_zero=False)
    assert set(labels(ax)) == {f"col{f}" for f in range(5)}
    assert set(labels(plot_importance(boosters[0], fmap=""))) <= set("abcde")


def test_what_cannot_be_drawn_of_a_booster(boosters):
    model = arboretum.LGBMRegressor(n_estimators=1, verbose=-1).fit(
        np.zeros((30, 2)), np.arange(30)
    )
    with pytest.raises(ParameterError, match="No non-zero feature importances found"):
        plot_importance(model)
    with pytest.raises(ParameterError, match="results in empty"):
        plot_importance({})
    for name in ("xlim", "ylim", "figsize"):
        with pytest.raises(TypeError, match=f"{name} must be a tuple of 2 elements."):
            plot_importance(boosters[1], **{name: "not a tuple"})
    with pytest.raises(ParameterError, match="choice for models"):
        plot_importance(worth([1.0]), importance_type="gain")
