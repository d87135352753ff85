"""ID3: the textbook's tree on random tables, the worked examples, numbers in bins, and every table kind."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier

from arboretum import DataError, ID3Classifier, export_text, load
from arboretum.structure.tree import MULTIWAY, Node
from arboretum.textbook import discretize
from arboretum.textbook.id3 import ID3Node, grow_id3, predict_proba_id3
from tests.c45.id3_cases import PLAY, WEATHER, mixed, saved, shape

NAN = np.nan
many = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=80,
    suppress_health_check=list(HealthCheck),
)


# ---------------------------------------------------------------------- against the textbook
def random_table(rng: np.random.Generator, n: int, n_columns: int, gaps: float) -> pd.DataFrame:
    columns = {}
    for f in range(n_columns):
        words = np.array([f"v{i}" for i in range(rng.integers(1, 5))], dtype=object)
        column = rng.choice(words, n)
        column[rng.random(n) < gaps] = None
        columns[f"c{f}"] = column if any(v is not None for v in column) else words[:1].repeat(n)
    return pd.DataFrame(columns)


def random_problem(seed: int):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    X = random_table(rng, n, int(rng.integers(1, 5)), rng.choice([0.0, 0.15]))
    y = rng.integers(0, rng.integers(1, 4), n)
    if rng.random() < 0.7:  # something to be found
        y = (y + (X.iloc[:, 0] == "v0").to_numpy() * rng.integers(0, 2, n)).clip(0, 2)
    w = [None, rng.integers(0, 3, n).astype(float), rng.random(n)][rng.integers(3)]
    if w is not None and not w.any():
        w[0] = 1
    options = {
        "epsilon": float(rng.choice([0.0, 0.02, 0.3])),
        "max_depth": [None, None, 1, 2][rng.integers(4)],
        "min_samples": int(rng.choice([2, 3, 7])),
    }
    return rng, X, y, w, options


def grow_both(X, y, w, options) -> tuple[ID3Classifier, ID3Node]:
    own = dict(options)
    own["min_samples_split"] = own.pop("min_samples", 2)
    model = ID3Classifier(**own, n_jobs=1).fit(X, y, w)
    codes = model._encode(X).rows(0, len(X))
    n_values = [len(column.categories) for column in model.schema_.columns]
    labels = np.searchsorted(model.classes_, y)
    return model, grow_id3(codes, labels, w, n_values, **options)


def assert_same(node: Node, book: ID3Node, total: float) -> int:
    """Compare two trees; return how many nodes of the textbook's were met."""
    counts = np.zeros(node.tree.value.shape[2])
    counts[: len(book.counts)] = book.counts
    assert_allclose(node.weight, counts.sum(), rtol=1e-12)
    assert_allclose(node.value[0], counts / counts.sum(), rtol=1e-12)
    assert node.count == len(book.rows)
    assert node.is_leaf == book.is_leaf
    if node.is_leaf:
        return 1
    assert node.feature == book.feature
    gain = next(c.gain for c in book.candidates if c.feature == book.feature)
    assert_allclose(node.gain, gain * node.weight / total, atol=1e-12)
    column, met = node.tree.column(node.feature), 1
    assert len(node.children) == len(column.categories) + column.has_missing
    for value, child in enumerate(node.children):
        if value in book.children:
            met += assert_same(child, book.children[value], total)
        else:  # no row came here: the answer of the node above
            assert child.is_leaf
            assert child.count == child.weight == 0
            assert_array_equal(child.value, node.value)
    return met


@pytest.mark.filterwarnings("ignore::arboretum.errors.UnseenCategoryWarning")
@many
@given(st.integers(0, 10**6))
def test_the_tree_is_the_textbooks(seed):
    rng, X, y, w, options = random_problem(seed)
    model, book = grow_both(X, y, w, options)
    assert assert_same(model.tree_[0], book, book.counts.sum()) == len(list(book))
    other = random_table(rng, 40, X.shape[1], 0.2)  # with values that some nodes have not met
    codes = model._encode(other).rows(0, 40)
    shares = np.zeros((40, len(model.classes_)))
    expected = predict_proba_id3(book, codes)
    shares[:, : expected.shape[1]] = expected
    assert_allclose(model.predict_proba(other), shares, rtol=1e-12)
    assert_array_equal(model.predict(other), model.classes_[shares.argmax(axis=1)])


