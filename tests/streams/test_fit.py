"""A streamed fit gives the model of the same table in memory, byte for byte, whatever the batches."""

import io
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arboretum
from arboretum.errors import DataError
from arboretum.streams import table as streamed

QUIET = {"XGBClassifier": {"verbose": False}, "XGBRegressor": {"verbose": False}}


def saved(model):
    model.save(file := io.BytesIO())
    return file.getvalue()


def table(seed, n):
    """Words, gaps, dates, dummies, single precision, weights of 0, two targets."""
    rng = np.random.default_rng(seed)
    some = rng.integers(0, 6, n)
    number = rng.standard_normal(n).round(1)
    columns = {
        "number": pa.array(number, mask=rng.random(n) < 0.2),
        "single": rng.standard_normal(n).astype(np.float32),
        "word": pa.array(rng.choice(["red", "blue", "Ω", ""], n), mask=rng.random(n) < 0.1),
        "whole": pa.array(rng.integers(0, 9, n), mask=rng.random(n) < 0.1),
        "day": pa.array(rng.integers(0, 50, n).astype("datetime64[D]").astype("datetime64[s]")),
        "flag": rng.random(n) < 0.5,
        **{f"is{k}": (some == k).astype(np.int8) for k in range(4)},
        "weight": rng.integers(0, 3, n) / 2 + (np.arange(n) < 2),
        "group": np.sort(rng.integers(0, 5, n)),
        "grade": rng.integers(0, 3, n),
        "class": rng.choice(["no", "yes", "perhaps"], n),
        "value": number * 2 + some + rng.standard_normal(n),
    }
    return pa.table(columns)


ROLES = ["weight", "group", "grade", "class", "value"]


def features(t):
    return t.drop_columns([name for name in ROLES if name in t.column_names])


def without(t, *used):
    """The table with its features and the columns of some roles."""
    return t.drop_columns([name for name in ROLES if name not in used])


def cut(t, places):
    ends = sorted({0, t.num_rows, *(place % (t.num_rows + 1) for place in places)})
    return [t.slice(lo, hi - lo) for lo, hi in pairwise(ends)]


MODELS = {
    "LGBMRegressor": ("value", {"min_child_samples": 2, "min_data_in_bin": 1}),
    "LGBMClassifier": ("class", {"min_child_samples": 2, "max_bin": 15, "subsample_for_bin": 50}),
    "XGBRegressor": ("value", {"max_bin": 300, "missing": 0.5, "tree_method": "hist"}),
    "XGBClassifier": ("class", {"max_depth": 3, "subsample": 0.7}),
}


@pytest.mark.parametrize("name", MODELS)
@settings(deadline=None, max_examples=8)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(30, 260),
    places=st.lists(st.integers(0, 260), max_size=5),
    weighted=st.booleans(),
)
def test_any_batches_give_the_file_of_the_fit_in_memory(name, seed, n, places, weighted):
    t = table(seed, n)
    target, parameters = MODELS[name]
    make = getattr(arboretum, name)
    weight = "weight" if weighted else None
    rows = t[weight].to_numpy() if weighted else None
    args = {"n_estimators": 4, "random_state": 5, **parameters}
    whole = make(**args).fit(features(t), t[target], sample_weight=rows, **QUIET.get(name, {}))
    some = without(t, target, *filter(None, [weight]))
    batches = cut(some, places)
    model = make(**args).fit(
        lambda: iter(batches), y=target, sample_weight=weight, **QUIET.get(name, {})
    )
    assert saved(model) == saved(whole)


def test_many_batches(monkeypatch):
    t = table(8, 300)
    whole = arboretum.LGBMRegressor(n_estimators=4).fit(features(t), t["value"])
    monkeypatch.setattr(streamed, "_PARTS", 3)
    batches = cut(without(t, "value"), list(range(0, 300, 7)))
    model = arboretum.LGBMRegressor(n_estimators=4).fit(lambda: iter(batches), "value")
    assert saved(model) == saved(whole)


