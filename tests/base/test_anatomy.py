"""Every estimator has an anatomy, and making it or learning a target again leaves the model as it is."""

import inspect

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import arboretum

FAMILIES = {
    "tree": "CARTClassifier CARTRegressor ExtraTreeClassifier ExtraTreeRegressor",
    "id3": "ID3Classifier",
    "c45": "C45Classifier",
    "rules": "C45Rules",
    "forest": "RandomForestClassifier RandomForestRegressor ExtraTreesClassifier ExtraTreesRegressor",
    "bag": "BaggingClassifier BaggingRegressor",
    "adaboost": "AdaBoostClassifier AdaBoostRegressor",
    "coordinate": "CoordinateBoostingClassifier",
    "friedman": "GradientBoostingClassifier GradientBoostingRegressor",
    "second order": "XGBClassifier XGBRegressor XGBRanker XGBRFClassifier XGBRFRegressor "
    "LGBMClassifier LGBMRegressor LGBMRanker "
    "HistGradientBoostingClassifier HistGradientBoostingRegressor",
    "averaged": "BoostedTreesClassifier BoostedTreesRegressor",
    "stack": "StackingClassifier StackingRegressor",
    "vote": "VotingClassifier VotingRegressor",
    "cuts": "IsolationForest RandomTreesEmbedding",
    "imputer": "ProximityImputer",
}
NAMES = [name for names in FAMILIES.values() for name in names.split()]
X = np.random.default_rng(0).normal(size=(80, 3))
Y = (X[:, 0] + X[:, 1] ** 2 > 0.5).astype(int)


def _unfitted(name):
    make = getattr(arboretum, name)
    known = inspect.signature(make).parameters
    given = {"n_estimators": 3, "random_state": 0, "discretize": "mdl", "max_iter": 20}
    if "estimators" in known and "order" not in known:
        tree = arboretum.CARTClassifier if "Classifier" in name else arboretum.CARTRegressor
        given["estimators"] = [("low", tree(max_depth=1)), ("high", tree(max_depth=3))]
    return make(**{name: value for name, value in given.items() if name in known})


def _fitted(name):
    return _unfitted(name).fit(X, Y, **({"group": [40, 40]} if "Ranker" in name else {}))


def test_every_estimator_is_in_a_family():
    assert sorted(NAMES) == sorted(arboretum.ESTIMATORS)


@pytest.mark.parametrize("name", NAMES)
def test_anatomy(name):
    with pytest.raises(NotFittedError):
        _unfitted(name)._anatomy()
    model = _fitted(name)
    before = set(vars(model))
    anatomy = model._anatomy()
    assert set(vars(model)) == before
    assert name in FAMILIES[anatomy.family].split()
    assert anatomy.columns.schema is model.schema_
    assert anatomy.columns.numbers(X).n_rows == len(X)
    assert anatomy.recipe.threads() >= 1
    assert (anatomy.classes is None) == (not hasattr(model, "classes_"))
    assert all(
        len(values) == anatomy.history.n_rounds for values in anatomy.history.figures.values()
    )
    if anatomy.is_sum:
        assert len(anatomy.ensemble.trees) == len(anatomy.trees)
        assert anatomy.used.n_outputs == anatomy.ensemble.n_outputs
    if anatomy.family not in ("stack", "vote", "imputer"):
        learned = anatomy.recipe.learn(Y[::-1], None, len(Y))
        assert learned.weight is None
        assert vars(model).keys() == before


def test_learning_other_classes_again_leaves_those_of_the_model():
    model = arboretum.CARTClassifier().fit(X, Y)
    learned = model._anatomy().recipe.learn(np.where(Y, "yes", "no"), None, len(Y))
    assert learned.classes.tolist() == ["no", "yes"]
    assert model.classes_.tolist() == [0, 1]


def test_members_that_are_trees_are_the_trees():
    model = arboretum.BaggingClassifier(arboretum.C45Classifier(), 3, random_state=0).fit(X, Y)
    anatomy = model._anatomy()
    assert anatomy.ensemble is None
    assert [tree is one.tree_ for tree, one in zip(anatomy.trees, model.estimators_, strict=True)]


def test_rounds_behind_the_best_are_not_used():
    model = arboretum.XGBClassifier(n_estimators=30, early_stopping_rounds=2)
    model.fit(X[:60], Y[:60], eval_set=[(X[60:], Y[60:])], verbose=False)
    anatomy = model._anatomy()
    assert anatomy.used.n_rounds == anatomy.history.end == model.best_iteration + 1
    assert anatomy.history.n_rounds == anatomy.ensemble.n_rounds > anatomy.history.end
    assert [metric for _, metric in anatomy.history.curves] == ["logloss"]