@pytest.mark.parametrize("how", ["mdl", "quantile"])
def test_numbers_in_the_textbooks_bins(how):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 4)).round(2)
    X[rng.random(X.shape) < 0.1] = NAN
    y = np.digitize(np.nan_to_num(X[:, 0]) + rng.normal(scale=0.3, size=300), [-0.5, 0.5])
    w = rng.random(300)
    model = ID3Classifier(discretize=how, n_bins=4).fit(X, y, w)
    codes, n_values = np.empty_like(X), []
    for f, x in enumerate(X.T):
        if how == "mdl":
            cuts = discretize.mdl_cuts(x, y, w)[0]
        else:
            cuts = discretize.quantile_cuts(x, 4, w)
        assert_array_equal(model.bins_[f], cuts)
        codes[:, f] = discretize.bin_codes(x, cuts)
        n_values.append(len(cuts) + 1)
    book = grow_id3(codes, y, w, n_values)
    assert assert_same(model.tree_[0], book, w.sum()) > 5
    assert_allclose(model.predict_proba(X), predict_proba_id3(book, codes), rtol=1e-12)


# ---------------------------------------------------------------------- worked examples
def test_play_tennis():
    model = ID3Classifier().fit(WEATHER, PLAY)
    no, yes = [1.0, 0.0], [0.0, 1.0]
    assert shape(model.tree_) == [
        ("", "outlook"),
        ("outlook = overcast", yes),
        ("outlook = rain", "wind"),
        ("outlook = rain & wind = strong", no),
        ("outlook = rain & wind = weak", yes),
        ("outlook = sunny", "humidity"),
        ("outlook = sunny & humidity = high", no),
        ("outlook = sunny & humidity = normal", yes),
    ]
    root = model.tree_[0]
    assert (round(root.impurity, 3), round(root.gain, 3)) == (0.940, 0.247)
    assert (model.get_depth(), model.get_n_leaves()) == (2, 5)
    assert_array_equal(model.predict(WEATHER), PLAY)
    bits = [0.247, 0.0, 5 / 14 * 0.971, 5 / 14 * 0.971]  # temperature is never asked
    assert_allclose(model.feature_importances_ * 0.940, bits, atol=1e-3)


def test_nba_height():
    players = pd.DataFrame({"tall": ["yes", "no", "yes", "no", "yes"]})
    tree = ID3Classifier().fit(players, ["yes", "yes", "no", "no", "yes"]).tree_
    assert round(tree[0].impurity, 3) == 0.971
    assert [round(child.impurity, 3) for child in tree[0].children] == [1.0, 0.918]
    assert round(tree[0].gain, 5) == 0.01997


@pytest.mark.parametrize(
    ("options", "n_leaves"),
    [
        ({"epsilon": 0.24}, 5),
        ({"epsilon": 0.25}, 1),
        ({"max_depth": 1}, 3),
        ({"max_depth": 2}, 5),
        ({"min_samples_split": 14}, 3),
        ({"min_samples_split": 15}, 1),
        ({"min_samples_split": 1.0}, 3),
        ({"min_samples_split": 0.5}, 3),
        ({"min_samples_split": 0.3}, 5),
    ],
)
def test_when_to_stop(options, n_leaves):
    assert ID3Classifier(**options).fit(WEATHER, PLAY).get_n_leaves() == n_leaves


def test_laplace_adds_a_case_of_every_class():
    model = ID3Classifier(laplace=True).fit(WEATHER, PLAY)
    assert_allclose(
        model.predict_proba(WEATHER[:3]), [[4 / 5, 1 / 5], [4 / 5, 1 / 5], [1 / 6, 5 / 6]]
    )


def test_a_weight_is_a_number_of_rows():
    w = np.arange(14) % 4
    one = ID3Classifier().fit(WEATHER, PLAY, w)
    rows = np.repeat(np.arange(14), w)
    two = ID3Classifier().fit(WEATHER.iloc[rows], PLAY.iloc[rows])
    assert shape(one.tree_) == shape(two.tree_)
    assert_array_equal(one.tree_.weight, two.tree_.count)


