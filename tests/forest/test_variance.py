"""The variance of predictions: equal to the textbook's and to the formula, and right by simulation."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import arboretum
from arboretum import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from arboretum.base.sampling import Bootstrap
from arboretum.errors import ArboretumError, DataError, ParameterError
from arboretum.forest import variance
from arboretum.forest.variance import prediction_variance
from arboretum.predict.leaf_values import read_leaves
from arboretum.textbook.forest_figures import ij_variance
from tests.forest.figure_cases import bags, grown, said, table

CLOSE = {"rtol": 1e-9, "atol": 1e-12}
CASES = {
    "numbers": {},
    "weights": {"weighted": True},
    "small bags": {"max_samples": 0.4, "min_samples_leaf": 3},
    "outputs": {"outputs": 2},
    "classes": {"classes": 3},
    "balanced": {"classes": 3, "class_weight": "balanced_subsample"},
    "classes, outputs": {"classes": 3, "outputs": 2},
}


def case(outputs=1, classes=0, weighted=False, **options):
    X, y, w = table(outputs=outputs, classes=classes)
    return grown(X, y, w if weighted else None, classes=bool(classes), **options), X


def jackknife(counts, t):
    """Jackknife after bootstrap, row by row as it is written: (trees, rows), (trees, new)."""
    n_trees, n = counts.shape
    total, covered = np.zeros(t.shape[1]), 0
    for i in range(n):
        without = counts[:, i] == 0
        if without.any():
            covered += 1
            total += (t[without].mean(axis=0) - t.mean(axis=0)) ** 2
    chance = (1 - 1 / n) ** counts[0].sum()
    noise = n * (1 / chance - 1) / n_trees**2 * np.sum((t - t.mean(axis=0)) ** 2, axis=0)
    return n / covered * (n - 1) / n * total - noise


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_equals_the_textbook(options):
    forest, X = case(**options)
    counts, answers = bags(forest), said(forest, X)
    flat = answers.reshape(len(answers), -1)
    textbook = {
        "infinitesimal": ij_variance(counts, flat).variance,
        "jackknife": jackknife(counts, flat),
    }
    for method, expected in textbook.items():
        found = prediction_variance(forest, X, method)
        found = np.stack(found, axis=1) if isinstance(found, list) else found
        assert_allclose(found.ravel(), expected, **CLOSE)


def test_shapes_are_those_of_the_prediction():
    forest, X = case()
    assert prediction_variance(forest, X).shape == forest.predict(X).shape
    forest, X = case(classes=3)
    assert prediction_variance(forest, X).shape == forest.predict_proba(X).shape
    forest, X = case(classes=3, outputs=2)
    shapes = [v.shape for v in prediction_variance(forest, X)]
    assert shapes == [p.shape for p in forest.predict_proba(X)]


def test_hard_votes_are_what_is_counted():
    forest, X = case(classes=3, voting="hard", min_samples_leaf=8)
    leaves = forest.apply(X)
    votes = np.array(
        [read_leaves(tree.value, "vote")[leaves[:, t]] for t, tree in enumerate(forest.trees_)]
    )
    for k in range(3):
        expected = ij_variance(bags(forest), votes[:, :, k]).variance
        assert_allclose(prediction_variance(forest, X)[:, k], expected, **CLOSE)


# ---------------------------------------------------------------------- laws
@pytest.mark.parametrize("method", ["infinitesimal", "jackknife"])
def test_threads_and_blocks_do_not_matter(method, monkeypatch):
    X, y, _ = table(300)
    one = prediction_variance(grown(X, y), X, method)
    for n_jobs in (2, 3):
        assert_array_equal(prediction_variance(grown(X, y, n_jobs=n_jobs), X, method), one)
    monkeypatch.setattr(variance, "_BLOCK_VALUES", 100)
    assert_allclose(prediction_variance(grown(X, y), X, method), one, **CLOSE)


def test_scale_and_shift_of_the_target():
    X, y, _ = table()
    found = prediction_variance(grown(X, y), X)
    assert_allclose(prediction_variance(grown(X, 4 * y), X), 16 * found, **CLOSE)
    assert_allclose(prediction_variance(grown(X, y + 1024), X), found, rtol=1e-6, atol=1e-9)


def test_two_classes_vary_alike():
    forest, X = case(classes=2)
    both = prediction_variance(forest, X)
    assert_allclose(both[:, 0], both[:, 1], **CLOSE)


def test_a_constant_does_not_vary():
    X, y, _ = table()
    for method in ("infinitesimal", "jackknife"):
        assert np.all(prediction_variance(grown(X, np.full(len(y), 3.0)), X, method) == 0)


def test_near_the_variance_over_many_training_sets():
    """Draw the training set anew again and again: so much does the prediction really vary."""
    rng = np.random.default_rng(0)
    at, methods = np.array([[0.2], [0.5], [0.8]]), ("infinitesimal", "jackknife")
    answers, told = [], []
    for run in range(60):
        X = rng.uniform(size=(50, 1))
        y = X[:, 0] + rng.normal(size=50) * np.where(X[:, 0] < 0.5, 0.3, 1.0)
        forest = RandomForestRegressor(100, min_samples_leaf=10, random_state=run, n_jobs=1)
        forest.fit(X, y)
        answers.append(forest.predict(at))
        if run < 20:
            told.append([prediction_variance(forest, at, method) for method in methods])
    true = np.var(answers, axis=0, ddof=1)
    for mean in np.mean(told, axis=0):
        assert np.all((mean > 0.5 * true) & (mean < 2 * true))
        assert mean[2] > 3 * mean[0]


def test_a_model_from_a_file_tells_the_same():
    forest, X = case(classes=3)
    file = io.BytesIO()
    forest.save(file)
    file.seek(0)
    assert_array_equal(prediction_variance(arboretum.load(file), X), prediction_variance(forest, X))


# ---------------------------------------------------------------------- bad input
@pytest.mark.parametrize("method", ["ij", None, 1, ["jackknife"]], ids=repr)
def test_bad_method(method):
    forest, X = case()
    with pytest.raises(ParameterError, match="method must be 'infinitesimal' or 'jackknife'"):
        prediction_variance(forest, X, method)


def test_without_bootstrap():
    X, y, _ = table()
    forest = ExtraTreesRegressor(5, random_state=0).fit(X, y)
    with pytest.raises(ParameterError, match="fit it with bootstrap=True"):
        prediction_variance(forest, X)


@pytest.mark.parametrize(
    ("n_trees", "n_rows", "message"),
    [(1, 50, "at least 2 trees.*has 1 and 50"), (5, 1, "has 5 and 1")],
)
def test_too_few_to_vary(n_trees, n_rows, message):
    X = np.arange(float(n_rows))[:, None]
    forest = RandomForestRegressor(n_trees, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ArboretumError, match=message):
        prediction_variance(forest, X)


def test_jackknife_with_every_row_in_every_bag(monkeypatch):
    forest, X = case()
    monkeypatch.setattr(Bootstrap, "counts", lambda self, tree: np.ones(self.n_rows))
    with pytest.raises(DataError, match="nothing can be left out: grow more trees"):
        prediction_variance(forest, X, "jackknife")


def test_unfitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        prediction_variance(RandomForestClassifier(), [[1.0]])
