"""Every parameter is alive, every bad value and unknown name has one clear message."""

import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from arboretum import CARTClassifier, CARTRegressor, DataError, ParameterError
from tests.cart.cart_cases import BOTH, ROWS, data_for, fitted, same_trees


def _leaves(model, what: str) -> np.ndarray:
    return getattr(model.tree_, what)[model.tree_.leaves]


# ---------------------------------------------------------------------- every parameter is alive
def alive_criterion(Model):
    if Model is CARTClassifier:
        gini, entropy = fitted(Model), fitted(Model, criterion="entropy")
        share = gini.tree_.value[0, 0]
        assert gini.tree_.impurity[0] == pytest.approx(1 - np.sum(share**2))
        assert entropy.tree_.impurity[0] == pytest.approx(-np.sum(share * np.log2(share)))
        assert not same_trees(gini, entropy)
        assert same_trees(entropy, fitted(Model, criterion="log_loss"))
        return
    _, y = data_for(Model)
    expected = {
        "squared_error": np.var(y),
        "friedman_mse": np.var(y),
        "absolute_error": np.mean(np.abs(y - np.median(y))),
        "poisson": np.mean(y * np.log(np.where(y > 0, y, 1) / y.mean())),
    }
    models = {name: fitted(Model, criterion=name, max_depth=4) for name in expected}
    for name, impurity in expected.items():
        assert models[name].tree_.impurity[0] == pytest.approx(impurity)
    assert models["absolute_error"].tree_.value[0, 0, 0] == pytest.approx(np.median(y))
    assert not same_trees(models["squared_error"], models["absolute_error"])
    assert not same_trees(models["squared_error"], models["poisson"])
    X, two = data_for(Model)[0], np.column_stack([y, np.cos(5 * y)])
    mse, friedman = (
        Model(criterion=c, max_depth=3).fit(X, two) for c in ("squared_error", "friedman_mse")
    )
    assert not same_trees(mse, friedman)


def alive_splitter(Model):
    best, drawn = fitted(Model), fitted(Model, splitter="random", random_state=0)
    assert best.tree_.gain[0] > drawn.tree_.gain[0]
    values = np.unique(data_for(Model)[0])
    middles = (values[1:] + values[:-1]) / 2
    assert not np.isin(drawn.tree_.threshold[0], middles)


def alive_max_depth(Model):
    assert fitted(Model).get_depth() > 3
    assert fitted(Model, max_depth=3).get_depth() == 3


def alive_min_samples_split(Model):
    for given, least in ((50, 50), (0.25, 60)):
        tree = fitted(Model, min_samples_split=given).tree_
        assert tree.count[~tree.is_leaf].min() >= least
        assert tree.count[tree.is_leaf].max() < least
    assert (fitted(Model).tree_.count[~fitted(Model).tree_.is_leaf] < 50).any()


def alive_min_samples_leaf(Model):
    assert _leaves(fitted(Model), "count").min() < 20
    assert _leaves(fitted(Model, min_samples_leaf=20), "count").min() >= 20
    assert _leaves(fitted(Model, min_samples_leaf=0.1), "count").min() >= 24


def alive_min_weight_fraction_leaf(Model):
    X, y = data_for(Model)
    w = np.linspace(0.1, 3, len(y))
    free = Model().fit(X, y, w)
    held = Model(min_weight_fraction_leaf=0.1).fit(X, y, w)
    assert _leaves(free, "weight").min() < 0.1 * w.sum()
    assert _leaves(held, "weight").min() >= 0.1 * w.sum() - 1e-9
    assert held.get_n_leaves() > 2


def alive_max_features(Model):
    everything = fitted(Model)
    for given, drawn in ((2, 2), (0.5, 3), ("sqrt", 2), ("log2", 2), (None, 6), (99, 6)):
        model = fitted(Model, max_features=given, random_state=0)
        assert model.max_features_ == drawn
        assert same_trees(model, everything) == (drawn == 6)


def alive_random_state(Model):
    def draw(seed):
        return fitted(Model, splitter="random", random_state=seed)

    assert same_trees(draw(0), draw(0))
    assert not same_trees(draw(0), draw(1))
    assert not same_trees(draw(None), draw(None))
    for kind in (np.random.RandomState, np.random.default_rng):
        assert same_trees(draw(kind(5)), draw(kind(5)))
        generator = kind(5)
        assert not same_trees(draw(generator), draw(generator))  # a generator moves on
    assert same_trees(
        fitted(Model, random_state=0), fitted(Model, random_state=1)
    )  # nothing is drawn


