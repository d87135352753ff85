"""Exact partial dependence is brute force without the force: scikit-learn's function is the oracle."""

import numpy as np
import pytest
from sklearn.inspection import PartialDependenceDisplay
from sklearn.inspection import partial_dependence as brute

import arboretum as arb
from arboretum import partial_dependence
from arboretum.errors import DataError, ParameterError
from arboretum.explain.dependence.model_function import ModelFunction, matrix_of
from tests.explain.report.report_models import FAMILIES, fitted, new_rows


def numbers_table(n=150):
    rng = np.random.RandomState(3)
    X = np.round(rng.normal(size=(n, 4)), 2)
    X[:, 3] = rng.randint(0, 5, n)
    z = X[:, 0] * X[:, 1] + (X[:, 3] > 2) + 0.3 * rng.normal(size=n)
    return X, z


MODELS = [
    (lambda: arb.CARTRegressor(max_depth=4), "number"),
    (lambda: arb.CARTClassifier(max_depth=4), "two"),
    (lambda: arb.RandomForestClassifier(5, max_depth=4, random_state=0), "three"),
    (lambda: arb.AdaBoostClassifier(n_estimators=5), "two"),
    (lambda: arb.AdaBoostRegressor(n_estimators=4, random_state=0), "number"),
    (lambda: arb.GradientBoostingClassifier(n_estimators=4), "three"),
    (lambda: arb.GradientBoostingRegressor(n_estimators=4), "number"),
    (lambda: arb.XGBClassifier(n_estimators=5, max_depth=3), "two"),
    (lambda: arb.XGBRegressor(n_estimators=5, max_depth=3, objective="count:poisson"), "count"),
    (lambda: arb.LGBMClassifier(n_estimators=4, num_leaves=6, verbose=-1), "three"),
    (lambda: arb.CoordinateBoostingClassifier(max_iter=10), "two"),
    (lambda: arb.VotingClassifier([("a", arb.CARTClassifier(max_depth=2))], voting="soft"), "two"),
]


@pytest.fixture(
    scope="module", params=range(len(MODELS)), ids=lambda i: type(MODELS[i][0]()).__name__
)
def case(request):
    make, target = MODELS[request.param]
    X, z = numbers_table()
    y = {
        "number": z,
        "two": (z > 0.4).astype(int),
        "three": np.digitize(z, [0, 0.9]),
        "count": np.floor(np.abs(3 * z)),
    }[target]
    return make().fit(X, y), X


@pytest.mark.parametrize("features", [[0], [3], [0, 1]])
def test_it_is_what_brute_force_finds(case, features):
    model, X = case
    w = np.arange(len(X)) % 3.0
    found = partial_dependence(model, X, features, kind="both", grid_resolution=9, sample_weight=w)
    theirs = brute(
        model, X, features, kind="both", grid_resolution=9, sample_weight=w, method="brute"
    )
    for mine, other in zip(found.grid_values, theirs.grid_values, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12)
    np.testing.assert_allclose(found.individual, theirs.individual, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.average, theirs.average, rtol=1e-9, atol=1e-12)
    only = partial_dependence(model, X, features, grid_resolution=9, sample_weight=w)
    np.testing.assert_allclose(only.average, found.average, rtol=1e-9, atol=1e-12)
    assert "individual" not in only


