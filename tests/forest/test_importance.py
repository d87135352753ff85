"""Importance of columns: equal to the textbook's on the same trees, bags and shuffles; lawful."""

import io
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import arboretum
from arboretum import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from arboretum.data.schema import encode
from arboretum.errors import DataError, ParameterError
from arboretum.forest import importance
from arboretum.forest.importance import permutation_importance, shuffle_key, shuffled
from arboretum.predict.walk import walk_block
from arboretum.textbook import forest_figures as textbook
from arboretum.textbook.forest import TextbookForest
from arboretum.textbook.splits import Rules
from tests.forest.figure_cases import bags, grown, table


class Shuffles:
    """Hands the textbook the forest's own shuffles, in the order it asks for them."""

    def __init__(self, forest):
        trees = [t for t, counts in enumerate(bags(forest)) if (counts == 0).any()]
        self.turns = product(trees, range(forest.n_features_in_))
        self.seed = forest.seed_

    def permutation(self, n):
        tree, column = next(self.turns)
        return shuffled(shuffle_key(self.seed, tree), column, n)


def by_the_book(forest, X, y, monkeypatch):
    """Return the textbook's importance, computed with the forest's trees."""
    classes = hasattr(forest, "classes_")

    def predict(tree, X):
        value = tree.value[walk_block(tree, np.ascontiguousarray(X))]
        return value[:, 0].argmax(axis=1) if classes else value[:, 0, 0]

    monkeypatch.setattr(textbook, "predict", predict)
    rules = Rules("gini" if classes else "squared_error")
    encoded = encode(forest.schema_, X).rows(0, len(X))
    book = TextbookForest(tuple(forest.trees_), bags(forest), encoded, np.asarray(y), rules)
    return textbook.permutation_importance(book, Shuffles(forest))


@pytest.mark.parametrize("classes", [0, 3], ids=["numbers", "classes"])
@pytest.mark.parametrize("options", [{}, {"max_depth": 2}, {"max_samples": 0.3}], ids=str)
def test_equals_the_textbook(classes, options, monkeypatch):
    X, y, _ = table(classes=classes)
    forest = grown(X, y, classes=bool(classes), **options)
    found = permutation_importance(forest, X, y)
    expected = by_the_book(forest, X, y, monkeypatch)
    assert_allclose(found.per_tree, expected.per_tree, rtol=1e-9, atol=1e-12)
    assert_allclose(found.mean, expected.mean, rtol=1e-9, atol=1e-12)
    assert_allclose(found.standard_error, expected.standard_error, rtol=1e-9, atol=1e-12)


def test_trees_that_saw_every_row_have_no_say(monkeypatch):
    X, y = np.array([[1.0], [2.0], [3.0], [4.0]]), np.array([0, 0, 1, 1])
    forest = RandomForestClassifier(60, random_state=0).fit(X, y)
    some = int((bags(forest) == 0).any(axis=1).sum())
    assert some < 60
    found = permutation_importance(forest, X, y)
    assert found.per_tree.shape == (some, 1)
    assert_allclose(found.per_tree, by_the_book(forest, X, y, monkeypatch).per_tree, atol=1e-12)


def test_several_outputs_are_the_mean_over_them():
    X, y, _ = table(outputs=2, classes=3)
    forest = grown(X, y, classes=True)
    found = permutation_importance(forest, X, y).per_tree
    encoded = encode(forest.schema_, X).rows(0, len(X))
    counts = bags(forest)
    for t, tree in enumerate(forest.trees_):
        out = counts[t] == 0
        answer = tree.value.argmax(axis=2)
        block = encoded[out]
        before = np.mean(answer[walk_block(tree, block)] != y[out])
        for f in range(4):
            spoilt = block.copy()
            spoilt[:, f] = block[shuffled(shuffle_key(forest.seed_, t), f, len(block)), f]
            after = np.mean(answer[walk_block(tree, spoilt)] != y[out])
            assert found[t, f] == pytest.approx(after - before, abs=1e-12)


# ---------------------------------------------------------------------- laws
def test_the_signal_is_worth_more_than_noise_even_of_many_values():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 400), rng.normal(size=400)])
    y = np.where(rng.random(400) < 0.8, X[:, 0], 1 - X[:, 0]).astype(int)
    forest = RandomForestClassifier(100, random_state=0, max_features=None).fit(X, y)
    worth = permutation_importance(forest, X, y)
    assert worth.mean[0] > 10 * worth.standard_error[0]
    assert worth.mean[0] > 5 * abs(worth.mean[1])
    assert forest.feature_importances_[1] > 0.4  # which impurity does not see
    assert worth.order.tolist() == [0, 1]


@pytest.mark.parametrize("classes", [0, 3], ids=["numbers", "classes"])
def test_threads_and_blocks_do_not_matter(classes, monkeypatch):
    X, y, w = table(300, classes=classes)
    one = permutation_importance(grown(X, y, classes=classes), X, y, w).per_tree
    for n_jobs in (2, 3):
        forest = grown(X, y, classes=classes, n_jobs=n_jobs)
        assert_array_equal(permutation_importance(forest, X, y, w).per_tree, one)
    monkeypatch.setattr(importance, "_BLOCK_VALUES", 100)  # blocks of 64 rows
    blocks = permutation_importance(grown(X, y, classes=classes), X, y, w).per_tree
    assert_allclose(blocks, one, rtol=1e-9, atol=1e-12)


