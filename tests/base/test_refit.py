"""Threads that predict while a model is fitted again get the old answers or the new ones."""

import sys
from concurrent.futures import ThreadPoolExecutor
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
    "voting": A.VotingClassifier([("a", A.CARTClassifier())]),
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


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
def test_a_method_reads_one_state_to_its_end(method, monkeypatch):
    model = A.CARTClassifier().fit(TABLES[0], LABELS[0])
    old, encode = getattr(model, method)(ASKED), A.CARTClassifier._encode

    def fit_meanwhile(self, X):
        matrix = encode(self, X)
        monkeypatch.undo()
        model.fit(TABLES[1], LABELS[1])
        return matrix

    monkeypatch.setattr(A.CARTClassifier, "_encode", fit_meanwhile)
    np.testing.assert_array_equal(getattr(model, method)(ASKED), old)
    assert getattr(model, method)(ASKED).tolist() != old.tolist()
