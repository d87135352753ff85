"""Proximities, and what can be seen in them: against the textbook, and in both forms."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from arboretum import (
    DataError,
    ExtraTreesClassifier,
    ParameterError,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboretum.explain.charts.proximity_map import plot_proximity
from arboretum.forest.proximity import distance, leaf_proximity, proximity, unseen_rows
from arboretum.forest.proximity_geometry import mds, order_rows, outlier_scores, prototypes
from arboretum.textbook import proximities as textbook

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def forest():
    return RandomForestClassifier(30, random_state=1, keep_leaves=True).fit(X, Y)


@pytest.fixture(scope="module")
def bags(forest):
    return np.array([forest._bags.counts(t) for t in range(30)])


# ---------------------------------------------------------------------- against the textbook
def test_all_trees(forest):
    leaves = forest.apply(X)
    np.testing.assert_array_equal(proximity(forest, X), textbook.proximity_of_leaves(leaves.T))
    np.testing.assert_array_equal(proximity(forest), textbook.proximity_of_leaves(leaves.T))


def test_out_of_bag(forest, bags):
    expected = textbook.proximity_of_leaves(forest.apply(X).T, bags)
    np.testing.assert_array_equal(proximity(forest, X, kind="oob"), expected)
    assert ((bags == 0) == unseen_rows(forest).T).all()


def test_new_rows(forest, bags):
    leaves, new = forest.apply(X).T, X[::10] + 0.3
    expected = textbook.proximity_of_leaves(leaves, new=forest.apply(new).T)
    np.testing.assert_array_equal(proximity(forest, new, X), expected)
    expected = textbook.proximity_of_leaves(leaves, bags, forest.apply(new).T)
    np.testing.assert_array_equal(proximity(forest, new, X, kind="oob"), expected)


@pytest.mark.parametrize("kind", ["all", "oob"])
@pytest.mark.parametrize("k", [1, 7, 149, 1000])
def test_the_nearest_are_the_largest_of_the_dense_matrix(forest, kind, k):
    full, found = proximity(forest, X, kind=kind), proximity(forest, X, kind=kind, top_k=k)
    assert found.format == "csr"
    assert found.has_sorted_indices
    np.testing.assert_array_equal(found.diagonal(), 1.0)
    np.fill_diagonal(full, 0.0)
    for i in range(150):
        order = [j for j in np.argsort(-full[i], kind="stable")[:k] if full[i, j] > 0]
        row = found[i].toarray()[0]
        row[i] = 0
        assert set(np.flatnonzero(row)) == set(order)
        np.testing.assert_array_equal(row[order], full[i, order])


def test_nearest_of_new_rows(forest):
    found = proximity(forest, X[:4], X, top_k=3)
    assert found.shape == (4, 150)
    np.testing.assert_array_equal(np.diff(found.indptr), 3)  # a row of Y like any other
    assert found[0].max() == 1.0


def test_threads_do_not_matter(forest):
    leaves = np.random.default_rng(0).integers(0, 40, (900, 20))
    one, four = (leaf_proximity(leaves, top_k=9, n_jobs=jobs) for jobs in (1, 4))
    assert (one != four).nnz == 0
    np.testing.assert_array_equal(
        leaf_proximity(leaves, n_jobs=1), leaf_proximity(leaves, n_jobs=3)
    )


def test_a_large_matrix_is_sparse_by_itself(monkeypatch, forest):
    monkeypatch.setattr("arboretum.forest.proximity._MOST_ENTRIES", 1000)
    with pytest.warns(UserWarning, match="only the 50 nearest of each are kept; set top_k"):
        found = proximity(forest, X)
    assert (found != proximity(forest, X, top_k=50)).nnz == 0


def test_distance(forest):
    P = proximity(forest, X)
    np.testing.assert_array_equal(distance(P), textbook.distance(P))
    near = proximity(forest, X, top_k=5)
    far = distance(near)
    assert far.nnz == near.nnz
    np.testing.assert_array_equal(far.data, 1 - near.data)


def test_regression_and_extra_trees_have_proximities():
    regressor = RandomForestRegressor(10, random_state=0).fit(X[:, :3], X[:, 3])
    assert proximity(regressor, X[:, :3]).min() >= 0
    extra = ExtraTreesClassifier(10, random_state=0).fit(X, Y)
    assert proximity(extra, X)[0, 0] == 1
    with pytest.raises(DataError, match="every tree saw all rows"):
        proximity(extra, X, kind="oob")


# ---------------------------------------------------------------------- what can be seen
def test_map_is_the_textbooks(forest):
    P = proximity(forest, X)
    ours, theirs = mds(P, 3), textbook.mds_of_distances(np.sqrt(textbook.distance(P)), 3)
    np.testing.assert_allclose(ours.coordinates, theirs.coordinates, atol=1e-8)
    assert ours.share == pytest.approx(theirs.share, abs=1e-6)


def test_map_of_all_nearest_is_the_dense_map(forest):
    dense = mds(proximity(forest, X), 2)
    sparse = mds(proximity(forest, X, top_k=149), 2)
    np.testing.assert_allclose(sparse.coordinates, dense.coordinates, atol=1e-6)
    np.testing.assert_allclose(sparse.eigenvalues, dense.eigenvalues, rtol=1e-8)
    assert sparse.share == pytest.approx(dense.share)


def test_map_of_few_nearest_still_tells_the_classes_apart(forest):
    from sklearn.neighbors import KNeighborsClassifier

    found = mds(proximity(forest, X, top_k=40), 3).coordinates
    assert KNeighborsClassifier(5).fit(found, Y).score(found, Y) > 0.9


def test_outliers_are_the_textbooks_in_both_forms(forest):
    P = proximity(forest, X)
    expected = textbook.class_outliers(P, Y)[0]
    np.testing.assert_allclose(outlier_scores(P, Y), expected)
    names = np.array(["a", "b", "c"])[Y]
    np.testing.assert_allclose(outlier_scores(proximity(forest, X, top_k=149), names), expected)


def test_a_mislabelled_row_is_an_outlier(forest):
    wrong = Y.copy()
    wrong[3] = 2
    assert outlier_scores(proximity(forest, X), wrong)[3] > 10


@pytest.mark.parametrize("k", [3, 20])
def test_prototypes_are_the_textbooks(forest, k):
    P = proximity(forest, X)
    expected = textbook.class_prototypes(P, X, Y, k, n_prototypes=2)
    for form in (P, proximity(forest, X, top_k=149)):
        found = prototypes(forest, form, X, Y, k, n_prototypes=2)
        assert [f.row for f in found] == [e.row for e in expected]
        for ours, theirs in zip(found, expected, strict=True):
            assert ours.mates.tolist() == theirs.mates.tolist()
            np.testing.assert_allclose(list(ours.typical.values()), theirs.value)
            np.testing.assert_allclose(list(ours.low.values()), theirs.low)
            np.testing.assert_allclose(list(ours.high.values()), theirs.high)


def test_prototypes_speak_the_users_words():
    import pandas as pd

    table = pd.DataFrame({"size": X[:, 2], "colour": np.array(["red", "green", "blue"])[Y]})
    labels = np.array(["s", "c", "v"])[Y]
    forest = RandomForestClassifier(20, random_state=0).fit(table, labels)
    found = prototypes(forest, proximity(forest, table), table, labels)
    assert {p.label: p.typical["colour"] for p in found} == {"c": "green", "s": "red", "v": "blue"}


def test_rows_are_ordered_class_by_class_and_by_similarity(forest):
    P = proximity(forest, X)
    shuffled = np.random.default_rng(0).permutation(150)
    order = order_rows(P[np.ix_(shuffled, shuffled)], Y[shuffled])
    assert sorted(order) == list(range(150))
    assert (np.diff(Y[shuffled][order]) >= 0).all()
    rows = shuffled[order]
    assert P[rows[:-1], rows[1:]].mean() > P[shuffled[:-1], shuffled[1:]].mean() + 0.4


# ---------------------------------------------------------------------- the picture
@pytest.fixture
def axes():
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield plt.subplots()[1]
    plt.close("all")


def test_heat_map_shows_the_matrix_in_order(forest, axes):
    P = proximity(forest, X)
    ax = plot_proximity(P, np.array(["a", "b", "c"])[Y], ax=axes)
    order = order_rows(P, Y)
    np.testing.assert_array_equal(ax.images[0].get_array(), P[np.ix_(order, order)])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b", "c"]
    assert len(ax.patches) == 6


def test_heat_map_without_classes_and_from_sparse(forest, axes):
    ax = plot_proximity(proximity(forest, X, top_k=10), ax=axes)
    shown = np.asarray(ax.images[0].get_array())
    np.testing.assert_array_equal(shown, shown.T)
    assert not ax.patches


def test_heat_map_of_too_many_rows_is_refused(axes):
    from scipy.sparse import eye

    with pytest.raises(DataError, match="at most 5,000"):
        plot_proximity(eye(6000, format="csr"), ax=axes)


# ---------------------------------------------------------------------- bad input
BAD = [
    (lambda f: proximity(f, X, kind="some"), ParameterError, "kind of proximity must be"),
    (lambda f: proximity(f, X, top_k=0), ParameterError, "top_k must be an int"),
    (lambda f: proximity(f, X, top_k=2.5), ParameterError, "top_k must be an int"),
    (lambda f: proximity(f, X, top_k=True), ParameterError, "top_k must be an int"),
    (lambda f: proximity(f, X[:9], kind="oob"), DataError, "X .9 rows. is not the table"),
    (lambda f: proximity(f, X[::-1], kind="oob"), DataError, "is not the table"),
    (lambda f: proximity(f, X, X[:9], kind="oob"), DataError, "Y .9 rows. is not the table"),
    (lambda f: proximity(f, X[:, :2]), DataError, "features"),
    (lambda f: mds(proximity(f, X[:5], X)), DataError, "a square matrix"),
    (lambda f: mds(proximity(f, X), 0), ParameterError, "n_dimensions must be from 1 to 150"),
    (lambda f: mds(proximity(f, X, top_k=3), 150), ParameterError, "less than 150"),
    (lambda f: outlier_scores(proximity(f, X), Y[:9]), DataError, "one class for each"),
    (lambda f: prototypes(f, proximity(f, X), X, Y, 150), DataError, "more rows than k"),
    (lambda f: prototypes(f, proximity(f, X), X[:9], Y), DataError, "one row of X"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD, ids=[m for _, _, m in BAD])
def test_bad_input(forest, call, error, message):
    with pytest.raises(error, match=message):
        call(forest)


def test_a_forest_that_kept_nothing_says_so():
    forest = RandomForestClassifier(3, random_state=0).fit(X, Y)
    with pytest.raises(DataError, match="keep_leaves=True"):
        proximity(forest)
    with pytest.raises(ValueError, match="not fitted"):
        proximity(RandomForestClassifier())