def alive_max_leaf_nodes(Model):
    full, few = fitted(Model), fitted(Model, max_leaf_nodes=7)
    assert few.get_n_leaves() == 7 < full.get_n_leaves()
    gains, ready = [], [full.tree_[0]]
    while len(gains) < 6:  # divide the leaf that gains most, again and again
        best = max(ready, key=lambda node: node.gain)
        ready.remove(best)
        ready.extend(best.children)
        gains.append(best.gain)
    inner = ~few.tree_.is_leaf
    np.testing.assert_array_equal(np.sort(few.tree_.gain[inner]), np.sort(gains))


def alive_min_impurity_decrease(Model):
    full = fitted(Model).tree_
    bar = float(np.median(full.gain[~full.is_leaf]))
    held = fitted(Model, min_impurity_decrease=bar).tree_
    assert len(held) < len(full)
    assert held.gain[~held.is_leaf].min() >= bar - 1e-12


def alive_class_weight(Model):
    X, y = data_for(Model)
    counts = np.bincount(y)
    heavy = Model(class_weight={2: 10.0}).fit(X, y)
    expected = counts * [1, 1, 10] / (counts * [1, 1, 10]).sum()
    np.testing.assert_allclose(heavy.tree_.value[0, 0], expected)
    balanced = Model(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(balanced.tree_.value[0, 0], 1 / 3)
    without = Model(class_weight={1: 0}).fit(X, y)
    assert without.tree_.count[0] == ROWS - counts[1]
    outputs = pd.DataFrame({"level": y, "name": np.where(y == 1, "a", "b")})
    two = Model(class_weight=[{0: 2.0}, {"b": 3.0}]).fit(X, outputs)
    assert two.tree_.weight[0] == pytest.approx(6 * counts[0] + counts[1] + 3 * counts[2])


def alive_ccp_alpha(Model):
    full = fitted(Model)
    path = full.cost_complexity_pruning_path(*data_for(Model))
    middle = len(path.ccp_alphas) // 2
    pruned = fitted(Model, ccp_alpha=path.ccp_alphas[middle])
    assert pruned.get_n_leaves() == path.n_leaves[middle] < full.get_n_leaves()


def alive_monotonic_cst(Model):
    X, y = data_for(Model)
    y = (y > np.median(y)).astype(int) if Model is CARTClassifier else y
    grid = np.repeat(X[:40], 50, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 50), 40)

    def steps(constraint):
        model = Model(monotonic_cst=constraint).fit(X, y)
        predict = (
            model.predict if Model is CARTRegressor else lambda X: model.predict_proba(X)[:, 1]
        )
        return np.diff(predict(grid).reshape(40, 50), axis=1)

    assert steps(None).min() < 0 < steps(None).max()
    assert steps([1, 0, 0, 0, 0, 0]).min() >= 0
    assert steps({"x0": -1}).max() <= 0


def alive_categorical_features(Model):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(ROWS, 1)).astype(float)
    y = np.isin(X[:, 0], [1, 4, 6]).astype(int)
    assert Model().fit(X, y).get_depth() > 1
    for given in ([0], ["x0"], [True]):
        model = Model(categorical_features=given).fit(X, y)
        assert model.get_depth() == 1
        assert model.tree_.condition(0, 0).operator == "in"


def alive_ordinal_features(Model):
    words = np.array(["low", "middle", "high", "top"])
    code = np.arange(ROWS) % 4
    X, y = words[code][:, None], (code >= 2).astype(int)
    listed = Model(ordinal_features={0: ["low", "middle", "high", "top"]}).fit(X, y)
    assert listed.get_depth() == 1
    assert listed.tree_[0].condition(0).pretty() == "x0 <= middle"
    alphabetical = Model(ordinal_features=[0]).fit(X, y)  # high, low, middle, top
    assert alphabetical.get_depth() == 2
    assert Model().fit(X, y).tree_.condition(0, 0).operator == "in"


