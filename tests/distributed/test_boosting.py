"""Boosters on tables whose rows stay on workers: the file of the local fit, whichever workers are lost."""

from __future__ import annotations

import io
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arboretum
from arboretum.errors import DataError, ParameterError, WorkerError
from tests.distributed.here import Pieces, cut, workers
from tests.golden.cases import all_cases
from tests.golden.make import differences, read_lines, run
from tests.golden.tables import Table

GOLDEN = [c for c in all_cases() if c.family in ("xgb", "lgbm", "ranking")]


def table(n=300, seed=0):
    """Gaps, whole numbers, words; categories of which some occur once."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, 3)), columns=list("abc"))
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    X["count"] = rng.integers(0, 6, n)
    X["city"] = rng.choice(["Bern", "Oslo", "Rome", "Lima", "Bonn", "Graz"], n).astype(object)
    X.loc[n // 2, "city"] = "Ulm"
    y = np.where(X["a"] + (X["city"] == "Oslo") + 0.3 * rng.standard_normal(n) > 0.3, "yes", "no")
    weight = rng.integers(0, 3, n).astype(float)
    return X, pd.Series(y, name="y"), pd.Series(weight, name="w")


def to_bytes(model):
    model.save(out := io.BytesIO())
    return out.getvalue()


@pytest.mark.parametrize("family", ["xgb", "lgbm", "ranking"])
def test_golden_fits_from_partitions(family):
    rows = Table.rows

    def in_pieces(self, *, new):
        X = rows(self, new=new)
        if new or hasattr(X, "tocsr") or isinstance(X, list):
            return X
        return cut(X, [0, len(X) // 5, len(X) // 5, len(X) // 2])

    with workers() as seen, mock.patch.object(Table, "rows", in_pieces):
        made = {case.name: run(case) for case in GOLDEN if case.family == family}
    assert seen.count("begin") > len(made)
    assert list(differences(read_lines(), made)) == []


@settings(deadline=None, max_examples=12)
@given(
    st.integers(0, 10**6),
    st.integers(1, 200),
    st.lists(st.integers(0, 200), max_size=12),
    st.integers(1, 5),
    st.sampled_from(["LGBMClassifier", "XGBClassifier"]),
    st.booleans(),
)
def test_any_partition_on_any_workers(seed, n, places, number, name, weighted):
    X, y, w = table(max(n, 2), seed)
    places = [place % (len(X) + 1) for place in places]
    more = {"sample_weight": w + (w.sum() == 0)} if weighted else {}
    parameters = (
        {"n_estimators": 3, "tree_method": "hist"} if name[0] == "X" else {"n_estimators": 3}
    )
    make = getattr(arboretum, name)
    expected = make(**parameters).fit(X, y, eval_set=[(X, y), (X[:1], y[:1])], **more)
    with workers(number):
        given = cut(X, places)
        held = [(given, y), (Pieces([X[:1]]), y[:1])]
        found = make(**parameters).fit(given, y, eval_set=held, **more)
    assert to_bytes(found) == to_bytes(expected)


def test_one_row():
    X = np.array([[1.0, 2.0]])
    for make in (arboretum.LGBMRegressor, arboretum.XGBRegressor):
        expected = make(n_estimators=2).fit(X, [3.0])
        with workers():
            assert to_bytes(make(n_estimators=2).fit(Pieces([X[:0], X]), [3.0])) == to_bytes(
                expected
            )


def test_names_of_columns_stand_for_arrays():
    X, y, w = table()
    expected = arboretum.LGBMClassifier(n_estimators=3)
    expected.fit(X, y, sample_weight=w, eval_set=[(X, y), (X[:50], y[:50])])
    with workers() as seen:
        whole = cut(X.assign(y=y, w=w), [100, 150])
        part = cut(X.assign(label=y)[:50], [20])
        found = arboretum.LGBMClassifier(n_estimators=3)
        found.fit(whole, "y", sample_weight="w", eval_X=(whole, part), eval_y=("y", "label"))
    assert "begin" in seen
    assert to_bytes(found) == to_bytes(expected)
    assert list(found.evals_result_) == ["training", "valid_1"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: arboretum.BoostedTreesClassifier(random_state=0),
        lambda: arboretum.CARTClassifier(max_depth=3, random_state=0),
        lambda: arboretum.GradientBoostingClassifier(n_estimators=2, random_state=0),
    ],
)
def test_models_that_need_the_whole_table_gather_it(make):
    X, y, _ = table(120)
    with workers() as seen:
        found = make().fit(cut(X[["a", "b"]], [50]), y)
    assert seen == []
    assert to_bytes(found) == to_bytes(make().fit(X[["a", "b"]], y))


def test_unseen_categories_of_held_out_rows_give_one_warning():
    X, y, _ = table()
    held = X[:9].assign(
        city=["Bern", "Kiel", "Kiel", "Lima", "Metz", "Rome", "Kiel", "Bern", "Bern"]
    )
    expected = arboretum.LGBMClassifier(n_estimators=2)
    with pytest.warns(UserWarning, match="unseen") as here:
        expected.fit(X, y, eval_set=[(held, y[:9])])
    found = arboretum.LGBMClassifier(n_estimators=2)
    with workers(), pytest.warns(UserWarning, match="unseen") as there:
        found.fit(cut(X, [100]), y, eval_set=[(cut(held, [2, 4]), y[:9])])
    assert [str(one.message) for one in here] == [str(one.message) for one in there]
    assert to_bytes(found) == to_bytes(expected)


def test_small_collections_are_gathered():
    X, y, w = table()
    expected = arboretum.XGBClassifier(n_estimators=3).fit(X, y, sample_weight=w)
    given, found = cut(X.assign(y=y, w=w), [100]), arboretum.XGBClassifier(n_estimators=3)
    with workers(few=301) as seen, pytest.warns(UserWarning, match="300 rows in all"):
        found.fit(given, "y", sample_weight="w")
    assert "begin" not in seen
    assert to_bytes(found) == to_bytes(expected)


def _fit(sampling="bagging", **more):
    X, y, w = table()
    given = cut(X.assign(y=y), [60, 120, 120, 200])
    held = [(given, "y"), (cut(X[:40], [10]), y[:40])]
    model = arboretum.LGBMClassifier(
        n_estimators=3, num_leaves=6, learning_rate=0.9, data_sample_strategy=sampling
    )
    return model.fit(given, "y", sample_weight=w, eval_set=held, **more)


@pytest.mark.parametrize("sampling", ["bagging", "goss"])  # with and without margins on workers
def test_a_worker_may_be_lost_at_any_message(sampling):
    with workers() as seen:
        expected = to_bytes(_fit(sampling))
    names = list(seen)
    assert {"of", "add_twin", "code", "prepare", "begin", "split", "sums"} <= set(names)
    assert ("leaves" in names) == (sampling == "goss")
    moments = [k for k in range(1, len(names) + 1) if k < 12 or k % 5 == 0]
    for k in moments:
        with workers(deaths=[(k % 3, k), (2, k)]):
            assert to_bytes(_fit(sampling)) == expected, (k, names[k - 1])


@pytest.mark.parametrize("begin", [1, 20])
def test_the_third_loss_of_the_same_rows_is_an_error(begin):
    deaths = [(1, k) for k in range(begin, 500)]
    lost = pytest.raises(WorkerError, match=r"partitions .* lost 3 times")
    with workers(deaths=deaths), lost as error:
        _fit()
    assert "worker 0: " in str(error.value)  # what there is


def test_a_lost_coordinator_resumes_from_its_snapshot(tmp_path):
    with workers():
        expected = to_bytes(_fit())

    class Lost(Exception):
        pass

    def die(env):
        if env.iteration == 1:
            raise Lost

    snapshot = {"save_snapshot": tmp_path / "run", "snapshot_every": 1}
    with workers(), pytest.raises(Lost):
        _fit(callbacks=[die], **snapshot)
    with workers(2) as seen:
        assert to_bytes(_fit(resume=True, **snapshot)) == expected
    assert seen.count("begin") == 1 or seen.count("begin") == 2
    X, y, _ = table()
    other = cut(X[::-1], [50])
    with workers(), pytest.raises(DataError, match="other data"):
        arboretum.LGBMClassifier().fit(other, y, resume=True, **snapshot)


BAD = {
    "infinite": (lambda X: X.assign(a=[*X["a"][:-1], np.inf]), r"partition 2: .*infinite"),
    "another type": (lambda X: [X[:200], X[200:].assign(a="x")], "'a' holds .*words"),
    "other columns": (lambda X: [X[:100], X[100:].drop(columns="c")], "lacks 'c'"),
    "no rows": (lambda X: [X[:0], X[:0]], "no rows in any of its 2 partitions"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_partitions_are_named(case):
    make, what = BAD[case]
    X, y, _ = table()
    made = make(X)
    given = Pieces(made) if isinstance(made, list) else cut(made, [100, 200])
    with workers(), pytest.raises(DataError, match=what):
        arboretum.LGBMClassifier(n_estimators=2).fit(given, y)


def test_what_needs_the_whole_table_is_refused():
    X = np.random.default_rng(0).random((1100, 2))
    for method in ("exact", "approx"):
        with workers(), pytest.raises(ParameterError, match="whole table in memory"):
            arboretum.XGBRegressor(tree_method=method).fit(cut(X, [500]), X[:, 0])
    with workers(), pytest.raises(DataError, match="no column 'label'"):
        arboretum.XGBRegressor().fit(cut(X, [500]), "label")
