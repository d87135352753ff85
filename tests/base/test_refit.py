"""Threads that predict while a model is fitted again get the old answers or the new ones."""

import sys
from concurrent.futures import ThreadPoolExecutor
from inspect import getattr_static
from threading import Event

import numpy as np
import pytest
from sklearn.base import clone

import arboretum as A

rng = np.random.default_rng(0)
TABLES = [rng.normal(size=(80, 4)) for _ in range(2)]
LABELS = [  # the fits differ in the number of classes, so that a mixture of both cannot pass
    np.array(list("abc"))[np.digitize(TABLES[0][:, 0], [-0.5, 0.5])],
    np.array(list("vwxyz"))[np.digitize(TABLES[1][:, 0], [-1, -0.3, 0.3, 1])],
]
ASKED = rng.normal(size=(3, 4))
FEW = {"n_estimators": 3, "random_state": 0}
MODELS = {
    "cart": A.CARTClassifier(),
    "c45": A.C45Classifier(),
    "rules": A.C45Rules(),
    "forest": A.RandomForestClassifier(**FEW),
    "bagging": A.BaggingClassifier(**FEW),
    "adaboost": A.AdaBoostClassifier(**FEW),
    "gbm": A.GradientBoostingClassifier(**FEW),
    "lgbm": A.LGBMClassifier(**FEW),
    "stacking": A.StackingClassifier([("a", A.CARTClassifier())], A.CARTClassifier(), cv=2),
    "voting": A.VotingClassifier([("a", A.CARTClassifier())], voting="soft"),
}


@pytest.fixture
def frequent_switches():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
def test_another_thread_sees_the_old_model_or_the_new(name, frequent_switches):
    model, ended = clone(MODELS[name]), Event()
    both = list(zip(TABLES, LABELS, strict=True))
    allowed = {tuple(model.fit(X, y).predict(ASKED)) for X, y in both}

    def look():
        seen = set()
        while not ended.is_set():
            seen.add(tuple(model.predict(ASKED)))
        return seen

    with ThreadPoolExecutor(2) as pool:
        lookers = [pool.submit(look) for _ in range(2)]
        try:
            for X, y in both * 20:
                model.fit(X, y)
        finally:
            ended.set()
        assert set.union(*(looker.result() for looker in lookers)) <= allowed


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("cart", "predict"),
        ("cart", "predict_proba"),
        ("cart", "predict_log_proba"),
        ("cart", "decision_path"),
        ("stacking", "predict_proba"),
        ("stacking", "transform"),
        ("voting", "predict_proba"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_method_reads_one_state_to_its_end(name, method, monkeypatch):
    model = clone(MODELS[name]).fit(TABLES[0], LABELS[0])

    def answer():
        found = getattr(model, method)(ASKED)
        return found.toarray() if hasattr(found, "toarray") else found

    old, encode = answer(), A.CARTClassifier._encode

    def fit_meanwhile(self, X):
        matrix = encode(self, X)
        monkeypatch.undo()
        model.fit(TABLES[1], LABELS[1])
        return matrix

    monkeypatch.setattr(A.CARTClassifier, "_encode", fit_meanwhile)
    np.testing.assert_array_equal(answer(), old)
    assert answer().tolist() != old.tolist()


@pytest.mark.parametrize("name", A.ESTIMATORS)
def test_every_method_that_answers_or_saves_reads_one_state(name):
    changing = {"fit", "fit_transform", "prune_cv", "load_model", "set_params", "set_output"}
    asked = ("predict", "staged_", "decision_", "shap_", "save", "transform", "score", "explain")
    for method in {m for m in dir(getattr(A, name)) if m.startswith(asked)} - changing:
        found = getattr_static(getattr(A, name), method)
        assert hasattr(getattr(found, "fn", found), "_reads_one_state") or not callable(found), (
            method
        )


@pytest.mark.filterwarnings("ignore")
def test_a_pruned_tree_appears_in_one_step(monkeypatch):
    model, seen = A.CARTClassifier().fit(TABLES[0], LABELS[0]), []
    old, fold_errors = model.predict(ASKED).tolist(), A.CARTClassifier._fold_errors

    def look(self, *args):
        seen.append(model.predict(ASKED).tolist())
        return fold_errors(self, *args)

    monkeypatch.setattr(A.CARTClassifier, "_fold_errors", look)
    assert model.prune_cv(TABLES[1], LABELS[1], cv=2) is model
    assert seen == [old, old]
    assert set(model.classes_) == set("vwxyz")


@pytest.mark.filterwarnings("ignore")
def test_a_model_is_loaded_in_one_step(tmp_path):
    model = A.XGBClassifier(n_estimators=2).fit(TABLES[0], np.digitize(TABLES[0][:, 0], [0]))
    model.save_model(tmp_path / "model.arb")
    state = vars(model)
    before = dict(state)
    model.load_model(tmp_path / "model.arb")
    assert vars(model) is not state
    assert state == before