def test_the_scale_of_the_weights_does_not_matter():
    one = ID3Classifier().fit(WEATHER, PLAY)
    two = ID3Classifier().fit(WEATHER, PLAY, np.full(14, 1e-5))
    assert shape(one.tree_) == shape(two.tree_)
    boosted = AdaBoostClassifier(
        ID3Classifier(max_depth=1, discretize="quantile"), n_estimators=20
    ).fit(*load_iris(return_X_y=True))
    assert boosted.score(*load_iris(return_X_y=True)) > 0.9


# ---------------------------------------------------------------------- values without a branch
def test_a_row_without_a_branch_gets_the_answer_of_the_node():
    model = ID3Classifier().fit(WEATHER, PLAY)
    rows = pd.DataFrame(
        {
            "outlook": [None, "sunny", "rain"],
            "temperature": "hot",
            "humidity": ["high", None, "high"],
            "wind": ["strong", "weak", "strong"],
        }
    )
    expected = [[5 / 14, 9 / 14], [3 / 5, 2 / 5], [1, 0]]
    assert_allclose(model.predict_proba(rows), expected)
    nodes = model.apply(rows)
    assert nodes[0] == 0
    assert model.tree_[nodes[1]].name == "humidity"
    assert model.tree_[nodes[2]].is_leaf
    passed = model.decision_path(rows).toarray()
    assert passed.sum(axis=1).tolist() == [1, 2, 3]
    assert all(passed[i, node] for i, node in enumerate(nodes))
    rows.loc[0, "outlook"] = "fog"
    with pytest.warns(UserWarning, match="column 'outlook' holds categories unseen at fit: 'fog'"):
        assert_allclose(model.predict_proba(rows), expected)
    with pytest.raises(DataError, match="unseen at fit: 'fog'"):
        model.set_params(unseen="error").predict(rows)


def test_a_value_not_met_at_a_node_gets_its_answer():
    X = pd.DataFrame({"a": ["u", "u", "u", "v", "v"], "b": ["p", "q", "q", "r", "r"]})
    model = ID3Classifier().fit(X, [0, 1, 1, 2, 2])
    row = pd.DataFrame({"a": ["u", "v"], "b": ["r", "p"]})
    expected = grow_both(X, np.array([0, 1, 1, 2, 2]), None, {})[1]
    assert_allclose(
        model.predict_proba(row), predict_proba_id3(expected, model._encode(row).rows(0, 2))
    )


def test_missing_is_one_more_value_where_training_had_it():
    X = pd.DataFrame({"a": ["u", "u", None, None, "v"]})
    model = ID3Classifier().fit(X, [0, 0, 1, 1, 0])
    assert [str(child.path[-1]) for child in model.tree_[0].children] == [
        "a = u",
        "a = v",
        "a is missing",
    ]
    assert model.predict(X).tolist() == [0, 0, 1, 1, 0]


# ---------------------------------------------------------------------- kinds of columns
def test_ranks_are_categories_in_their_order():
    sizes = {"size": ["S", "M", "L"]}
    X = pd.DataFrame({"size": ["L", "S", "M", "L", "S", "M"]})
    model = ID3Classifier(ordinal_features=sizes).fit(X, [0, 1, 0, 0, 1, 0])
    assert [c.path[-1].values[0] for c in model.tree_[0].children] == ["S", "M", "L"]
    assert model.tree_.kind[0] == MULTIWAY
    assert model.predict(X).tolist() == [0, 1, 0, 0, 1, 0]
    assert model.schema_.columns[0].kind == "ordinal"


def test_columns_without_a_cut_or_without_values_are_not_asked():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "noise": rng.normal(size=40),
            "empty": [NAN] * 40,
            "none": [None] * 40,
            "word": rng.choice(["a", "b"], 40),
        }
    )
    y = (X["word"] == "a").to_numpy()
    for model in (ID3Classifier(discretize="mdl"), ID3Classifier()):
        columns = X if model.discretize else X.drop(columns="noise")
        model.fit(columns, y)
        assert model.get_depth() == 1
        assert model.tree_[0].name == "word"
        columns = columns.assign(empty=7.5)  # first met at predict: nobody asks
        assert_array_equal(model.predict(columns), y)
        again = load(saved(model))
        assert_array_equal(again.predict(columns), y)