@pytest.mark.parametrize("name", FAMILIES)
def test_words_and_gaps_are_points_as_well(name):
    """ModelFunction point by point, the model itself is the oracle."""
    model = fitted(name)
    X, _ = new_rows(name)
    custom = {"job": ["tech", None, "farm"], "hours": [30.0, np.nan]}
    found = partial_dependence(model, X[:20], ["job", "hours"], kind="both", custom_values=custom)
    ask, rows = ModelFunction(model), np.array(matrix_of(model, X[:20]).rows(0, 20))
    codes = [*model.schema_.columns[2].categories]
    for i, word in enumerate(custom["job"]):
        for j, hours in enumerate(custom["hours"]):
            changed = rows.copy()
            changed[:, 2] = np.nan if word is None else codes.index(word)
            changed[:, 1] = hours
            told = ask(changed)
            told = told[:, 1:] if ask.n_outputs == 2 else told
            np.testing.assert_allclose(found.individual[:, :, i, j].T, told, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(
                found.average[:, i, j], told.mean(axis=0), rtol=1e-9, atol=1e-12
            )
    assert found.grid_values[0].tolist() == ["tech", None, "farm"]


def test_the_same_bits_for_any_number_of_threads():
    X, z = numbers_table(4_000)
    model = arb.XGBRegressor(n_estimators=8, max_depth=4).fit(X, z)
    one = partial_dependence(model, X, [0, 2], grid_resolution=12, n_jobs=1).average
    two = partial_dependence(model, X, [0, 2], grid_resolution=12, n_jobs=3).average
    assert (one == two).all()


def test_raw_sums_are_before_the_link():
    X, z = numbers_table()
    model = arb.XGBClassifier(n_estimators=5, max_depth=3).fit(X, z > 0.4)
    raw = partial_dependence(model, X, 0, response="raw", kind="individual").individual
    shares = partial_dependence(model, X, 0, kind="individual").individual
    np.testing.assert_allclose(1 / (1 + np.exp(-raw)), shares, rtol=1e-12)
    with pytest.raises(ParameterError, match="no raw response"):
        partial_dependence(fitted("stacking"), new_rows("stacking")[0], "age", response="raw")


def test_scikit_learns_display_draws_it(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    X, z = numbers_table()
    model = arb.LGBMRegressor(n_estimators=4, verbose=-1).fit(X, z)
    found = model.partial_dependence(X, [1], kind="both", grid_resolution=10)
    display = PartialDependenceDisplay(
        [found], features=[(1,)], feature_names=["a", "b", "c", "d"], target_idx=0,
        deciles={1: np.quantile(X[:, 1], np.arange(0.1, 1, 0.1))}, kind="both",
    )  # fmt: skip
    assert display.plot().lines_.size


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"features": 9}, "there is no column 9"),
        ({"features": "aeg"}, "no column 'aeg'.*age"),
        ({"features": []}, "one or several different columns"),
        ({"features": ["age", "age"]}, "different columns"),
        ({"features": "age", "kind": "mean"}, "kind must be"),
        ({"features": "age", "response": "probability"}, "response must be"),
        ({"features": "age", "grid_resolution": 1}, "at least 2"),
        ({"features": "age", "percentiles": (0.9, 0.1)}, "increasing numbers"),
        ({"features": "job", "custom_values": {"job": ["tehc"]}}, "no category 'tehc'.*tech"),
    ],
)
def test_bad_arguments_say_what_to_do(arguments, says):
    with pytest.raises(ParameterError, match=says):
        partial_dependence(fitted("XGB"), new_rows("XGB")[0], **arguments)


def test_rows_that_weigh_nothing_have_no_mean():
    X, _ = new_rows("XGB")
    with pytest.raises(DataError, match="zero in every row"):
        partial_dependence(fitted("XGB"), X, "age", sample_weight=np.zeros(len(X)))
    with pytest.raises(DataError, match="no value in X"):
        partial_dependence(fitted("XGB"), X.assign(hours=np.nan), "hours")


@pytest.mark.parametrize("kinds", [(2, 2), (3, 3), (2, 3), (3, 2, 2)])
@pytest.mark.parametrize("model", [arb.CARTClassifier(max_depth=3), arb.RandomForestClassifier(4)])
def test_several_targets_stand_one_after_another(model, kinds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    Y = np.column_stack([np.digitize(X[:, k % 3], [0, 0.8][: n - 1]) for k, n in enumerate(kinds)])
    model.fit(X, Y)
    found = partial_dependence(model, X, [0], grid_resolution=4, kind="both")
    for at, value in enumerate(found.grid_values[0]):
        changed = X.copy()
        changed[:, 0] = value
        shares = model.predict_proba(changed)
        expected = np.hstack([s[:, 1:] if n == 2 else s for s, n in zip(shares, kinds)])
        np.testing.assert_allclose(found.individual[:, :, at], expected.T, atol=1e-12)
        np.testing.assert_allclose(found.average[:, at], expected.mean(axis=0), atol=1e-12)
