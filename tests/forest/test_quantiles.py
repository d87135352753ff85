"""Quantiles and intervals: equal to the textbook's on the same trees, lawful, and right by simulation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from arboretum import ExtraTreesRegressor, RandomForestRegressor
from arboretum.data.quantile import weighted_quantile
from arboretum.errors import ParameterError
from arboretum.forest.quantiles import predict_quantiles, prediction_interval
from arboretum.textbook import forest_figures as textbook
from tests.forest.figure_cases import bags, grown, table

Q = [0.0, 0.05, 0.1, 0.3, 0.5, 0.75, 0.9, 1.0]


def weights_of(forest, X):
    """Return the textbook's weights of the training rows for every row of X."""
    new = forest.apply(X).T
    kept = forest._training_rows
    return textbook.leaf_weights(kept.leaves.T, bags(forest) * kept.weight, new)


CASES = {
    "full depth": {},
    "large leaves": {"min_samples_leaf": 20},
    "stumps": {"max_depth": 1},
    "one leaf": {"max_depth": 1, "min_samples_leaf": 0.9},
    "small bags": {"max_samples": 0.3},
    "no bootstrap": {"bootstrap": False, "max_features": 2},
    "pruned": {"ccp_alpha": 0.05},
    "absolute error": {"criterion": "absolute_error", "min_samples_leaf": 5},
}


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weights"])
@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
def test_equals_the_textbook(options, weighted):
    X, y, w = table()
    forest = grown(X, y, w if weighted else None, keep_leaves=True, **options)
    new = np.vstack([X[:30], table(40, seed=1)[0]])
    expected = textbook.quantiles(y, weights_of(forest, new), Q)
    assert_array_equal(predict_quantiles(forest, new, Q), expected)


def test_the_quantile_is_the_one_of_all_models():
    """The kernel takes ranks by buckets, everybody else sorts: the convention is the same."""
    X, y, w = table()
    forest = grown(X, y, w, keep_leaves=True, min_samples_leaf=7)
    for row, weight in zip(X[:20], weights_of(forest, X[:20])):
        expected = [weighted_quantile(y, q, weight) for q in (0.123, 0.456, 0.789)]
        assert_array_equal(predict_quantiles(forest, row[None], [0.123, 0.456, 0.789])[0], expected)


def test_extra_trees_equal_the_textbook():
    X, y, _ = table()
    model = ExtraTreesRegressor(10, random_state=0, min_samples_leaf=4, keep_leaves=True)
    forest = model.fit(X, y)
    assert_array_equal(
        predict_quantiles(forest, X, Q), textbook.quantiles(y, weights_of(forest, X), Q)
    )


def test_many_distinct_targets_use_many_buckets():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 3)), rng.normal(size=3000)
    forest = grown(X, y, keep_leaves=True, min_samples_leaf=50, categorical_features=None)
    assert_array_equal(
        predict_quantiles(forest, X[:50], Q), textbook.quantiles(y, weights_of(forest, X[:50]), Q)
    )


def test_several_outputs_each_have_their_own():
    X, y, w = table(outputs=3)
    forest = grown(X, y, w, keep_leaves=True, min_samples_leaf=5)
    found = predict_quantiles(forest, X, Q)
    assert found.shape == (len(X), 3, len(Q))
    weights = weights_of(forest, X)
    for output in range(3):
        assert_array_equal(found[:, output], textbook.quantiles(y[:, output], weights, Q))
    assert_array_equal(predict_quantiles(forest, X, 0.5), found[:, :, Q.index(0.5)])
    assert prediction_interval(forest, X).shape == (len(X), 3, 2)


# ---------------------------------------------------------------------- laws
@pytest.fixture(scope="module")
def forest():
    X, y, _ = table()
    return grown(X, y, keep_leaves=True, min_samples_leaf=3), X, y


def test_never_falls_as_q_rises_and_is_a_target_that_was_seen(forest):
    forest, X, y = forest
    found = predict_quantiles(forest, X, np.linspace(0, 1, 41))
    assert np.all(np.diff(found, axis=1) >= 0)
    assert np.isin(found, y).all()


def test_order_of_the_list_and_a_single_number(forest):
    forest, X, _ = forest
    both = predict_quantiles(forest, X, [0.9, 0.1])
    assert_array_equal(predict_quantiles(forest, X, (0.1, 0.9)), both[:, ::-1])
    assert_array_equal(predict_quantiles(forest, X, 0.9), both[:, 0])
    assert predict_quantiles(forest, X, np.float32(1)).shape == (len(X),)