OPTIONS = {
    "goss": ("LGBMRegressor", {"data_sample_strategy": "goss"}),
    "dart": ("LGBMRegressor", {"boosting_type": "dart", "drop_rate": 0.5}),
    "rf": ("LGBMRegressor", {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1}),
    "quantile": ("LGBMRegressor", {"objective": "quantile", "alpha": 0.3}),
    "balanced": ("LGBMClassifier", {"class_weight": "balanced"}),
    "a class of weight 0": ("LGBMClassifier", {"class_weight": {"perhaps": 0}}),
    "xgboost's dart": ("XGBRegressor", {"booster": "dart", "rate_drop": 0.5}),
    "columns": ("XGBClassifier", {"colsample_bynode": 0.5, "colsample_bytree": 0.7}),
    "categories by name": ("LGBMRegressor", {"categorical_features": ["whole"]}),
    "parallel trees": ("XGBRegressor", {"num_parallel_tree": 2, "subsample": 0.5}),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_options_give_the_file_of_the_fit_in_memory(option):
    name, parameters = OPTIONS[option]
    t = table(3, 300)
    target = MODELS[name][0]
    args = {"n_estimators": 5, "random_state": 1, **parameters}
    make, quiet = getattr(arboretum, name), QUIET.get(name, {})
    whole = make(**args).fit(features(t), t[target], **quiet)
    model = make(**args).fit(
        lambda: iter(cut(without(t, target), [70, 71, 200])), y=target, **quiet
    )
    assert saved(model) == saved(whole)


# ---------------------------------------------------------------------- what a fit takes besides
def fit_both(make, t, target, eval_rows=None, **arguments):
    """Fit in memory and streamed, with the same evaluation table."""
    held_out = table(9, 80)
    whole = make().fit(
        features(t), t[target], eval_set=[(features(held_out), held_out[target])], **arguments
    )
    streamed = make().fit(
        lambda: iter(cut(without(t, target), [100])), y=target,
        eval_set=[(lambda: iter(cut(without(held_out, target), [7])), target)], **arguments,
    )  # fmt: skip
    return whole, streamed


def test_evaluation_tables_are_streamed():
    whole, model = fit_both(
        lambda: arboretum.LGBMRegressor(
            n_estimators=30, random_state=1, early_stopping_round=3, verbosity=-1
        ),
        table(1, 300),
        "value",
    )
    assert saved(model) == saved(whole)
    assert model.best_iteration_ == whole.best_iteration_ > 0


def test_the_training_table_is_evaluated_by_its_margins():
    t = table(1, 200)
    source = without(t, "value")
    whole = arboretum.XGBRegressor(n_estimators=5)
    X, y = features(t), t["value"].to_numpy()
    whole.fit(X, y, eval_set=[(X, y)], verbose=False)
    model = arboretum.XGBRegressor(n_estimators=5)
    model.fit(source, y="value", eval_set=[(source, "value")], verbose=False)
    assert saved(model) == saved(whole)
    named = arboretum.LGBMRegressor(n_estimators=2).fit(
        source, "value", eval_set=[(source, "value")]
    )
    assert list(named.evals_result_) == ["training"]


def test_groups_and_their_weights():
    t = table(2, 300)
    sizes = np.unique(t["group"].to_numpy(), return_counts=True)[1]
    some = without(t, "grade", "group")
    args = {"n_estimators": 5, "random_state": 1}
    whole = arboretum.LGBMRanker(**args).fit(features(t), t["grade"], group=sizes)
    model = arboretum.LGBMRanker(**args).fit(lambda: iter(cut(some, [5])), "grade", group="group")
    assert saved(model) == saved(whole)
    model = arboretum.LGBMRanker(**args).fit(without(t, "grade"), "grade", group=sizes)
    assert saved(model) == saved(whole)
    weights = np.arange(len(sizes)) + 1.0
    whole = arboretum.XGBRanker(**args).fit(
        features(t), t["grade"], group=sizes, sample_weight=weights
    )
    for name in ("qid", "group"):
        model = arboretum.XGBRanker(**args)
        model.fit(some, "grade", **{name: "group"}, sample_weight=weights)
        assert saved(model) == saved(whole)


def test_groups_of_evaluation_tables():
    t, held_out = table(2, 300), table(3, 90)
    X, y = features(held_out), held_out["grade"]
    sizes = [np.unique(one["group"].to_numpy(), return_counts=True)[1] for one in (t, held_out)]
    whole = arboretum.LGBMRanker(n_estimators=4)
    whole.fit(features(t), t["grade"], group=sizes[0], eval_set=[(X, y)], eval_group=[sizes[1]])
    model = arboretum.LGBMRanker(n_estimators=4).fit(
        without(t, "grade", "group"), "grade", group="group",
        eval_set=[(without(held_out, "grade", "group"), "grade")], eval_group=["group"],
    )  # fmt: skip
    assert saved(model) == saved(whole)


def test_a_fit_continues_from_a_model():
    t = table(4, 300)
    first = arboretum.LGBMRegressor(n_estimators=3).fit(features(t), t["value"])
    whole = arboretum.LGBMRegressor(n_estimators=3).fit(features(t), t["value"], init_model=first)
    model = arboretum.LGBMRegressor(n_estimators=3)
    model.fit(lambda: iter(cut(without(t, "value"), [9, 10])), "value", init_model=first)
    assert saved(model) == saved(whole)


def test_a_snapshot_in_memory_continues_streamed(tmp_path):
    t = table(4, 300)
    X, y, path = features(t), t["value"], tmp_path / "run.snap"
    whole = arboretum.LGBMRegressor(n_estimators=6).fit(X, y)
    arboretum.LGBMRegressor(n_estimators=3).fit(X, y, save_snapshot=path, snapshot_every=3)
    model = arboretum.LGBMRegressor(n_estimators=6)
    model.fit(without(t, "value"), "value", save_snapshot=path, resume=True)
    assert saved(model) == saved(whole)


def test_margins_and_parallel_sources():
    t = table(5, 200)
    y, margin = t["value"], t["number"].fill_null(0)
    whole = arboretum.XGBRegressor(n_estimators=4).fit(
        features(t), y, base_margin=margin, verbose=False
    )
    model = arboretum.XGBRegressor(n_estimators=4).fit(
        lambda: iter(cut(features(t), [50])),
        y=lambda: iter(cut(t.select(["value"]), [20])),
        base_margin=margin.to_numpy(), verbose=False,
    )  # fmt: skip
    assert saved(model) == saved(whole)


@pytest.mark.parametrize(
    "name",
    ["RandomForest", "CART", "AdaBoost", "GradientBoosting", "Voting"],
)
def test_other_models_name_what_to_use(name):
    make = getattr(arboretum, f"{name}Regressor")
    model = make([]) if name == "Voting" else make()
    known = type(model).__name__
    with pytest.raises(DataError, match=f"{known} needs the table in memory.*memmap.*LGBM"):
        model.fit(lambda: iter([]), y="value")


def test_methods_that_need_every_value_are_refused():
    t = table(5, 1200)
    for method in ("exact", "approx"):
        model = arboretum.XGBRegressor(tree_method=method, n_estimators=1)
        with pytest.raises(arboretum.ParameterError, match=r"whole table in memory.*'hist'"):
            model.fit(without(t, "value").select(["number", "single", "value"]), "value")


def test_a_few_rows_are_searched_exactly_as_in_memory():
    t = table(6, 40).select(["number", "single", "value"])
    whole = arboretum.XGBRegressor(n_estimators=4).fit(t.select(["number", "single"]), t["value"])
    model = arboretum.XGBRegressor(n_estimators=4).fit(lambda: iter(cut(t, [3])), "value")
    assert saved(model) == saved(whole)
