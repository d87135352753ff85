"""What must hold for any table: two fits of C4.5 that must agree, whatever the tree is.

"The same tree" means bit for bit the same questions; only sums of floats, which depend on the order of
the rows, may differ in their last digits.
"""

from __future__ import annotations

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone

import arboretum
from arboretum import C45Classifier, DataError
from arboretum.engine import parallel
from arboretum.structure.tree import GROUPS, LEAF, MULTIWAY, THRESHOLD
from tests.c45.c45_walk import assert_same_questions, assert_same_tree, saved

WAYS = {
    "default": {},
    "unpruned": {"pruning": None, "collapse": False},
    "groups": {"subset": True},
    "gain": {"criterion": "gain", "min_cases": 4},
    "binomial": {"error_limit": "binomial", "confidence": 0.4},
    "no raising": {"subtree_raising": False, "error_limit": "weka"},
    "laplace": {"laplace": True, "max_depth": 4},
}
ways = pytest.mark.parametrize("way", WAYS)
HELD = {"pruning": "reduced_error", "random_state": 2}


def table(seed: int = 0, n: int = 260) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return X (numbers; categories in columns 2 and 3), y and whole weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)).astype(np.float32).astype(np.float64)
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2], X[:, 3] = rng.integers(0, 5, n), rng.integers(0, 9, n)
    X[:, 4] = rng.integers(0, 3, n)
    signal = X[:, 0] + X[:, 1] + (X[:, 2] % 3) + (X[:, 3] % 2) + X[:, 4] / 2
    y = np.digitize(signal + rng.normal(size=n), [0.8, 2.4])
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y, rng.integers(1, 4, n).astype(float)


def model_of(way: str = "default", **more) -> C45Classifier:
    return C45Classifier(categorical_features=[2, 3], **{**WAYS[way], **more})


# ---------------------------------------------------------------------- rows and weights
@ways
def test_the_order_of_the_rows_does_not_matter(way):
    X, y, w = table()
    order = np.random.default_rng(1).permutation(len(X))
    for weight in (None, w, w / 8 + 0.1):
        first = model_of(way).fit(X, y, weight)
        again = model_of(way).fit(X[order], y[order], None if weight is None else weight[order])
        assert first.get_n_leaves() > 3
        assert_same_tree(first.tree_, again.tree_)
        assert_allclose(first.predict_proba(X), again.predict_proba(X), atol=1e-9)


@ways
def test_repeating_rows_is_weighing_them(way):
    X, y, w = table(1)
    times = w.astype(int)
    weighed = model_of(way).fit(X, y, w)
    repeated = model_of(way).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_same_tree(weighed.tree_, repeated.tree_)


@pytest.mark.parametrize("options", [*WAYS.values(), HELD])
def test_rows_of_weight_zero_are_not_there(options):
    X, y, w = table(2)
    w[::4] = 0.0
    kept = w > 0
    weighed = C45Classifier(categorical_features=[2, 3], **options).fit(X, y, w)
    fewer = C45Classifier(categorical_features=[2, 3], **options).fit(X[kept], y[kept], w[kept])
    assert saved(weighed) == saved(fewer)


