"""Words of many levels in symmetric trees: statistics as in the textbook, trees that split on words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import arboretum as arb
from arboretum.base.sampling import hashes
from arboretum.boosting.averaged import estimator
from arboretum.boosting.averaged.target_statistics import (
    _ORDER,
    columns_of_many_levels,
    find_statistics,
)
from arboretum.boosting.second_order.recipe import TrainingTable
from arboretum.data.schema import learn_schema
from arboretum.engine.keys import key_of
from arboretum.predict.ensemble import Ensemble
from arboretum.textbook.target_statistics import level_statistics, ordered_statistics
from tests.boosting.averaged.averaged_cases import saved

N = 2_100


def cities(n=N, seed=0):
    """Return a table with words of many, of some and of few levels, and a number that follows them."""
    rng = np.random.default_rng(seed)
    city, street, soil = rng.integers(0, 60, n), rng.integers(0, 12, n), rng.integers(0, 3, n)
    frame = pd.DataFrame(
        {
            "city": pd.Series([f"city {k}" for k in city]).where(rng.random(n) > 0.05),
            "size": rng.normal(size=n),
            "street": [f"street {k}" for k in street],
            "soil": np.array(["clay", "sand", "peat"])[soil],
        }
    )
    effect = np.random.default_rng(1).normal(size=60)[city]
    return frame, effect + frame["size"] + street / 12 + soil / 9 + rng.normal(size=n) / 2


FRAME, NUMBER = cities()
TWO = np.where(NUMBER > 0.5, "yes", "no")
THREE = np.digitize(NUMBER, np.quantile(NUMBER, [0.3, 0.8]))
TARGETS = {"number": NUMBER, "two": TWO, "three": THREE}


def training(y, n_classes, weight=None, frame=FRAME):
    schema, matrix = learn_schema(frame)
    return TrainingTable(matrix, y.astype(np.float64), weight, schema=schema, n_classes=n_classes)


# ---------------------------------------------------------------------- the numbers
def test_columns_of_many_levels_bring_those_of_some_levels_along():
    assert columns_of_many_levels(learn_schema(FRAME)[0]) == [0, 2]
    assert columns_of_many_levels(learn_schema(FRAME[["street", "soil"]])[0]) == []


@pytest.mark.parametrize(
    ("y", "n_classes", "targets"),
    [
        (NUMBER.to_numpy(), None, [NUMBER]),
        ((TWO == "yes").astype(float), 2, [TWO == "yes"]),
        (THREE, 3, [THREE == 1, THREE == 0, THREE == 2]),  # by size
    ],
)
def test_statistics_are_those_of_the_textbook(y, n_classes, targets):
    table, rows = training(np.asarray(y), n_classes), np.arange(N - 300).astype(np.uint32)
    found = find_statistics(table, [2, 0], rows, seed=5)
    assert [one.column for one in found] == [2] * len(targets) + [0] * len(targets)
    for k, one in enumerate(found):
        words = FRAME.iloc[:, one.column]
        target = np.asarray(targets[k % len(targets)], np.float64)
        prior = target[: len(rows)].mean()
        hashed = hashes(key_of(5, _ORDER, one.column), len(rows))
        known = np.flatnonzero(words[: len(rows)].notna())
        learned = words[known].tolist(), target[known]
        expected = np.full(len(rows), prior)
        expected[known] = ordered_statistics(*learned, np.argsort(hashed[known]), prior)
        assert np.allclose(one.of_rows[: len(rows)], expected, atol=1e-6)
        by_level = level_statistics(*learned, prior)
        held = [by_level.get(word, prior) for word in words[len(rows) :]]
        assert np.allclose(one.of_rows[len(rows) :], held, atol=1e-6)
        assert np.isclose(one.by_level[-1], prior)


def test_unseen_words_go_the_way_of_the_prior():
    rng = np.random.default_rng(0)
    name, y = rng.integers(0, 900, N), rng.integers(0, 2, N)
    frame = pd.DataFrame({"name": [f"name {k}" for k in name], "size": rng.normal(size=N)})
    frame.loc[:99, "name"], y[:100] = None, 1  # missing names are of one class
    model = arb.BoostedTreesClassifier(random_state=0).fit(frame, y)
    new = pd.DataFrame({"name": [f"new {k}" for k in range(500)], "size": rng.normal(size=500)})
    with pytest.warns(arb.UnseenCategoryWarning):
        assert abs(model.predict_proba(new)[:, 1].mean() - y[100:].mean()) < 0.1


def test_a_column_may_be_missing_in_all_rows_that_are_learned_from():
    y = (TWO == "yes").astype(float)
    rows = np.flatnonzero(FRAME["city"].isna()).astype(np.uint32)
    (found,) = find_statistics(training(y, 2), [0], rows, seed=0)
    assert np.allclose(found.of_rows, y[rows].mean())


def test_weights_count_as_rows():
    some, y = FRAME[:200], (TWO == "yes")[:200].astype(float)
    twice = np.r_[np.arange(200), np.arange(50)]
    weighed = find_statistics(training(y, 2, 1.0 + (np.arange(200) < 50), some), [0], None, 0)
    repeated = find_statistics(training(y[twice], 2, None, some.iloc[twice]), [0], None, 0)
    assert np.allclose(weighed[0].by_level, repeated[0].by_level)


# ---------------------------------------------------------------------- the trees
@pytest.mark.parametrize("name", TARGETS)
def test_trees_on_words_answer_as_the_table_of_statistics_does(name, monkeypatch):
    works = []

    def find_and_grow(work):
        works.append(work)
        raise InterruptedError

    monkeypatch.setattr(estimator, "find_and_grow", find_and_grow)
    kind = arb.BoostedTreesRegressor if name == "number" else arb.BoostedTreesClassifier
    with pytest.raises(InterruptedError):
        kind(random_state=0).fit(FRAME, TARGETS[name])
    (work,), fold = works, works[0].folds[0]
    booster = work.ground.booster("symmetric", fold.rows, 7, 1)
    for _ in range(20):
        booster.round()
    answers = Ensemble(booster.trees, np.array(booster.weights), booster.base)
    assert np.allclose(answers.answers(fold.matrix), booster.margin[fold.held], rtol=0, atol=1e-12)
    columns = {
        tree.column(f).name for tree in booster.trees for f in tree.feature[tree.feature >= 0]
    }
    assert {"city", "size"} <= columns <= set(FRAME)
    assert any(tree.kind[tree.feature == 0].size for tree in booster.trees)
    learned = np.asarray(fold.rows)
    seen = answers.answers(work.ground.training.matrix.take(learned)) - booster.margin[learned]
    assert np.abs(seen).max() > 0.01  # rows that are learned from have not seen their own target


@pytest.mark.parametrize("name", TARGETS)
def test_a_model_of_words_behaves_as_any_other(name, tmp_path):
    kind = arb.BoostedTreesRegressor if name == "number" else arb.BoostedTreesClassifier
    model = kind(random_state=0, unseen="ignore").fit(FRAME, TARGETS[name])
    assert any(member.kind == "symmetric" for member in model.members_)
    assert "city, street as target statistics" in repr(model.choices_)
    raw = model.predict if name == "number" else model.decision_function
    new, y = cities(400, seed=3)
    values, base = model.shap_values(new[:20]), model.shap_base_value()
    assert np.allclose(values.sum(axis=1) + base, raw(new[:20]))
    model.save(tmp_path / "model")
    assert np.array_equal(raw(new), raw_of(arb.load(tmp_path / "model"), name)(new))
    threads = kind(random_state=0, n_jobs=3, unseen="ignore").fit(FRAME, TARGETS[name])
    assert saved(threads) == saved(model)
    unseen = new.assign(city="elsewhere")
    assert np.array_equal(raw(unseen), raw(new.assign(city=None)))
    if name == "number":
        assert np.corrcoef(model.predict(new), y)[0, 1] > 0.9


def raw_of(model, name):
    return model.predict if name == "number" else model.decision_function


def test_sparse_tables_and_words_of_few_levels_keep_their_categories():
    few = arb.BoostedTreesRegressor(random_state=0).fit(FRAME[["street", "soil", "size"]], NUMBER)
    assert "statistics" not in repr(few.choices_)
    codes = np.random.default_rng(0).integers(0, 40, (N, 1)).astype(float)
    table = sparse.csr_array(np.hstack([codes, FRAME[["size"]].to_numpy()]))
    model = arb.BoostedTreesRegressor(random_state=0, categorical_features=[0])
    assert "statistics" not in repr(model.fit(table, NUMBER).choices_)


def test_monotone_constraints_hold_beside_statistics():
    signs = {"size": 1}
    model = arb.BoostedTreesClassifier(random_state=0, monotonic_cst=signs).fit(FRAME, TWO)
    some = FRAME[:50]
    rising = [model.decision_function(some.assign(size=size)) for size in np.linspace(-3, 3, 30)]
    assert (np.diff(rising, axis=0) >= -1e-12).all()