def alive_unseen(Model):
    X, y = np.array([["a"], ["b"], ["b"]] * 5), [0, 1, 1] * 5
    with pytest.warns(UserWarning, match="categories unseen at fit: 'c'"):
        answer = Model(unseen="missing").fit(X, y).predict([["c"]])
    assert answer == Model().fit(X, y).predict([[None]])
    with pytest.raises(DataError, match="categories unseen at fit: 'c'"):
        Model(unseen="error").fit(X, y).predict([["c"]])


def alive_surrogates(Model):
    X, y = data_for(Model)
    X[:, 5] = X[:, 0] + 0.01 * X[:, 3]  # a twin that can stand in
    assert Model().fit(X, y).tree_.surrogates is None
    one, three = (Model(surrogates=k, max_depth=3).fit(X, y) for k in (1, 3))
    assert 0 < len(one.tree_.surrogates) < len(three.tree_.surrogates)
    hidden = X.copy()
    hidden[:, 0] = np.nan
    plain = Model(max_depth=3).fit(X, y)
    agree = [np.mean(m.predict(hidden) == m.predict(X)) for m in (plain, three)]
    assert agree[1] > 0.9 > agree[0]


def alive_category_penalty(Model):
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.normal(size=ROWS), rng.integers(0, 60, ROWS)])
    y = (0.5 * X[:, 0] + rng.normal(size=ROWS) > 0).astype(int)
    for penalty, column in ((0.0, 1), (1.0, 0), (1e9, 0)):
        model = Model(max_depth=1, categorical_features=[1], category_penalty=penalty)
        assert model.fit(X, y).tree_.feature[0] == column


