"""Input that is odd or bad: works as C4.5 says, or one clear error that names the way out."""

from __future__ import annotations

import io
import random
from collections import Counter
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from arboretum import C45Classifier, DataError, ModelFileError, ParameterError, load
from arboretum.io.container import read, write
from arboretum.structure.tree import GROUPS, MULTIWAY
from tests.c45.c45_walk import saved
from tests.io import test_fuzz

RNG = np.random.default_rng(0)
N = 80
NUMBERS = RNG.normal(size=(N, 3))
WORDS = RNG.choice(np.array(["a", "b", "c", "d"]), N)
LABELS = np.where(WORDS == "b", 2, (NUMBERS[:, 0] > 0).astype(int))
FOUR, TWO_CLASSES = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]

# ---------------------------------------------------------------------- parameters
BAD_PARAMETERS = [
    (
        "confidence",
        0,
        r"'confidence' parameter of C45Classifier must be a number in \(0, 0.5\], got 0",
    ),
    ("confidence", -0.1, r"must be a number in \(0, 0.5\]"),
    ("confidence", 0.51, r"must be a number in \(0, 0.5\], got 0.51"),
    ("confidence", 25, r"must be a number in \(0, 0.5\], got 25"),
    ("confidence", np.nan, r"must be a number in \(0, 0.5\], got nan"),
    ("confidence", "0.25", r"must be a number in \(0, 0.5\], got '0.25'"),
    ("confidence", None, r"must be a number in \(0, 0.5\], got None"),
    ("confidence", True, r"must be a number in \(0, 0.5\], got True"),
    ("min_cases", 0, "'min_cases' parameter of C45Classifier must be a number > 0, got 0"),
    ("min_cases", -2, "must be a number > 0"),
    ("min_cases", np.inf, "must be a number > 0"),
    ("min_cases", np.nan, "must be a number > 0"),
    ("min_cases", "2", "must be a number > 0"),
    ("criterion", "gini", "must be 'gain_ratio' or 'gain', got 'gini'"),
    ("criterion", None, "must be 'gain_ratio' or 'gain'"),
    ("subset", 1, "'subset' parameter of C45Classifier must be True or False, got 1"),
    ("max_depth", 0, "'max_depth' parameter of C45Classifier must be an int ≥ 1 or None, got 0"),
    ("max_depth", 2.0, "must be an int ≥ 1 or None"),
    ("pruning", "errors", "must be 'error', 'reduced_error' or None, got 'errors'"),
    ("pruning", False, "must be 'error', 'reduced_error' or None"),
    ("subtree_raising", "yes", "must be True or False"),
    ("collapse", None, "must be True or False"),
    ("error_limit", "exact", "must be 'quinlan', 'weka' or 'binomial', got 'exact'"),
    ("holdout", 0.0, r"'holdout' parameter of C45Classifier must be a number in \(0, 1\), got 0.0"),
    ("holdout", 1, r"must be a number in \(0, 1\), got 1"),
    ("holdout", -0.3, r"must be a number in \(0, 1\)"),
    ("laplace", 1.0, "must be True or False"),
    ("class_weight", "even", "class_weight"),
    ("class_weight", [1, 2], "class_weight"),
    ("unseen", "what", "must be 'missing', 'ignore' or 'error', got 'what'"),
    ("random_state", -1, "random_state"),
    ("random_state", "seed", "random_state"),
    ("n_jobs", 0, "n_jobs"),
    ("n_jobs", 1.5, "n_jobs"),
    ("categorical_features", [7], "categorical_features"),
    ("categorical_features", ["q"], "categorical_features"),
    ("ordinal_features", [7], "ordinal_features"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD_PARAMETERS)
def test_bad_parameter(name, value, message):
    model = C45Classifier(**{name: value})  # refused when it is fitted, not before
    with pytest.raises(ParameterError, match=message):
        model.fit(FOUR, TWO_CLASSES)
    assert not hasattr(model, "tree_")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("confidense", "did you mean 'confidence'"),
        ("min_case", "did you mean 'min_cases'"),
        ("subtree_rising", "did you mean 'subtree_raising'"),
        ("CF", "it has categorical_features, class_weight"),
    ],
)
def test_an_unknown_parameter(name, hint):
    with pytest.raises(ParameterError, match=f"C45Classifier has no parameter '{name}': {hint}"):
        C45Classifier(**{name: 1})
    with pytest.raises(ParameterError, match=f"no parameter '{name}'"):
        C45Classifier().set_params(**{name: 1})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("confidence", 0.5),
        ("confidence", 5e-324),
        ("confidence", 1e-300),
        ("confidence", np.float32(0.25)),
        ("min_cases", 1e-300),
        ("min_cases", 10**30),
        ("min_cases", np.int8(3)),
        ("max_depth", 10**12),
        ("holdout", 1e-12),
        ("holdout", 1 - 1e-12),
        ("subset", np.True_),
        ("n_jobs", -1),
        ("random_state", np.random.default_rng(0)),
        ("random_state", np.random.RandomState(0)),
        ("class_weight", {0: 1e-9, 1: 1e9, 2: 1}),
    ],
)
@pytest.mark.parametrize("pruning", ["error", "reduced_error"])
@pytest.mark.parametrize("limit", ["quinlan", "weka", "binomial"])
def test_parameters_at_the_edge_of_what_is_allowed(name, value, pruning, limit):
    model = C45Classifier(pruning=pruning, error_limit=limit, **{name: value})
    model.fit(NUMBERS, LABELS)
    answer = model.predict_proba(NUMBERS)
    assert_allclose(answer.sum(axis=1), 1.0)
    assert np.isfinite(answer).all()
    assert np.isfinite(model.tree_.value).all()


