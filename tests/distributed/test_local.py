"""Fits of collections that are gathered, trees grown on workers, and lazy predictions."""

import io

import numpy as np
import pandas as pd
import pytest

import arboretum
from arboretum.distributed import local
from arboretum.distributed.dask_cluster import DaskCluster
from arboretum.distributed.ray import actors
from arboretum.distributed.trees import grown_on
from arboretum.errors import ArboretumError, DataError
from tests.distributed.dummies import MortalTrees


def _table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.standard_normal((n, 4)), columns=list("abcd"))
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    X["city"] = rng.choice(["Bern", "Oslo", "Rome", "Lima", "Bonn", "Graz"], n)
    y = np.where(X["a"] + (X["city"] == "Oslo") + 0.3 * rng.standard_normal(n) > 0.3, "yes", "no")
    return X, pd.Series(y, name="y"), pd.Series(rng.integers(0, 3, n).astype(float), name="w")


def _bytes(model):
    model.save(out := io.BytesIO())
    return out.getvalue()


def _collections(engine, request, frame, partitions=3):
    """Return a frame as a collection."""
    if engine == "dask":
        import dask.dataframe as dd

        request.getfixturevalue("client")
        return dd.from_pandas(frame, npartitions=partitions)
    request.getfixturevalue("ray")
    import ray

    size = -(-len(frame) // partitions)
    return ray.data.from_pandas([frame[i : i + size] for i in range(0, len(frame), size)])


@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_small_collections_are_fitted_here_and_predictions_are_lazy(engine, request):
    X, y, w = _table()
    given = _collections(engine, request, X.assign(y=y, w=w))
    expected = arboretum.LGBMClassifier(n_estimators=4)
    expected.fit(X, y, sample_weight=w, eval_set=[(X.copy(), y)])
    with pytest.warns(UserWarning, match="400 rows in all"):
        model = arboretum.LGBMClassifier(n_estimators=4).fit(
            given, "y", sample_weight="w", eval_set=[(given.drop(columns=["w"]) if engine == "dask" else
                                                      given.drop_columns(["w"]), "y")],
        )  # fmt: skip
    assert _bytes(model) == _bytes(expected)
    rows = _collections(engine, request, X)
    if engine == "dask":
        lazy, shares = model.predict(rows), model.predict_proba(rows)
        assert (lazy.name, list(shares.columns), lazy.npartitions) == (
            "prediction",
            ["no", "yes"],
            3,
        )
        assert lazy.dtype == lazy.compute().dtype
        assert np.array_equal(lazy.compute().to_numpy(), model.predict(X))
        assert np.array_equal(shares.compute().to_numpy(), model.predict_proba(X))
        assert lazy.compute().index.equals(X.index)
    else:
        assert model.predict(rows).to_pandas()["prediction"].tolist() == model.predict(X).tolist()
        shares = model.predict_proba(rows).to_pandas()
        assert np.array_equal(shares[["no", "yes"]].to_numpy(), model.predict_proba(X))
    with pytest.raises(DataError, match="needs all rows in this process"):
        model.shap_values(rows)
    with pytest.raises(DataError, match="no column 'label'"):
        arboretum.LGBMClassifier().fit(given, "label")


def test_dask_arrays(client):
    import dask.array as da

    X, y, _ = _table()
    values = X[list("abcd")].to_numpy()
    model = arboretum.XGBRegressor(n_estimators=3)
    with pytest.warns(UserWarning, match="gathered"):
        model.fit(
            da.from_array(values, (90, 2)), da.from_array((y == "yes").astype(float).to_numpy(), 70)
        )
    expected = arboretum.XGBRegressor(n_estimators=3).fit(values, (y == "yes").astype(float))
    assert _bytes(model) == _bytes(expected)
    lazy = model.predict(da.from_array(values, (90, 2)))
    assert (lazy.shape, lazy.chunks) == ((400,), ((90, 90, 90, 90, 40),))
    assert np.array_equal(lazy.compute(), model.predict(values))
    leaves = model.apply(da.from_array(values, (90, 4)))
    assert leaves.shape == (400, 3)
    assert np.array_equal(leaves.compute(), model.apply(values))


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("engine", ["dask", "ray"])
def test_forests_grow_their_trees_on_workers(engine, request, monkeypatch):
    monkeypatch.setattr(local, "FEW", 0)
    X, y, w = _table()
    given = _collections(engine, request, X.assign(y=y, w=w))
    if engine == "ray":
        with actors(2, 1):
            _check_forests(given, X, y, w, [arboretum.RandomForestClassifier(13, random_state=0)])
    else:
        bag = arboretum.BaggingClassifier(n_estimators=5, random_state=0)
        extra = arboretum.ExtraTreesClassifier(7, random_state=1, bootstrap=True, oob_score=True)
        forest = arboretum.RandomForestClassifier(13, random_state=0)
        _check_forests(given, X, y, w, [forest, extra, bag])


def _check_forests(given, X, y, w, models):
    from sklearn.base import clone

    for model in models:
        found = clone(model).fit(given, "y", sample_weight="w")
        assert _bytes(found) == _bytes(clone(model).fit(X, y, sample_weight=w))


def test_a_forest_survives_the_loss_of_a_worker(client, tmp_path):
    X, y, _ = _table()
    cluster = DaskCluster(client)
    place = cluster.place
    cluster.place = lambda maker, arguments, names: place(
        MortalTrees, [(str(tmp_path / "died"),) for _ in arguments], names
    )
    plan = {"n_estimators": 12, "random_state": 5}
    with grown_on(cluster):
        found = arboretum.RandomForestClassifier(**plan).fit(X, y)
    assert (tmp_path / "died").exists()
    assert _bytes(found) == _bytes(arboretum.RandomForestClassifier(**plan).fit(X, y))


def test_tables_that_do_not_fit_are_refused(client, monkeypatch):
    from arboretum.distributed import trees

    monkeypatch.setattr(trees, "_BYTES", 10**9)
    X, y, _ = _table()
    refused = pytest.raises(
        ArboretumError, match=r"every worker needs the whole table, about 2000\.0 GB"
    )
    with grown_on(DaskCluster(client)), refused:
        arboretum.RandomForestClassifier(3).fit(X, y)