def alive_max_bins(Model):
    X, y = np.arange(ROWS, dtype=float)[:, None], np.arange(ROWS) % 2
    assert Model().fit(X, y).get_n_leaves() == ROWS
    binned = Model(max_bins=6).fit(X, (np.arange(ROWS) // 40) % 2)  # six bins of 40 rows
    assert binned.get_n_leaves() == 6
    np.testing.assert_array_equal(_leaves(binned, "count"), 40)
    assert Model(max_bins=5).fit(X, y + X[:, 0] // 1).get_n_leaves() == 5


def alive_n_jobs(Model, monkeypatch):
    from arboretum.engine import parallel

    asked = []
    run = parallel.run

    def spy(work, items, n_jobs):
        asked.append(n_jobs)
        run(work, items, n_jobs)

    rng = np.random.default_rng(3)
    X = rng.normal(size=(8000, 10))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    monkeypatch.setattr(parallel, "run", spy)
    models = {}
    for n_jobs in (1, 3):
        models[n_jobs] = Model(n_jobs=n_jobs, max_depth=6).fit(X, y)
        assert max(asked) == n_jobs
        asked.clear()
        models[n_jobs].predict(X)
        assert max(asked) == n_jobs
        asked.clear()
    assert same_trees(models[1], models[3])


ALIVE: dict[str, Callable] = {
    name.removeprefix("alive_"): test
    for name, test in list(globals().items())
    if name.startswith("alive_")
}


def _parameters(Model) -> list[str]:
    return sorted(Model().get_params())


@pytest.mark.parametrize(
    ("Model", "name"), [(Model, name) for Model in BOTH for name in _parameters(Model)]
)
def test_parameter_is_alive(Model, name, monkeypatch):
    """A parameter without an entry fails here with a KeyError."""
    if name == "n_jobs":
        ALIVE[name](Model, monkeypatch)
    else:
        ALIVE[name](Model)


# ---------------------------------------------------------------------- bad values
SEED = "an int from 0 to 2**64 - 1 or a RandomState or a Generator or None"
JOBS = "a positive int, a negative int (-1: all cores) or None"
MAX_FEATURES = "an int ≥ 1 or a float in (0, 1] or 'sqrt', 'log2' or None"
NAN, INF = float("nan"), float("inf")

BAD = {
    "splitter": ("'best' or 'random'", ["Best", "worst", None, 1, b"best", ["best"]]),
    "max_depth": ("an int ≥ 1 or None", [-3, 0, 2.0, "3", True, NAN, INF, [3], np.float64(3)]),
    "min_samples_split": (
        "an int in the range [2, inf) or a float in the range (0.0, 1.0]",
        [1, 0, -2, 0.0, 1.5, -0.1, "2", None, True, NAN, INF],
    ),
    "min_samples_leaf": (
        "an int ≥ 1 or a float in (0, 1)",
        [0, -1, 0.0, 1.0, 2.5, "1", None, False, NAN],
    ),
    "min_weight_fraction_leaf": (
        "a number in [0, 0.5]",
        [-0.1, 0.51, 1, "0", None, True, NAN, INF],
    ),
    "max_features": (MAX_FEATURES, [0, -1, 0.0, 1.5, "auto", "SQRT", True, NAN, [1], ("sqrt",)]),
    "random_state": (SEED, [-1, 1.5, "0", True, 2**64, [1], np.random]),
    "max_leaf_nodes": ("an int ≥ 2 or None", [1, 0, -5, 4.0, "4", True]),
    "min_impurity_decrease": ("a number ≥ 0", [-1e-9, "0", None, True, NAN, INF, 10**400]),
    "ccp_alpha": ("a number ≥ 0", [-0.1, "0", None, False, NAN, INF]),
    "unseen": ("'missing', 'ignore' or 'error'", ["what", None, 0, "Missing"]),
    "surrogates": ("an int ≥ 0", [-1, 5.0, "5", None, True]),
    "max_bins": ("an int from 2 to 65535 or None", [1, 0, 65_536, 2.0, "16", True]),
    "category_penalty": ("a number ≥ 0", [-0.1, "1", None, np.nan]),
    "n_jobs": (JOBS, [0, 1.0, "2", True]),
}
CLASSIFIER_BAD = {
    "criterion": (
        "'gini', 'entropy', 'log_loss' or 'error'",
        ["squared_error", "Gini", None, 1, "mse"],
    ),
    "class_weight": (
        "a dict, a list of dicts or 'balanced' or None",
        ["balance", 2, (1, 2), True],
    ),
}
REGRESSOR_BAD = {
    "criterion": (
        "'squared_error', 'friedman_mse', 'absolute_error' or 'poisson'",
        ["gini", "mse", None, 0],
    ),
}
BAD_CASES = [
    pytest.param(Model, name, value, phrase, id=f"{Model.__name__}-{name}-{value!r:.20}")
    for Model, more in ((CARTClassifier, CLASSIFIER_BAD), (CARTRegressor, REGRESSOR_BAD))
    for name, (phrase, values) in (BAD | more).items()
    for value in values
]


@pytest.mark.parametrize(("Model", "name", "value", "phrase"), BAD_CASES)
def test_bad_value_is_named_at_fit(Model, name, value, phrase):
    model = Model(**{name: value})  # like scikit-learn, construction checks nothing
    with pytest.raises(ParameterError) as caught:
        model.fit([[0.0], [1.0]], [0, 1])
    told, _, today = str(caught.value).partition(f", got {value!r}")
    assert told == f"The {name!r} parameter of {Model.__name__} must be {phrase}"
    assert not today or (value in ("auto", "mse", "mae") and today.startswith(": "))
    assert not hasattr(model, "tree_")


def test_every_plain_parameter_has_a_table_of_bad_values():
    looked_at_with_the_data = {"monotonic_cst", "categorical_features", "ordinal_features"}
    for Model, more in ((CARTClassifier, CLASSIFIER_BAD), (CARTRegressor, REGRESSOR_BAD)):
        assert set(BAD | more) | looked_at_with_the_data == set(Model().get_params())


GOOD = {
    "max_depth": [1, np.int64(3), None],
    "min_samples_split": [2, 1.0, np.float32(0.5), np.uint8(4)],
    "min_samples_leaf": [1, 0.5, np.int8(2)],
    "min_weight_fraction_leaf": [0, 0.5, np.float64(0.1)],
    "max_features": [1, 1.0, 0.001, np.int32(2), "log2", 10**9],
    "random_state": [0, 2**32 - 1, 2**64 - 1, np.uint32(7)],
    "max_leaf_nodes": [2, 10**9, np.int64(4)],
    "min_impurity_decrease": [0, 1e308, np.float32(0.1)],
    "ccp_alpha": [0, 5, 1e308],
    "surrogates": [0, 10**6],
    "max_bins": [2, 65_535, np.int16(9)],
    "category_penalty": [0, 0.0, 2, 1e9],
    "n_jobs": [1, -1, -100, 10**9, np.int64(2), None],
}


@pytest.mark.parametrize("Model", BOTH)
@pytest.mark.parametrize(("name", "value"), [(n, v) for n, values in GOOD.items() for v in values])
def test_edge_of_the_allowed_works(Model, name, value):
    model = fitted(Model, **{name: value})
    assert model.predict(data_for(Model)[0]).shape == (ROWS,)
    if name in ("max_features", "n_jobs"):  # where columns are drawn, work is cut up differently
        fitted(Model, **{"max_features": 2, "random_state": 0, name: value})


TABLE = pd.DataFrame({"age": [20.0, 30, 40, 50] * 5, "city": ["Bern", "Oslo"] * 10})
WITH_DATA = [
    ({"monotonic_cst": {"agge": 1}}, "monotonic_cst contains 1 unexpected .*'agge'.*'age', 'city'"),
    ({"monotonic_cst": {"city": 1}}, "monotonic_cst constrains 'city', a category"),
    (
        {"monotonic_cst": {"age": 2}},
        r"monotonic_cst\['age'\] must be either -1, 0 or 1. Got 2",
    ),
    (
        {"monotonic_cst": {"age": "up"}},
        r"monotonic_cst\['age'\] must be either -1, 0 or 1. Got 'up'",
    ),
    (
        {"monotonic_cst": [1, None]},
        r"array-like of -1, 0 or 1. It holds \[None\]",
    ),
    (
        {"monotonic_cst": [1, 0.5]},
        r"array-like of -1, 0 or 1. It holds \[0.5\]",
    ),
    (
        {"monotonic_cst": [1, [0]]},
        r"array-like of -1, 0 or 1. It holds \[\[0\]\]",
    ),
    ({"monotonic_cst": [1]}, r"monotonic_cst .* each of the 2 columns.*got \[1\]"),
    ({"monotonic_cst": "up"}, "monotonic_cst .* each of the 2 columns.*got 'up'"),
    ({"monotonic_cst": 1}, "monotonic_cst .* each of the 2 columns.*got 1"),
    ({"categorical_features": "city"}, "categorical_features must be None or a list"),
    ({"categorical_features": 1}, "categorical_features must be None or a list"),
    (
        {"categorical_features": ["citi"]},
        "an item value 'citi' .*did you mean 'city'",
    ),
    ({"categorical_features": [5]}, r"indices must be in .* = \[0, 1\], got 5"),
    ({"categorical_features": [-1]}, "indices must be in .* got -1"),
    ({"categorical_features": [True]}, "set as a boolean mask must have shape .* the mask 1"),
    ({"categorical_features": [0.5]}, "array-like of bool, int or str, got: float64. .* not 0.5"),
    (
        {"ordinal_features": ["agee"]},
        "ordinal_features has an item value 'agee' .*did you mean 'age'",
    ),
    ({"ordinal_features": {"city": "Bern"}}, r"ordinal_features\['city'\] must be a list"),
    ({"ordinal_features": {"city": []}}, r"ordinal_features\['city'\] must hold every value once"),
    (
        {"categorical_features": ["city"], "ordinal_features": ["city"]},
        "categorical_features and ordinal_features both name 'city'",
    ),
]


@pytest.mark.parametrize("Model", BOTH)
@pytest.mark.parametrize(("parameters", "message"), WITH_DATA)
def test_parameter_that_does_not_fit_the_table(Model, parameters, message):
    with pytest.raises(ParameterError, match=message):
        Model(**parameters).fit(TABLE, [0, 1, 1, 0] * 5)


def test_ordinal_value_that_is_not_listed():
    with pytest.raises(DataError, match=r"column 'city' holds 'Oslo' \(rows 1, 3, 5.*ordinal_feat"):
        CARTClassifier(ordinal_features={"city": ["Bern"]}).fit(TABLE, [0, 1] * 10)


@pytest.mark.parametrize("Model", BOTH)
def test_monotone_constraints_need_one_order(Model):
    y = [0, 1, 2, 0] * 5 if Model is CARTClassifier else np.ones((20, 2))
    with pytest.raises(
        ParameterError,
        match=r"Monotonicity constraints are not supported with .*monotonic_cst works",
    ):
        Model(monotonic_cst={"age": 1}).fit(TABLE, y)
    with pytest.raises(ParameterError, match="not supported with multiple output"):
        Model(monotonic_cst=[1]).fit(TABLE, np.ones((20, 2), int))  # also of a wrong length


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({"yess": 2}, "class_weight names the classes 'yess', which y does not hold.*'no', 'yes'"),
        ({"yes": -1}, "class_weight must give every class a number ≥ 0, got -1 for 'yes'"),
        ({"yes": NAN}, "class_weight must give every class a number ≥ 0, got nan for 'yes'"),
        ({"yes": INF}, "class_weight must give every class a number ≥ 0, got inf for 'yes'"),
        ({"yes": "2"}, "class_weight must give every class a number ≥ 0, got '2' for 'yes'"),
        ({"yes": 0, "no": 0}, "class_weight leaves no row a weight"),
        ([{"yes": 2}, {"no": 1}], "number of outputs. It must be 'balanced' or a list of one dict"),
        ([3], "class_weight must hold dicts or 'balanced', got 3"),
    ],
)
def test_class_weight_that_does_not_fit_the_classes(class_weight, message):
    with pytest.raises(ParameterError, match=message):
        CARTClassifier(class_weight=class_weight).fit(TABLE, ["no", "yes"] * 10)


def test_class_weight_may_name_a_class_that_this_part_of_the_data_lacks():
    weights = {"no": 1, "yes": 3, "rare": 50}
    model = CARTClassifier(class_weight=weights).fit(TABLE, ["no", "yes"] * 10)
    np.testing.assert_allclose(model.tree_.value[0, 0], [0.25, 0.75])


def test_parameters_are_checked_where_they_are_used_after_fit():
    X, y = data_for(CARTClassifier)
    model = CARTClassifier().fit(X, y)
    with pytest.raises(ParameterError, match="n_jobs must be"):
        model.set_params(n_jobs=0).predict(X)
    with pytest.raises(
        ParameterError, match="unseen must be 'missing', 'ignore' or 'error', got 'what'"
    ):
        model.set_params(n_jobs=1, unseen="what").predict(X)
    with pytest.raises(ParameterError, match="rule of prune_cv must be 'min' or '1se', got '2se'"):
        model.set_params(unseen="error").prune_cv(X, y, rule="2se")


# ---------------------------------------------------------------------- unknown parameters
@pytest.mark.parametrize("Model", BOTH)
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("max_dept", "max_depth"),
        ("maxdepth", "max_depth"),
        ("MAX_DEPTH", None),
        ("min_sample_leaf", "min_samples_leaf"),
        ("njobs", "n_jobs"),
        ("random_seed", "random_state"),
        ("surrogate", "surrogates"),
        ("max_depth__x", "max_depth"),
        ("zzz", None),
    ],
)
def test_unknown_parameter_is_refused_with_a_suggestion(Model, name, meant):
    hint = f"did you mean {meant!r}?" if meant else "it has "
    message = re.escape(f"{Model.__name__} has no parameter {name!r}: {hint}")
    with pytest.raises(ParameterError, match=message):
        Model(**{name: 3})
    model = Model(max_depth=2)
    with pytest.raises(ParameterError, match=message):
        model.set_params(**{name: 3})
    assert model.get_params() == Model(max_depth=2).get_params()
    with pytest.raises(TypeError):  # what Python itself would raise
        Model(**{name: 3})


def test_class_weight_belongs_to_the_classifier():
    with pytest.raises(
        ParameterError, match="DecisionTreeRegressor has no parameter 'class_weight'"
    ):
        CARTRegressor(class_weight="balanced")


def test_a_list_of_known_parameters_when_nothing_is_close():
    with pytest.raises(
        ParameterError,
        match=r"it has categorical_features, category_penalty, ccp_alpha, .*, unseen$",
    ):
        CARTRegressor(zzz=1)


def test_a_subclass_with_its_own_parameters_is_checked_too():
    class Stump(CARTClassifier):
        def __init__(self, *, criterion="gini"):
            super().__init__(criterion=criterion, max_depth=1)

    assert Stump().fit(*data_for(CARTClassifier)).get_depth() == 1
    with pytest.raises(ParameterError, match="Stump has no parameter 'criterium': did you mean"):
        Stump(criterium="gini")