def test_the_weight_of_a_node_is_that_of_its_children():
    X, y, w = table(3)
    for way in ("unpruned", "groups", "default"):
        tree = model_of(way).fit(X, y, w).tree_
        inner = np.flatnonzero(tree.kind != LEAF)
        for node in inner:
            some = slice(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
            parts = tree.weight[some, None] * tree.value[some, 0]
            assert_allclose(parts.sum(axis=0), tree.weight[node] * tree.value[node, 0], atol=1e-9)
        assert_allclose(tree.weight[0], w.sum())


# ---------------------------------------------------------------------- columns
@ways
def test_an_increasing_transform_leaves_the_tree(way):
    X, y, w = table(4)
    curved = X.copy()
    curved[:, 0] = np.exp(X[:, 0])
    curved[:, 1] = 3 * X[:, 1] - 7
    curved[:, 4] = X[:, 4] ** 3
    model, again = model_of(way).fit(X, y, w), model_of(way).fit(curved, y, w)
    # thresholds are values of the table: which, depends on the middle; the parts are the same
    for name in ("kind", "feature", "first_child", "n_children"):
        assert_array_equal(getattr(model.tree_, name), getattr(again.tree_, name))
    assert_allclose(model.tree_.value, again.tree_.value, atol=1e-9)
    assert_array_equal(model.apply(X), again.apply(curved))


@ways
def test_thresholds_are_values_of_the_table(way):
    X, y, w = table(5)
    tree = model_of(way).fit(X, y, w).tree_
    for node in np.flatnonzero(tree.kind == THRESHOLD):
        column = X[:, tree.feature[node]]
        assert tree.threshold[node] in column
        assert tree.threshold[node] < np.nanmax(column)


@ways
def test_a_column_that_cannot_be_asked_changes_nothing(way):
    # the average gain is over the columns that can be asked; a copy would be one of them
    X, y, w = table(6)
    first = model_of(way).fit(X, y, w)
    for column in (np.full(len(X), 3.5), np.full(len(X), np.nan)):
        again = model_of(way).fit(np.column_stack([X, column]), y, w)
        assert_same_tree(first.tree_, again.tree_)


def test_names_of_categories_and_classes_do_not_matter():
    X, y, w = table(7)
    X = np.where(np.isnan(X), 0, X)
    words, names = np.array(list("abcdefghi")), np.array(["ash", "birch", "cedar"])
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    for column in "wx":
        frame[column] = words[frame[column].astype(int)]
    by_code = model_of("unpruned").fit(X, y, w)
    by_name = C45Classifier(**WAYS["unpruned"]).fit(frame, names[y], w)
    assert {MULTIWAY, THRESHOLD} <= set(by_code.tree_.kind.tolist())
    assert_same_tree(by_code.tree_, by_name.tree_)
    assert_array_equal(by_name.predict(frame), names[by_code.predict(X)])


@pytest.mark.parametrize("kind", ["category", "enum", "bool"])
def test_words_in_any_dress_are_categories(kind):
    rng = np.random.default_rng(0)
    words = np.array(["no", "yes"] if kind == "bool" else ["ash", "elm", "fir", "oak"])
    code, x = rng.integers(0, len(words), 200), rng.normal(size=200)
    y = ((code % 2) ^ (rng.random(200) < 0.1)).astype(int)
    frames = {
        "category": pd.DataFrame({"a": pd.Categorical(words[code]), "x": x}),
        "enum": pl.DataFrame({"a": pl.Series(words[code], dtype=pl.Enum(words.tolist())), "x": x}),
        "bool": pd.DataFrame({"a": code == 1, "x": x}),
    }
    model = C45Classifier().fit(frames[kind], y)
    by_code = C45Classifier(categorical_features=[0]).fit(np.column_stack([code, x]), y)
    assert model.tree_.kind[0] == MULTIWAY
    assert_same_tree(model.tree_, by_code.tree_)


# ---------------------------------------------------------------------- threads
@pytest.mark.parametrize("options", [{}, {"subset": True, "pruning": None}, HELD])
def test_the_number_of_threads_does_not_matter(options, monkeypatch):
    X, y, w = table(n=12_000)  # enough work for the threads to be used
    used = []
    run = parallel.run
    monkeypatch.setattr(parallel, "run", lambda work, jobs, n: used.append(n) or run(work, jobs, n))
    one, *others = [
        saved(model_of(n_jobs=n, max_depth=5, **options).fit(X, y, w).set_params(n_jobs=1))
        for n in (1, 2, 3)
    ]
    assert {1, 2, 3} <= set(used)
    assert all(other == one for other in others)


def test_threads_agree_on_predictions():
    X, y, _ = table(n=2000)
    model = model_of(n_jobs=1).fit(X, y)
    many = np.tile(X, (12, 1))
    one = model.predict_proba(many), model.apply(many)
    model.set_params(n_jobs=3)
    assert_array_equal(one[0], model.predict_proba(many))
    assert_array_equal(one[1], model.apply(many))
    assert_array_equal(one[0][: len(X)], model.predict_proba(X))


def test_fitting_twice_gives_the_same_bytes():
    X, y, w = table(8)
    for options in (*WAYS.values(), HELD):
        model = C45Classifier(categorical_features=[2, 3], **options)
        assert saved(model.fit(X, y, w)) == saved(model.fit(X, y, w))


def test_only_the_held_out_rows_are_random():
    X, y, w = table(9)
    trees = [
        saved(model_of(random_state=s).fit(X, y, w).set_params(random_state=0)) for s in (1, 2)
    ]
    assert trees[0] == trees[1]
    sizes = {model_of(pruning="reduced_error", random_state=s).fit(X, y).tree_.node_count
             for s in range(5)}  # fmt: skip
    assert len(sizes) > 1


# ---------------------------------------------------------------------- keeping
@pytest.mark.parametrize("options", [*WAYS.values(), HELD])
def test_a_kept_model_is_the_same_model(options, tmp_path):
    X, y, w = table(10)
    model = C45Classifier(categorical_features=[2, 3], **options).fit(X, y, w)
    fresh = table(11)[0]
    path = tmp_path / "model.arb"
    model.save(path)
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (
        arboretum.load(path),
        arboretum.load(io.BytesIO(saved(model))),
        pickle.loads(pickle.dumps(model)),
        joblib.load(tmp_path / "model.joblib"),
        clone(model).fit(X, y, w),
    ):
        assert type(copy) is C45Classifier
        assert copy.get_params() == model.get_params()
        assert_same_questions(copy.tree_, model.tree_)
        assert_array_equal(copy.apply(fresh), model.apply(fresh))
        assert_array_equal(copy.predict_proba(fresh), model.predict_proba(fresh))
        assert_array_equal(copy.feature_importances_, model.feature_importances_)
        assert saved(copy) == saved(model)


def test_every_kind_of_node_is_kept():
    X, y, w = table(12)
    kinds = set()
    for way in ("unpruned", "groups"):
        kinds |= set(arboretum.load(saved(model_of(way).fit(X, y, w))).tree_.kind.tolist())
    assert kinds >= {LEAF, THRESHOLD, MULTIWAY, GROUPS}


def test_words_and_dates_are_kept():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "farbe": rng.choice(np.array(["rot", "grün", None], dtype=object), 90),
            "day": pd.date_range("2020", periods=90),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], 90), ["s", "m", "l"], ordered=True),
        }
    )
    y = np.where((frame["farbe"] == "rot") | (frame["day"] > "2020-02-20"), "ja", "nein")
    model = C45Classifier(min_cases=1).fit(frame, y)
    copy = arboretum.load(saved(model))
    assert model.get_n_leaves() > 2
    assert_array_equal(copy.predict(frame), model.predict(frame))
    assert_array_equal(copy.predict_proba(frame), model.predict_proba(frame))