def test_whether_a_number_is_present_can_be_asked():
    X = np.array([[1.0], [2.0], [NAN], [3.0], [NAN], [4.0]])
    y = np.isnan(X[:, 0])
    model = ID3Classifier(discretize="mdl").fit(X, y)
    assert len(model.bins_[0]) == 0
    assert [str(child.path[-1]) for child in model.tree_[0].children] == [
        "x0 = present",
        "x0 is missing",
    ]
    assert_array_equal(model.predict(X), y)


def test_dates_read_as_dates():
    days = pd.date_range("2024-02-01", periods=40)
    X = pd.DataFrame({"day": days})
    model = ID3Classifier(discretize="mdl").fit(X, days >= "2024-02-29")
    conditions = [str(child.path[-1]) for child in model.tree_[0].children]
    assert conditions == ["day = up to 2024-02-28 12:00:00", "day = above 2024-02-28 12:00:00"]
    assert "day = up to 2024-02-28 12:00:00" in export_text(model)
    assert_array_equal(model.predict(X), days >= "2024-02-29")
    with pytest.raises(DataError, match=r"'day'.*discretize"):
        ID3Classifier().fit(X, np.arange(40) % 2)


# ---------------------------------------------------------------------- kinds of tables
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_dataframes(frame):
    columns, y = mixed()
    model = ID3Classifier(discretize="mdl").fit(frame(columns), y)
    assert list(model.bins_) == ["number"]
    assert_array_equal(model.predict(frame(columns)), y)
    swapped = {name: columns[name] for name in ("word", "number")}
    assert_array_equal(model.predict(frame(swapped)), y)
    reference = ID3Classifier(discretize="mdl").fit(pd.DataFrame(columns), y)
    assert shape(model.tree_) == shape(reference.tree_)


def test_lists_and_files(tmp_path):
    columns, y = mixed()
    rows = [list(row) for row in zip(columns["number"].tolist(), columns["word"].tolist())]
    model = ID3Classifier(discretize="mdl").fit(rows, y)
    assert list(model.bins_) == [0]
    assert_array_equal(model.predict(rows), y)
    path = tmp_path / "table.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    assert_array_equal(ID3Classifier(discretize="mdl").fit(path, y).predict(path), y)


@pytest.mark.parametrize("how", ["mdl", "quantile"])
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix])
def test_sparse_tables(form, how):
    rng = np.random.default_rng(3)
    X = rng.integers(-3, 4, (120, 5)) * (rng.random((120, 5)) < 0.5).astype(float)
    X[:, 4] = rng.integers(0, 3, 120)
    y = (X[:, 0] > 0) + (X[:, 1] > 0) + 2 * (X[:, 4] == 2)
    options = {"discretize": how, "categorical_features": [4]}
    dense, sparse = (ID3Classifier(**options).fit(table, y) for table in (X, form(X)))
    assert shape(dense.tree_) == shape(sparse.tree_)
    assert dense.get_n_leaves() > 5
    for model in (dense, sparse):
        for table in (X, form(X)):
            assert_array_equal(model.predict_proba(table), dense.predict_proba(X))


def test_threads_make_no_difference():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(20000, 3)), rng.integers(0, 9, (20000, 3))])
    y = (X[:, 0] > 0) + (X[:, 4] > 5)
    y[rng.random(20000) < 0.1] = 0
    trees = [
        ID3Classifier(discretize="mdl", categorical_features=[3, 4, 5], n_jobs=n).fit(X, y)
        for n in (1, 4)
    ]
    assert saved(trees[0].set_params(n_jobs=None)) == saved(trees[1].set_params(n_jobs=None))
    assert_array_equal(trees[0].predict(X), trees[1].set_params(n_jobs=3).predict(X))
    assert trees[0].get_n_leaves() > 20
