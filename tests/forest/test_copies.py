"""Copies of rows with gaps, one per class: the textbook's votes and values, in words and from a terminal."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import arboretum
from arboretum import CARTClassifier, ParameterError, ProximityImputer, RandomForestClassifier
from arboretum.textbook import first_guess


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = np.array(["setosa", "versicolor", "virginica"])[y]
    forest = RandomForestClassifier(30, keep_leaves=True, random_state=0).fit(X, y)
    holes = X.mask(np.random.default_rng(0).random(X.shape) < 0.3)
    return X, y, forest, holes


def test_the_copy_with_most_votes_for_itself_wins(iris):
    X, y, forest, holes = iris
    copies = forest.predict_copies(holes)
    assert copies.votes.shape == (150, 3, 3)
    assert np.all(copies.votes.sum(axis=2) == 30)
    for c, table in enumerate(copies.filled):
        assert list(table.columns) == list(X.columns)
        assert not table.isna().any().any()
        there = holes.notna().to_numpy()
        assert np.array_equal(table.to_numpy()[there], holes.to_numpy()[there])
        again = forest.predict_votes(table)
        assert np.array_equal(again, copies.votes[:, c])
    best = copies.own_votes.argmax(axis=1)
    assert np.array_equal(copies.prediction, copies.classes[best])
    assert np.array_equal(copies.prediction, forest.predict(holes, missing="per_class"))
    assert np.mean(copies.prediction == y) > 0.85
    whole = forest.predict_copies(X[:4])
    assert np.array_equal(whole.votes[:, 0], forest.predict_votes(X[:4]))


def test_words_are_filled_with_words():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "c": rng.choice(["p", "q"], 80)})
    y = np.where((X["a"] > 0) | (X["c"] == "p"), "yes", "no")
    forest = RandomForestClassifier(20, keep_leaves=True, random_state=0).fit(X, y)
    copies = forest.predict_copies(pd.DataFrame({"a": [-1.0], "c": [None]}))
    assert [table["c"][0] for table in copies.filled] == ["q", "p"]  # as if no, as if yes


def test_on_the_command_line(iris, tmp_path):
    from typer.testing import CliRunner

    from arboretum.cli.app import app

    _, _, forest, holes = iris
    forest.save(tmp_path / "forest")
    holes.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "answers.csv"
    ask = ["predict", str(tmp_path / "forest"), str(tmp_path / "rows.csv"), "-o", str(out)]
    assert CliRunner().invoke(app, [*ask, "--missing", "per-class"]).exit_code == 0
    answers = pd.read_csv(out)
    copies = arboretum.load(tmp_path / "forest").predict_copies(holes)
    assert answers["prediction"].tolist() == copies.prediction.tolist()
    names = ["votes_setosa", "votes_versicolor", "votes_virginica"]
    assert np.array_equal(answers[names].to_numpy(), copies.own_votes)
    for more in (["--missing", "median"], ["--missing", "per-class", "--proba"]):
        assert CliRunner().invoke(app, [*ask, *more]).exit_code != 0
    CARTClassifier(max_depth=2).fit(holes, iris[1]).save(tmp_path / "forest")
    assert CliRunner().invoke(app, [*ask, "--missing", "per-class"]).exit_code != 0


def test_the_first_guess_may_be_a_mean(iris):
    _X, y, _, holes = iris
    codes = np.unique(y, return_inverse=True)[1]
    found = {}
    for initial in ("median", "mean"):
        imputer = ProximityImputer(20, initial=initial, max_iter=1, random_state=0)
        with pytest.warns(ConvergenceWarning):
            found[initial] = imputer.fit_transform(holes, y).to_numpy()
        book = first_guess(holes.to_numpy(), codes, center=initial)
        from arboretum.forest.filling import first_guess as engine

        numeric = np.ones(4, bool)
        assert_allclose(engine(holes.to_numpy(), numeric, holes.to_numpy(), codes, initial), book)
    assert not np.allclose(found["median"], found["mean"])
    with pytest.raises(ParameterError, match="'initial' parameter of ProximityImputer"):
        ProximityImputer(initial="mode").fit(holes, y)


def test_the_geometry_of_a_forest_is_at_the_top(iris):
    import matplotlib as mpl

    mpl.use("Agg")
    X, y, forest, _ = iris
    P = arboretum.proximity(forest, X)
    assert arboretum.mds(P).coordinates.shape == (150, 2)
    assert len(arboretum.outlier_scores(P, y)) == 150
    assert arboretum.prototypes(forest, P, X, y)
    one, other = arboretum.plot_proximity(forest, X, y), arboretum.plot_proximity(P, y)
    assert np.array_equal(one.get_images()[0].get_array(), other.get_images()[0].get_array())
    with pytest.raises(arboretum.DataError, match="needs the rows to draw"):
        arboretum.plot_proximity(forest)