def test_interval_is_two_quantiles(forest):
    forest, X, _ = forest
    found = prediction_interval(forest, X, coverage=0.8)
    assert_array_equal(found, predict_quantiles(forest, X, [0.1, 0.9]))


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_matter(n_jobs):
    X, y, _ = table(400, outputs=2)
    one = grown(X, y, keep_leaves=True)
    more = grown(X, y, keep_leaves=True, n_jobs=n_jobs)
    assert_array_equal(predict_quantiles(one, X, Q), predict_quantiles(more, X, Q))


def test_scale_of_weights_is_nothing_and_weight_0_takes_a_target_away():
    X, y, w = table()
    w[y == y.max()] = 0
    forest = grown(X, y, w, keep_leaves=True, min_samples_leaf=5)
    scaled = grown(X, y, 8 * w, keep_leaves=True, min_samples_leaf=5)
    found = predict_quantiles(forest, X, Q)
    assert_array_equal(found, predict_quantiles(scaled, X, Q))
    assert found.max() <= y[w > 0].max() < y.max()


def test_constant_target():
    X, _, _ = table()
    forest = grown(X, np.full(len(X), 7.0), keep_leaves=True)
    assert np.all(predict_quantiles(forest, X, Q) == 7.0)


def test_names_and_new_categories():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"a": [1.0, 2, 3, 4] * 10, "c": ["x", "y", None, "z"] * 10})
    model = RandomForestRegressor(5, random_state=0, keep_leaves=True).fit(X, np.arange(40.0))
    found = predict_quantiles(model, X[["c", "a"]], [0.5])
    assert_array_equal(found, predict_quantiles(model, X, [0.5]))
    with pytest.warns(UserWarning, match="new"):
        odd = predict_quantiles(model, pd.DataFrame({"a": [1.0], "c": ["new"]}), 0.5)
    assert odd.shape == (1,)


# ---------------------------------------------------------------------- truth by simulation
def test_median_and_coverage_of_noise_that_widens():
    rng = np.random.default_rng(0)

    def draw(n):
        x = rng.uniform(size=(n, 1))
        return x, 10 * x[:, 0] + (0.5 + 2 * x[:, 0]) * rng.exponential(size=n)

    X, y = draw(3000)
    forest = RandomForestRegressor(50, min_samples_leaf=40, keep_leaves=True, random_state=0)
    forest.fit(X, y)
    new, truth = draw(3000)
    inside = prediction_interval(forest, new, coverage=0.8)
    share = np.mean((inside[:, 0] <= truth) & (truth <= inside[:, 1]))
    assert 0.77 < share < 0.83
    spread = 0.5 + 2 * new[:, 0]
    median = 10 * new[:, 0] + np.log(2) * spread  # of the exponential, below its mean
    error = predict_quantiles(forest, new, 0.5) - median
    assert np.sqrt(np.mean(error**2)) < 0.4
    assert np.mean(forest.predict(new) - median) > 0.3
    narrow, wide = new[:, 0] < 0.2, new[:, 0] > 0.8
    width = inside[:, 1] - inside[:, 0]
    assert width[wide].mean() > 2 * width[narrow].mean()


def test_the_weights_are_those_of_the_prediction():
    X, y, w = table()
    forest = grown(X, y, w, keep_leaves=True, min_samples_leaf=7)
    assert_allclose(weights_of(forest, X) @ y, forest.predict(X), rtol=1e-12)


# ---------------------------------------------------------------------- bad input
BAD_QUANTILES = [-0.1, 1.01, np.nan, "0.5", None, True, [], [0.5, 2], [[0.5]], ["a"]]


@pytest.mark.parametrize("q", BAD_QUANTILES, ids=repr)
def test_bad_quantiles(forest, q):
    with pytest.raises(ParameterError, match=r"quantiles must be a number in \[0, 1\]"):
        predict_quantiles(forest[0], forest[1], q)


@pytest.mark.parametrize("coverage", [0, 1, -1, np.nan, "0.9", None, [0.9]], ids=repr)
def test_bad_coverage(forest, coverage):
    with pytest.raises(ParameterError, match=r"coverage must be a number in \(0, 1\)"):
        prediction_interval(forest[0], forest[1], coverage)


def test_leaves_that_were_not_kept():
    X, y, _ = table()
    with pytest.raises(ParameterError, match=r"RandomForestRegressor\(keep_leaves=True\)"):
        predict_quantiles(grown(X, y), X, 0.5)


def test_a_classifier_has_no_quantiles():
    X, y, _ = table(classes=2)
    with pytest.raises(ParameterError, match=r"quantiles are of numbers.*predict_proba"):
        predict_quantiles(grown(X, y, classes=True, keep_leaves=True), X, 0.5)


def test_unfitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        predict_quantiles(RandomForestRegressor(keep_leaves=True), [[1.0]], 0.5)
