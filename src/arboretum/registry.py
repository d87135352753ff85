"""The version of the package, its estimators, and names of other libraries that it has not."""

__all__ = ["ESTIMATORS", "NAMES_IN_FILES", "__version__", "missing_name"]

__version__ = "0.1.0"

# Public name -> the module that defines it. A model file may name one of these estimators, and nothing else
# is ever imported for it.
ESTIMATORS = {
    "CARTClassifier": "arboretum.cart.cart",
    "CARTRegressor": "arboretum.cart.cart",
    "ExtraTreeClassifier": "arboretum.cart.extra_tree",
    "ExtraTreeRegressor": "arboretum.cart.extra_tree",
    "ID3Classifier": "arboretum.c45.id3",
    "C45Classifier": "arboretum.c45.c45",
    "C45Rules": "arboretum.c45.rules.estimator",
    "RandomForestClassifier": "arboretum.forest.random_forest",
    "RandomForestRegressor": "arboretum.forest.random_forest",
    "ExtraTreesClassifier": "arboretum.forest.extra_trees",
    "ExtraTreesRegressor": "arboretum.forest.extra_trees",
    "BaggingClassifier": "arboretum.forest.bagging",
    "BaggingRegressor": "arboretum.forest.bagging",
    "IsolationForest": "arboretum.forest.isolation_forest",
    "RandomTreesEmbedding": "arboretum.forest.trees_embedding",
    "ProximityImputer": "arboretum.forest.imputer",
    "GradientBoostingClassifier": "arboretum.boosting.friedman.gradient_boosting",
    "GradientBoostingRegressor": "arboretum.boosting.friedman.gradient_boosting",
    "AdaBoostClassifier": "arboretum.boosting.adaboost.classifier",
    "AdaBoostRegressor": "arboretum.boosting.adaboost.regressor",
    "CoordinateBoostingClassifier": "arboretum.boosting.coordinate.classifier",
    "StackingClassifier": "arboretum.combine.stacking",
    "StackingRegressor": "arboretum.combine.stacking",
    "VotingClassifier": "arboretum.combine.voting",
    "VotingRegressor": "arboretum.combine.voting",
    "XGBClassifier": "arboretum.boosting.xgboost.api",
    "XGBRegressor": "arboretum.boosting.xgboost.api",
    "XGBRanker": "arboretum.boosting.xgboost.api",
    "XGBRFClassifier": "arboretum.boosting.xgboost.api",
    "XGBRFRegressor": "arboretum.boosting.xgboost.api",
    "BoostedTreesClassifier": "arboretum.boosting.averaged.api",
    "BoostedTreesRegressor": "arboretum.boosting.averaged.api",
    "LGBMClassifier": "arboretum.boosting.lightgbm.api",
    "LGBMRegressor": "arboretum.boosting.lightgbm.api",
    "LGBMRanker": "arboretum.boosting.lightgbm.api",
    "HistGradientBoostingClassifier": "arboretum.boosting.scikit_learn.api",
    "HistGradientBoostingRegressor": "arboretum.boosting.scikit_learn.api",
}

# The class of a model -> its name in files, where the two differ: every version reads the files of any other.
NAMES_IN_FILES = {
    "DecisionTreeClassifier": "CARTClassifier",
    "DecisionTreeRegressor": "CARTRegressor",
}

_DATA = (
    "pass X, y, sample_weight and the like to fit of XGBClassifier, LGBMRegressor and the others"
)
_FIT = "call fit of XGBClassifier, LGBMRegressor and the others"
_CATBOOST = (
    "use BoostedTreesClassifier or BoostedTreesRegressor, or LGBM… to set parameters yourself: they read "
    "columns of categories as they are"
)

# Public names of scikit-learn, XGBoost, LightGBM and CatBoost -> what to use instead.
_MISSING = {
    "DMatrix": _DATA,
    "QuantileDMatrix": _DATA,
    "Dataset": _DATA,
    "Pool": _DATA,
    "train": _FIT,
    "cv": "use sklearn.model_selection.cross_validate with an estimator",
    "Booster": "use arboretum.load for a file, get_booster() or booster_ of a fitted model",
    "set_config": "give verbosity, device and the like to the constructors of estimators",
    "CatBoost": _CATBOOST,
    "CatBoostClassifier": _CATBOOST,
    "CatBoostRegressor": _CATBOOST,
    "CatBoostRanker": "use LGBMRanker or XGBRanker",
    "BaseEnsemble": "test for the methods that you need, such as hasattr(model, 'estimators_')",
    "BaseDecisionTree": "use DecisionTreeClassifier, DecisionTreeRegressor or hasattr(model, 'tree_')",
}


def missing_name(module: str, name: str) -> Exception:
    """Return the error for a name that a module has not; it names what to use if another library has it.

    >>> missing_name("arboretum", "train")
    ImportError('arboretum has no train: call fit of XGBClassifier, LGBMRegressor and the others')
    """
    if name in _MISSING:  # `from arboretum import train` would hide the words of an AttributeError
        return ImportError(f"{module} has no {name}: {_MISSING[name]}", name=module)
    return AttributeError(f"module {module!r} has no attribute {name!r}")