# ---------------------------------------------------------------------- containers
NAMES = ["größe", "b", "c", "d", "e", "f"]


def containers(X: np.ndarray) -> dict:
    """The same numbers in every kind of box."""
    frozen = X.copy()
    frozen.setflags(write=False)
    return {
        "fortran": np.asfortranarray(X),
        "strided": np.repeat(X, 2, axis=1)[:, ::2],
        "read-only": frozen,
        "float32": X.astype(np.float32),
        "list": X.tolist(),
        "pandas": pd.DataFrame(X, columns=NAMES),
        "polars": pl.DataFrame(X, schema=NAMES),
        "arrow": pa.table({name: X[:, f] for f, name in enumerate(NAMES)}),
        "csr": sparse.csr_matrix(X),
        "csc": sparse.csc_array(X),
    }


@pytest.mark.parametrize("kind", containers(np.zeros((1, 6))))
def test_the_container_does_not_matter(kind):
    X, y, w = table(13)
    X = X.astype(np.float32).astype(np.float64)
    X[:, 5] *= np.abs(X[:, 5]) > 0.5  # zeros, for the sparse ones
    first = C45Classifier().fit(X, y, w)
    box = containers(X)[kind]
    model = C45Classifier().fit(box, y, w)
    assert_same_tree(first.tree_, model.tree_, rtol=0)
    assert_array_equal(model.predict_proba(box), first.predict_proba(X))
    assert_array_equal(model.apply(box), first.apply(X))


