"""Replacing `sklearn` by `arboretum` in an import is the only change; missing names say what to use."""

import importlib
import io
import pickle

import numpy as np
import pytest
import sklearn.ensemble
import sklearn.inspection
import sklearn.tree
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import arboretum
from arboretum import ensemble, inspection, load, tree
from arboretum.io.container import read, write
from arboretum.registry import _MISSING, NAMES_IN_FILES

MODULES = {
    "tree": (tree, sklearn.tree),
    "ensemble": (ensemble, sklearn.ensemble),
    "inspection": (inspection, sklearn.inspection),
}
X, Y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_of_scikit_learn_is_there_or_says_what_to_use(name):
    ours, theirs = MODULES[name]
    for word in theirs.__all__:
        if word in ours.__all__:
            if word.startswith(("plot_", "export_", "partial_")):
                assert getattr(ours, word) is not getattr(theirs, word)  # takes our models
            else:
                source = theirs if ours is inspection else arboretum
                assert getattr(ours, word) is getattr(source, word)
        else:
            with pytest.raises(ImportError, match=f"arboretum.{name} has no {word}: "):
                getattr(ours, word)
    assert set(ours.__all__) <= set(theirs.__all__)
    assert getattr(arboretum, name) is ours
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ours.nothing


@pytest.mark.parametrize("name", sorted(_MISSING))
def test_names_that_are_missing_say_what_to_use(name):
    with pytest.raises(ImportError, match=f"arboretum has no {name}: "):
        exec(f"from arboretum import {name}")
    assert name not in arboretum.__all__


def test_other_names_are_ordinary_errors():
    assert not hasattr(arboretum, "nothing")
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from arboretum import nothing  # noqa: F401


def test_a_tree_has_scikit_learns_name():
    for kind in ("Classifier", "Regressor"):
        cls = getattr(arboretum, f"DecisionTree{kind}")
        assert cls is getattr(arboretum, f"CART{kind}")
        assert repr(cls(max_depth=2)) == f"DecisionTree{kind}(max_depth=2)"
        assert cls.__name__ == cls.__qualname__ == f"DecisionTree{kind}"
    pipe = make_pipeline(StandardScaler(), arboretum.CARTClassifier())
    search = GridSearchCV(pipe, {"decisiontreeclassifier__max_depth": [1, 2]}, cv=2).fit(X, Y)
    assert search.best_params_["decisiontreeclassifier__max_depth"] == 1
    with pytest.raises(arboretum.ParameterError, match="of DecisionTreeRegressor must be"):
        arboretum.CARTRegressor(max_depth=0).fit(X, Y)


@pytest.mark.parametrize("name", NAMES_IN_FILES)
def test_files_with_either_name_of_a_tree_load(name):
    cls = getattr(arboretum, name)
    bag = (
        arboretum.AdaBoostClassifier if name.endswith("Classifier") else arboretum.AdaBoostRegressor
    )
    for model in (cls(), bag(cls(max_depth=1), n_estimators=2)):
        file = io.BytesIO()
        model.fit(X, Y).save(file)
        document = read(file.getvalue())
        parts = [document, document["parameters"].get("estimator")]
        for part in parts:
            if part is not None and part["model"] in NAMES_IN_FILES.values():
                assert part["model"] == NAMES_IN_FILES[name]  # as earlier versions wrote it
                part["model"] = name
        renamed = io.BytesIO()
        write(renamed, document)
        for data in (file.getvalue(), renamed.getvalue()):
            again = load(data)
            assert type(again) is type(model)
            assert np.array_equal(again.predict(X), model.predict(X))
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X))


def test_modules_are_loaded_when_they_are_used():
    assert importlib.import_module("arboretum.tree") is arboretum.tree
    assert {"tree", "ensemble", "inspection"} <= set(dir(arboretum))