def test_more_trees_keep_the_first():
    X, y, _ = table()
    few = permutation_importance(grown(X, y, n_estimators=4), X, y)
    many = permutation_importance(grown(X, y, n_estimators=9), X, y)
    assert_array_equal(many.per_tree[:4], few.per_tree)


def test_columns_no_tree_asks_for_are_worth_nothing():
    X, y, _ = table()
    X[:, 3] = 5.0
    worth = permutation_importance(grown(X, y), X, y)
    assert np.all(worth.per_tree[:, 3] == 0)


def test_weights_count_in_the_loss():
    X, y, w = table()
    forest = grown(X, y)
    plain = permutation_importance(forest, X, y).per_tree
    assert_allclose(permutation_importance(forest, X, y, np.full(len(X), 8.0)).per_tree, plain)
    y_wild = np.where(w == 0, 1e6, y)  # rows without weight may say anything
    found = permutation_importance(forest, X, y_wild, w).per_tree
    assert_array_equal(found, permutation_importance(forest, X, y, w).per_tree)
    assert not np.allclose(found, plain)


def test_tables_of_any_make_give_the_same():
    pd = pytest.importorskip("pandas")
    X, y, _ = table()
    X = np.where(np.isnan(X), 0.0, X)
    X[:, 2] = np.round(X[:, 2])
    forest = grown(X, y)
    expected = permutation_importance(forest, X, y).per_tree
    assert_array_equal(permutation_importance(forest, sparse.csr_array(X), y).per_tree, expected)
    frame = pd.DataFrame(X, columns=list("abcd"))
    found = permutation_importance(grown(frame, y, categorical_features=["c"]), frame, y)
    assert found.names == ("a", "b", "c", "d")
    assert_array_equal(found.per_tree, expected)


def test_words_for_classes_and_a_model_from_a_file():
    X, y, _ = table(classes=3)
    words = np.array(["low", "middle", "high"])[y]
    forest = grown(X, words, classes=True)
    file = io.BytesIO()
    forest.save(file)
    file.seek(0)
    found = permutation_importance(arboretum.load(file), X, words.tolist())
    assert_array_equal(found.per_tree, permutation_importance(forest, X, words).per_tree)


def test_table_is_not_written_to():
    X, y, _ = table()
    X = np.ascontiguousarray(np.nan_to_num(X))
    forest, before = grown(X, y), X.copy()
    X.flags.writeable = False
    permutation_importance(forest, X, y)
    assert_array_equal(X, before)


# ---------------------------------------------------------------------- in words
def test_printed_as_a_table():
    X, y, _ = table()
    lines = str(permutation_importance(grown(X, y), X, y)).splitlines()
    assert lines[0] == "increase of the mean squared error, out of bag"
    assert lines[1].split()[0] == "x0"
    assert "±" in lines[1]
    assert len(lines) == 5


# ---------------------------------------------------------------------- bad input
X, Y, _ = table()
CODES = table(classes=3)[1]


@pytest.mark.parametrize(
    ("model", "arguments", "error", "message"),
    [
        ({}, (X[:50], Y[:50]), DataError, "X has 50 rows, but the forest was fitted on 120"),
        ({}, (X, Y[:50]), DataError, "50"),
        ({}, (X[:, :3], Y), ValueError, "3"),
        ({}, (X, np.column_stack([Y, Y])), DataError, "y has 2 outputs, .* fitted on 1"),
        ({}, (X, Y, np.zeros(120)), DataError, "zero in every row"),
        ({}, (X, Y, np.ones(3)), DataError, "3 entries"),
        ({}, (X, np.full(120, np.nan)), DataError, "y"),
        ({"classes": True}, (X, CODES + 1), DataError, "other classes than"),
        ({"classes": True}, (X, np.column_stack([CODES, CODES])), DataError, "other classes"),
        ({"bootstrap": False}, (X, Y), ParameterError, "fit it with bootstrap=True"),
    ],
)
def test_bad_input(model, arguments, error, message):
    forest = grown(X, CODES if model.get("classes") else Y, **model)
    with pytest.raises(error, match=message):
        permutation_importance(forest, *arguments)


def test_no_row_out_of_bag():
    forest = RandomForestRegressor(3, random_state=0).fit([[1.0]], [1.0])
    with pytest.raises(DataError, match="no tree has out-of-bag rows: grow more trees"):
        permutation_importance(forest, [[1.0]], [1.0])


def test_extra_trees_need_a_bootstrap():
    forest = ExtraTreesClassifier(3, bootstrap=True, random_state=0).fit(X, CODES)
    assert permutation_importance(forest, X, CODES).per_tree.shape == (3, 4)


def test_unfitted():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        permutation_importance(RandomForestRegressor(), X, Y)