@pytest.mark.parametrize("kind", ["fortran", "list", "pandas", "polars", "arrow", "csr"])
def test_categories_in_any_container(kind):
    X, y, w = table(14)
    X[:, [2, 3]] = np.where(np.isnan(X[:, [2, 3]]), 0, X[:, [2, 3]])
    first = model_of().fit(X, y, w)
    model = model_of().fit(containers(X)[kind], y, w)
    assert_same_tree(first.tree_, model.tree_, rtol=0)
    assert_array_equal(model.predict_proba(containers(X)[kind]), first.predict_proba(X))


def test_columns_are_found_by_name():
    X, y, w = table(15)
    frame = pd.DataFrame(X, columns=NAMES)
    model = C45Classifier(categorical_features=["c", "d"]).fit(frame, y, w)
    assert list(model.feature_names_in_) == NAMES
    turned = frame[NAMES[::-1]]
    assert_array_equal(model.predict_proba(turned), model.predict_proba(frame))
    assert_array_equal(model.predict_proba(pl.from_pandas(turned)), model.predict_proba(frame))
    with pytest.raises(DataError, match="lacks columns seen at fit: 'c'"):
        model.predict(frame.drop(columns="c"))
    with pytest.raises(DataError, match="unseen at fit: 'extra'"):
        model.predict(frame.assign(extra=1.0))


# ---------------------------------------------------------------------- limits that do not bite
@ways
def test_limits_that_do_not_bite_change_nothing(way):
    X, y, w = table(16)
    first = saved(model_of(way).fit(X, y, w).set_params(max_depth=None))
    if "max_depth" not in WAYS[way]:
        deep = model_of(way, max_depth=10_000).fit(X, y, w).set_params(max_depth=None)
        assert saved(deep) == first
    for depth in (1, 2, 3):
        assert model_of(way, max_depth=depth).fit(X, y, w).get_depth() <= depth


@pytest.mark.parametrize("limit", ["quinlan", "weka", "binomial"])
def test_less_confidence_prunes_more(limit):
    X, y, _w = table(17, n=500)
    sizes = [
        model_of(confidence=cf, error_limit=limit, subtree_raising=False).fit(X, y).get_n_leaves()
        for cf in (0.5, 0.25, 0.1, 0.01, 1e-6)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_what_a_row_without_values_is_told():
    """It goes every way by the shares: with no values at all, the answer is the root's distribution."""
    X, y, w = table(18)
    for way in ("unpruned", "groups", "default"):
        model = model_of(way).fit(X, y, w)
        answer = model.predict_proba(np.full((1, 6), np.nan))[0]
        assert_allclose(answer, np.bincount(y, w) / w.sum(), atol=1e-9)
        assert len(model.apply(np.full((1, 6), np.nan))) == 1


@pytest.mark.parametrize("scale", [2.0**54, 2.0**60, 2.0**200])
@pytest.mark.parametrize("subset", [True, False])
def test_one_weight_for_all_rows_means_nothing_however_large(subset, scale):
    """Sums of weights beyond 2^63 are no whole numbers that a table could be asked for."""
    rng = np.random.default_rng(0)
    X = rng.choice(list("abcdefgh"), size=(400, 3)).astype(object)
    y = np.isin(X[:, 0], list("abc")) ^ np.isin(X[:, 1], list("ag"))
    how = {"subset": subset, "pruning": None}
    plain = C45Classifier(**how).fit(X, y)
    heavy = C45Classifier(**how).fit(X, y, sample_weight=np.full(400, scale))
    assert_same_questions(plain.tree_, heavy.tree_)
    assert heavy.score(X, y) > 0.99