def test_min_cases_huge_and_tiny():
    assert C45Classifier(min_cases=N).fit(NUMBERS, LABELS).get_n_leaves() == 1
    assert C45Classifier(min_cases=N / 2 + 0.1).fit(NUMBERS, LABELS).get_n_leaves() == 1
    single = C45Classifier(min_cases=1e-9, pruning=None, collapse=False)
    assert single.fit(FOUR, [0, 1, 1, 0]).get_n_leaves() == 1  # the charge is more than the gain
    column = pd.DataFrame({"each": [f"c{i}" for i in range(8)]})
    tree = single.fit(column, list("abcdefgh")).tree_
    assert (tree.kind[0], tree.n_leaves) == (MULTIWAY, 8)


# ---------------------------------------------------------------------- tables
BAD_TABLES = {
    "infinite": (pd.DataFrame({"income": [1.0, np.inf]}), r"column 'income' holds an infinite"),
    "no rows": (np.zeros((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\)"),
    "no columns": (np.zeros((2, 0)), r"0 feature\(s\)"),
    "one dimension": ([1, 2], "got a 1-D array.*Reshape your data"),
    "None": (None, "X must be an array, a dataframe.*got NoneType"),
    "complex": (np.zeros((2, 2), complex), "Complex data not supported"),
    "words and numbers": (np.array([["a"], [1]], dtype=object), "column 'x0' mixes numbers"),
    "no such file": ("no/such/file.csv", "no such file"),
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_bad_table_at_fit(name):
    X, message = BAD_TABLES[name]
    with pytest.raises(DataError, match=message):
        C45Classifier().fit(X, [0, 1])


BAD_TARGETS = {
    "none": (None, "requires y to be passed"),
    "too short": ([0, 1], r"inconsistent numbers of samples: \[4, 2\]"),
    "NaN": ([0, 1, np.nan, 1], r"Input y contains NaN \(row 2\): drop the rows"),
    "None inside": (["a", None, "b", "a"], r"Input y contains NaN \(row 1\)"),
    "infinite": ([0, 1, np.inf, 1], r"Input y contains infinity \(row 2\)"),
    "fractions": ([0.5, 1, 1.5, 2], "Unknown label type: continuous"),
    "words and numbers": (np.array(["a", 1, "b", 2], dtype=object), "y mixes strings and numbers"),
    "two outputs": (
        [[0, 1], [1, 0], [0, 1], [1, 1]],
        "C45Classifier predicts one target, but y has 2 columns; fit one model for each",
    ),
    "three dimensions": (np.zeros((4, 1, 1)), "y should be a 1d array"),
}


@pytest.mark.parametrize("name", BAD_TARGETS)
def test_bad_target(name):
    y, message = BAD_TARGETS[name]
    model = C45Classifier()
    with pytest.raises(DataError, match=message):
        model.fit(FOUR, y)
    assert not hasattr(model, "tree_")


def test_a_column_vector_is_one_target():
    with pytest.warns(DataConversionWarning, match=r"column-vector y was passed.*using ravel\(\)"):
        model = C45Classifier().fit(FOUR, [[0], [1], [0], [1]])
    assert model.predict(FOUR).shape == (4,)
    assert model.n_outputs_ == 1


BAD_WEIGHTS = {
    "all zero": ([0, 0, 0, 0], "sample_weight is zero in every row"),
    "negative": ([1, -1, 1, 1], r"Negative values in data passed to `sample_weight` \(row 1\)"),
    "NaN": ([1, np.nan, 1, 1], r"sample_weight holds NaN \(row 1\)"),
    "infinite": ([1, 1, 1, np.inf], "sample_weight holds infinite values"),
    "too few": ([1, 1], "sample_weight has 2 entries, X has 4 rows"),
    "words": (list("abcd"), "sample_weight must hold numbers"),
    "huge": ([1e300] * 4, "scale them down"),
    "small": ([1e-300] * 4, "scale the weights up"),
}


@pytest.mark.parametrize("name", BAD_WEIGHTS)
def test_bad_weights(name):
    weights, message = BAD_WEIGHTS[name]
    with pytest.raises(DataError, match=message):
        C45Classifier().fit(FOUR, TWO_CLASSES, sample_weight=weights)


def test_class_weights_that_leave_nothing():
    with pytest.raises(ParameterError, match="class_weight leaves no row a weight"):
        C45Classifier(class_weight={0: 0, 1: 0}).fit(FOUR, TWO_CLASSES)
    model = C45Classifier(class_weight={0: 0}).fit(FOUR, TWO_CLASSES)
    assert model.classes_.tolist() == [0, 1]
    assert model.predict(FOUR).tolist() == [1, 1, 1, 1]


def test_reduced_error_pruning_needs_a_row_to_hold_out():
    with pytest.raises(DataError, match=r"holds rows out, .* only one .*: use pruning='error'"):
        C45Classifier(pruning="reduced_error").fit([[1.0]], [0])
    with pytest.raises(DataError, match="only one"):
        C45Classifier(pruning="reduced_error").fit(FOUR, TWO_CLASSES, [0, 0, 1, 0])
    for holdout in (1e-9, 0.5, 1 - 1e-9):
        model = C45Classifier(pruning="reduced_error", holdout=holdout, random_state=0)
        assert model.fit([[1.0], [2.0]], [0, 1]).predict([[1.0]]).shape == (1,)
        kept, held = model._hold_out(np.array([0, 1, 0, 1, 1]))
        assert len(kept) >= 1
        assert len(held) >= 1
        assert sorted([*kept, *held]) == [0, 1, 2, 3, 4]


def test_an_unfitted_model_says_so():
    for method in ("predict", "predict_proba", "apply", "decision_path", "predict_log_proba"):
        with pytest.raises(NotFittedError):
            getattr(C45Classifier(), method)(FOUR)
    with pytest.raises(NotFittedError):
        C45Classifier().get_n_leaves()


def test_a_failed_fit_leaves_the_old_model_whole():
    model = C45Classifier().fit(NUMBERS, LABELS)
    old = model.predict(NUMBERS)
    with pytest.raises(DataError, match="contains NaN"):
        model.fit(np.zeros((2, 1)), [0, np.nan])
    assert_array_equal(model.predict(NUMBERS), old)


def test_input_is_never_written_to():
    X, y, w = np.where(NUMBERS > 1, np.nan, NUMBERS), LABELS.astype(float), RNG.random(N) + 0.1
    copies = X.copy(), y.copy(), w.copy()
    for pruning in ("error", "reduced_error"):
        C45Classifier(pruning=pruning).fit(X, y, w).predict(X)
    for mine, theirs in zip((X, y, w), copies):
        assert_array_equal(mine, theirs)


# ---------------------------------------------------------------------- odd tables that work
ODD = {
    "one row": ([[1.0]], [3]),
    "one class": (NUMBERS, np.full(N, "k")),
    "all missing": (np.full((N, 2), np.nan), LABELS),
    "a column all missing": (np.column_stack([NUMBERS, np.full(N, np.nan)]), LABELS),
    "words all missing": (pd.DataFrame({"w": [None] * N, "x": NUMBERS[:, 0]}), LABELS),
    "categories none of which occurs": (
        pd.DataFrame({"w": pd.Categorical([None] * N, ["q"]), "x": NUMBERS[:, 0]}),
        LABELS,
    ),
    "one category": (pd.DataFrame({"w": ["k"] * N, "x": NUMBERS[:, 0]}), LABELS),
    "one category or missing": (pd.DataFrame({"w": np.where(LABELS == 1, "k", None)}), LABELS),
    "constant": (np.ones((N, 2)), LABELS),
    "constant or missing": (np.where(NUMBERS > 0, np.nan, 1.0), LABELS),
    "a category per row": (pd.DataFrame({"w": [f"c{i}" for i in range(N)]}), LABELS),
    "a class per row": (NUMBERS, np.arange(N)),
    "huge": (NUMBERS * 1e300, LABELS),
    "denormal": (np.round(NUMBERS * 4) * 5e-324, LABELS),
    "largest float": (np.sign(NUMBERS) * np.finfo(float).max, LABELS),
    "booleans": (NUMBERS > 0, LABELS),
    "empty words": (pd.DataFrame({"w": np.where(NUMBERS[:, 0] > 0, "", " ")}), LABELS),
    "dates with gaps": (
        pd.DataFrame({"d": pd.date_range("2020", periods=N).where(NUMBERS[:, 1] > 0)}),
        LABELS,
    ),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize(
    "options",
    [{}, {"pruning": None, "min_cases": 0.5}, {"subset": True}, {"pruning": "reduced_error"}],
    ids=str,
)
def test_odd_tables(name, options):
    X, y = ODD[name]
    if len(y) == 1 and options.get("pruning") == "reduced_error":
        return  # an error of its own, above
    model = C45Classifier(random_state=0, **options).fit(X, y)
    answer = model.predict_proba(X)
    assert_allclose(answer.sum(axis=1), 1.0)
    assert set(model.predict(X)) <= set(np.unique(y).tolist())
    assert np.isfinite(model.tree_.gain).all()
    assert model.feature_importances_.sum() == pytest.approx(float(model.tree_.gain.any()))
    assert_array_equal(load(saved(model)).predict_proba(X), answer)


def test_nothing_to_ask_is_one_leaf():
    for name in ("one class", "all missing", "constant", "constant or missing", "one row"):
        X, y = ODD[name]
        model = C45Classifier().fit(X, y)
        assert model.get_n_leaves() == 1, name
        assert not model.feature_importances_.any()
    assert C45Classifier().fit(*ODD["one class"]).predict_proba(NUMBERS).shape == (N, 1)


def test_nearly_all_rows_miss_the_value_that_is_asked():
    """Four rows know it; the others are spread over the branches, a half each."""
    x = np.full(40, np.nan)
    x[:4] = 1, 1, 2, 2
    y = np.array([0, 0, 1, 1] + [0, 1] * 18)
    model = C45Classifier(pruning=None, collapse=False).fit(x[:, None], y)
    assert_allclose(model.tree_.weight, [40, 20, 20])
    assert_allclose(model.tree_.value[1:, 0], [[0.55, 0.45], [0.45, 0.55]])
    three = np.where(np.arange(40) < 3, x, np.nan)
    assert C45Classifier(pruning=None).fit(three[:, None], y).get_n_leaves() == 1


# ---------------------------------------------------------------------- categories unseen
def words_model(**options) -> C45Classifier:
    frame = pd.DataFrame({"word": WORDS, "number": NUMBERS[:, 0]})
    return C45Classifier(min_cases=1, pruning=None, **options).fit(frame, LABELS)


@pytest.mark.parametrize("subset", [False, True])
def test_unseen_categories_follow_the_policy(subset):
    new = pd.DataFrame({"word": ["a", "Z", "Y"], "number": [1.0, 2, 3]})
    gone = pd.DataFrame({"word": ["a", None, None], "number": [1.0, 2, 3]})
    lenient = words_model(subset=subset)
    assert lenient.tree_.feature[0] == 0
    assert lenient.tree_.kind[0] == (GROUPS if subset else MULTIWAY)
    with pytest.warns(UserWarning, match=r"'word' .*unseen at fit: 'Z', 'Y' \(rows 1, 2\)"):
        found = lenient.predict_proba(new)
    assert_array_equal(found, lenient.predict_proba(gone))
    shares = lenient.tree_.share[lenient.tree_.parent == 0]
    each = [lenient.predict_proba(gone[:1].assign(word=word, number=2.0))[0] for word in "abcd"]
    if not subset:
        assert_allclose(found[1], shares @ np.array(each))
    strict = words_model(subset=subset, unseen="error")
    with pytest.raises(DataError, match=r"'word' .*unseen at fit: 'Z', 'Y' \(rows 1, 2\)"):
        strict.predict(new)
    assert_array_equal(strict.predict_proba(gone), found)


def test_a_category_never_seen_at_a_node():
    """Known to the table, not to the node: an empty branch, which answers as the node would."""
    rows = [("l", "a", 0)] * 20 + [("l", "b", 0)] * 12 + [("l", "b", 1)] * 8
    rows += [("r", "b", 2)] * 20 + [("r", "c", 2)] * 12 + [("r", "c", 3)] * 8
    frame = pd.DataFrame(rows, columns=["first", "second", "y"])
    y = frame.pop("y")
    model = C45Classifier(pruning=None, collapse=False, criterion="gain").fit(frame, y)
    tree = model.tree_
    empty = np.flatnonzero(tree.weight == 0)
    assert len(empty) == 2
    assert_allclose(tree.value[empty], tree.value[tree.parent[empty]])
    answer = model.predict_proba(pd.DataFrame({"first": ["l", "r"], "second": ["c", "a"]}))
    assert_allclose(answer, [[0.8, 0.2, 0, 0], [0, 0, 0.8, 0.2]])
    smooth = C45Classifier(pruning=None, collapse=False, laplace=True).fit(frame, y)
    assert (smooth.predict_proba(frame) > 0).all()


def test_laplace_by_hand():
    model = C45Classifier(laplace=True).fit([[1.0]] * 4 + [[2.0]] * 6, [0] * 4 + [1] * 6)
    assert_allclose(model.predict_proba([[1.0], [2.0]]), [[5 / 6, 1 / 6], [1 / 8, 7 / 8]])
    log = model.predict_log_proba([[1.0]])
    assert_allclose(np.exp(log), model.predict_proba([[1.0]]))
    hard = C45Classifier().fit([[1.0]] * 4 + [[2.0]] * 6, [0] * 4 + [1] * 6)
    assert hard.predict_log_proba([[1.0]])[0, 1] == -np.inf


# ---------------------------------------------------------------------- scikit-learn
@parametrize_with_checks(
    [
        C45Classifier(),
        C45Classifier(pruning=None, collapse=False, criterion="gain"),
        C45Classifier(subset=True, laplace=True, error_limit="binomial"),
    ]
)
def test_scikit_learn_check(estimator, check):
    check(estimator)


def test_tags_say_what_the_estimator_can_do():
    tags = get_tags(C45Classifier())
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan
    assert tags.input_tags.string
    assert tags.input_tags.categorical
    assert tags.target_tags.single_output
    assert not tags.target_tags.multi_output


# ---------------------------------------------------------------------- damaged files
@cache
def originals() -> list[bytes]:
    frame = pd.DataFrame({"word": WORDS, "number": NUMBERS[:, 0], "other": NUMBERS[:, 1]})
    frame.loc[::7, ["word", "number"]] = None, np.nan
    ways = ({"pruning": None, "min_cases": 1}, {"subset": True}, {"laplace": True, "max_depth": 1})
    return [saved(C45Classifier(**way).fit(frame, LABELS)) for way in ways]


def use(model: C45Classifier, rng: random.Random) -> None:
    """Do with a loaded model what a user would."""
    columns = {}
    for column in model.schema_.columns:
        known = list(column.categories) if column.categories else [rng.gauss(0, 2), 1e300, -1e300]
        columns[column.name] = rng.choices([None, *known], k=6)
    if model.schema_.named and len(columns) == len(model.schema_.columns):
        X = pd.DataFrame(columns)
        for column in model.schema_.columns:
            if column.categories is None and column.dtype.startswith("float"):
                X[column.name] = X[column.name].astype(float)
        try:
            answer = model.predict_proba(X)
        except (DataError, ParameterError):
            answer = None  # the columns are others now: an error of its own
        assert answer is None or np.isfinite(answer).all()
    for node in model.tree_:
        assert node.pretty()
    assert np.isfinite(model.feature_importances_).all()


DAMAGE = {
    "raw": 250,
    "header_bytes": 500,
    "payload_bytes": 400,
    "header_value": 700,
    "table_entry": 250,
    "elements": 900,
    "tree_arrays": 900,
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_damaged_file_is_a_model_or_a_clear_error(name):
    outcomes: Counter = Counter()
    for case in range(DAMAGE[name]):
        rng = random.Random(f"c45 {name} {case}")
        data = test_fuzz.MUTATIONS[name][0](rng, rng.choice(originals()))
        try:
            model = load(data)
        except ModelFileError as error:
            outcomes[str(error)] += 1
            continue
        outcomes["model"] += 1
        try:
            use(model, rng)
        except Exception as error:
            raise AssertionError(f"case {case} of {name} loads and cannot be used") from error
    assert len(outcomes) > 3
    if name not in ("raw", "table_entry"):
        assert outcomes["model"] > 2


def test_damage_on_purpose():
    """What a walk relies on is checked: groups point at children, kinds fit their columns."""
    data = originals()[1]
    tree = read(data)["state"]["tree"]
    node = int(np.flatnonzero(tree["kind"] == GROUPS)[0])
    split = int(np.count_nonzero(tree["kind"][:node]))
    start, n_splits = int(tree["bits_start"][split]), len(tree["feature"])
    sizes = np.full(n_splits, 2) if tree["n_children"] is None else tree["n_children"]
    children = int(sizes[split])

    def broken(field, index, value) -> bytes:
        document = read(data)
        damaged = document["state"]["tree"]
        told = {**damaged, "n_children": sizes, "weight": damaged["count"]}
        array = told[field]
        damaged[field] = array.astype(np.float64 if field == "weight" else np.int64)
        if field == "bits":
            damaged[field] = array
        damaged[field][index] = value
        file = io.BytesIO()
        write(file, document)
        return file.getvalue()

    for field, index, value in (
        ("bits", start, children),
        ("bits", start, 2**32 - 1),
        ("bits_start", split, len(tree["bits"])),
        ("bits_start", split, -1),
        ("kind", node, MULTIWAY),
        ("kind", node, 9),
        ("missing_child", split, children),
        ("missing_child", split, -2),
        ("n_children", split, 1),
        ("weight", 0, np.nan),
        ("feature", split, 1),
    ):
        with pytest.raises(ModelFileError, match=f"node {node}|node"):
            load(broken(field, index, value))


def test_a_very_small_confidence_prunes_no_less():
    X, y = load_breast_cancer(return_X_y=True)
    leaves = [
        C45Classifier(error_limit="weka", confidence=c).fit(X, y).get_n_leaves()
        for c in (0.25, 1e-6, 1e-15, 1e-17, 1e-100)
    ]
    assert leaves == sorted(leaves, reverse=True)
