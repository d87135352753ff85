"""What `keep_leaves=True` keeps survives a file: every answer is the same to the last bit."""

import random

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import arboretum
from arboretum import (
    ExtraTreesRegressor,
    ModelFileError,
    RandomForestClassifier,
    RandomForestRegressor,
)
from arboretum.data.matrix import DenseMatrix, FrameMatrix, SparseMatrix
from tests.forest.forest_cases import data, mixed_table, mutate, saved

X, CLASSES, NUMBERS = data(60)
FRAME, WORDS = mixed_table(60)
SPARSE = sp.csr_array(np.where(np.abs(X) > 0.7, X, 0.0))
CATEGORIES = sp.csc_array(np.round(np.abs(X) * 2)[:, :3])  # absent entries are a category too


def kept(kind, table, y, n_estimators=12, **options):
    options = {"keep_leaves": True, "random_state": 0, "min_samples_leaf": 2, **options}
    return kind(n_estimators, **options).fit(table, y)


def again(model):
    return arboretum.load(saved(model))


TABLES = {
    "dense": (X, {}),
    "float32": (X.astype(np.float32), {}),
    "long double": (X.astype(np.longdouble), {}),
    "big endian": (X.astype(">f8"), {}),
    "frame": (FRAME, {}),
    "csr": (SPARSE, {}),
    "csc": (SPARSE.tocsc(), {}),
    "sparse categories": (CATEGORIES, {"categorical_features": [0, 2]}),
}


@pytest.mark.parametrize("name", TABLES)
def test_numbers_are_answered_the_same_after_loading(name):
    table, options = TABLES[name]
    model = kept(RandomForestRegressor, table, NUMBERS, oob_score=True, n_estimators=40, **options)
    loaded = again(model)
    for ask in (
        lambda m: m.predict(table),
        lambda m: m.predict(table, quantiles=[0.05, 0.5, 0.9]),
        lambda m: m.prediction_interval(table, 0.8),
        lambda m: m.prediction_variance(table),
        lambda m: m.prediction_variance(table, "jackknife"),
        lambda m: m.proximity(),
        lambda m: m.proximity(kind="oob"),
        lambda m: m.proximity(top_k=3).toarray(),
        lambda m: m.permutation_importance(table, NUMBERS).per_tree,
        lambda m: m.oob_prediction_,
        lambda m: m.oob_n_trees_,
        lambda m: m.oob_error_curve_,
        lambda m: m.oob_score_,
    ):
        assert_array_equal(ask(loaded), ask(model))
    assert type(loaded._training_rows.rows) is type(model._training_rows.rows)
    assert saved(loaded) == saved(model)


def test_each_kind_of_table_is_kept_as_it_is():
    for table, kind in ((X, DenseMatrix), (FRAME, FrameMatrix), (SPARSE, SparseMatrix)):
        assert type(kept(RandomForestRegressor, table, NUMBERS)._training_rows.rows) is kind


def test_copies_per_class_are_the_same_after_loading():
    model = kept(RandomForestClassifier, FRAME, WORDS, oob_score=True, n_estimators=40)
    loaded = again(model)
    assert_array_equal(
        loaded.predict(FRAME, missing="per_class"), model.predict(FRAME, missing="per_class")
    )
    assert_array_equal(loaded.oob_decision_function_, model.oob_decision_function_)


def test_several_outputs_and_weights():
    y = np.column_stack([NUMBERS, -NUMBERS])
    w = np.arange(60) % 3.0
    model = RandomForestRegressor(10, keep_leaves=True, random_state=1).fit(X, y, w)
    assert_array_equal(again(model).predict(X, quantiles=0.3), model.predict(X, quantiles=0.3))
    labels = np.column_stack([CLASSES, CLASSES == 1])
    several = kept(RandomForestClassifier, X, labels, oob_score=True, n_estimators=40)
    assert_array_equal(again(several).oob_decision_function_, several.oob_decision_function_)


def test_without_bootstrap():
    model = kept(ExtraTreesRegressor, X, NUMBERS)
    assert_array_equal(again(model).predict(X, quantiles=[0.5]), model.predict(X, quantiles=[0.5]))


def test_a_loaded_forest_can_go_on():
    whole = kept(RandomForestRegressor, X, NUMBERS, n_estimators=20)
    part = again(kept(RandomForestRegressor, X, NUMBERS, n_estimators=8, warm_start=True))
    part.set_params(n_estimators=20).fit(X, NUMBERS)
    assert_array_equal(part.predict(X, quantiles=[0.2]), whole.predict(X, quantiles=[0.2]))


def test_a_score_by_a_function_is_kept_though_the_function_is_not():
    model = RandomForestClassifier(
        40, oob_score=lambda y, said: int(np.sum(y == said)), random_state=0
    )
    model.fit(X, CLASSES)
    with pytest.raises(arboretum.ParameterError, match=r"'oob_score'.*plain value before saving"):
        saved(model)
    loaded = again(model.set_params(oob_score=True))
    assert loaded.oob_score_ == model.oob_score_
    assert loaded.oob_score_ > 20


def test_a_forest_that_keeps_nothing_writes_nothing_of_its_rows():
    lean = RandomForestRegressor(5, random_state=0).fit(X, NUMBERS)
    assert again(lean)._training_rows is None
    assert len(saved(kept(RandomForestRegressor, X, NUMBERS, 5))) > len(saved(lean)) / 10 + X.nbytes


# ---------------------------------------------------------------------- damaged files
def _state(model):
    return model._get_fitted_state()


def _load(model, state):
    return type(model)._from_fitted_state(model.get_params(deep=False), model.schema_, state)


def dense(cells):
    return lambda state: state["kept"]["rows"].update(dense=cells)


DAMAGE = {
    "rows too short": dense(X[:-1]),
    "rows too narrow": dense(X[:, :2]),
    "rows of words": dense(np.full(X.shape, "a")),
    "rows of complex numbers": dense(X.astype(complex)),
    "infinite rows": dense(np.where(X > 2, np.inf, X)),
    "rows not a table": dense(None),
    "no rows": lambda state: state["kept"].update(rows={}),
    "too few columns": lambda state: state["kept"].update(rows={"columns": [X[:, 0]]}),
    "targets too short": lambda state: state["kept"].update(y=state["kept"]["y"][1:]),
    "targets of another type": lambda state: state["kept"].update(
        y=state["kept"]["y"].astype(np.float32)
    ),
    "targets missing": lambda state: state["kept"]["y"].fill(np.nan),
    "classes that do not exist": lambda state: state["kept"]["y"].fill(3),
    "half a class": lambda state: state["kept"]["y"].fill(0.5),
    "weights too many": lambda state: state["kept"].update(weight=np.ones(61)),
    "weights below 0": lambda state: state["kept"]["weight"].fill(-1),
    "weights all 0": lambda state: state["kept"]["weight"].fill(0),
    "bags of too many draws": lambda state: state["bags"].update(draws=2**40),
    "bags of other rows": lambda state: state["bags"].update(weighing=np.array([3, 60])),
    "bags out of order": lambda state: state["bags"].update(weighing=np.array([3, 2])),
    "bags of floats": lambda state: state["bags"].update(weighing=np.array([3.0])),
    "out of bag too short": lambda state: state["oob"]["answers"].update(
        mean=state["oob"]["answers"]["mean"][1:]
    ),
    "out of bag of other trees": lambda state: state["oob"]["answers"]["n_trees"].fill(99),
    "out of bag without numbers": lambda state: state["oob"]["answers"]["mean"].fill(np.inf),
    "a curve too short": lambda state: state["oob"]["answers"].update(curve=np.zeros(3)),
}


@pytest.mark.parametrize("name", DAMAGE)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
def test_nonsense_is_refused(name):
    model = kept(RandomForestClassifier, X, CLASSES, oob_score=True)
    state = _state(model)
    _load(model, state)
    DAMAGE[name](state)
    with pytest.raises(ModelFileError):
        _load(model, state)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("data", np.ones(3)),
        ("indices", np.zeros(5, np.int32)),
        ("indices", np.full(SPARSE.nnz, 99)),
        ("indices", np.zeros(SPARSE.nnz, np.int64)),
        ("indptr", np.arange(61)[::-1].copy()),
        ("indptr", np.arange(7)),
        ("fill", np.zeros(2)),
        ("fill", "zero"),
    ],
)
def test_sparse_nonsense_is_refused(name, value):
    model = kept(RandomForestRegressor, SPARSE, NUMBERS)
    state = _state(model)
    _load(model, state)
    state["kept"]["rows"][name] = value
    with pytest.raises(ModelFileError):
        _load(model, state)


def test_categories_that_do_not_exist_are_refused():
    model = kept(RandomForestRegressor, FRAME, NUMBERS)
    state = _state(model)
    state["kept"]["rows"]["columns"][0] = np.full(60, 7.0)
    with pytest.raises(ModelFileError, match="'color' holds categories that do not exist"):
        _load(model, state)


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
@pytest.mark.filterwarnings("ignore::arboretum.errors.UnseenCategoryWarning")
@pytest.mark.parametrize("table", [X, SPARSE, FRAME], ids=["dense", "sparse", "frame"])
def test_changed_files_are_a_model_or_an_error(table):
    content = saved(kept(RandomForestRegressor, table, NUMBERS, 2, oob_score=True))
    rng = random.Random(0)
    outcomes = set()
    for _ in range(150):
        try:
            model = arboretum.load(mutate(content, rng))
            model.predict(table, quantiles=[0.5])
            model.proximity()
            outcomes.add("model")
        except ModelFileError:
            outcomes.add("error")
        except (arboretum.ParameterError, arboretum.DataError):
            outcomes.add("other")  # a parameter or a column was renamed, and the table fits no more
    assert {"model", "error"} <= outcomes
