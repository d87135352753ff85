"""The version of the package, and the modules that define its estimators."""

__all__ = ["ESTIMATORS", "__version__"]

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
    "BoostedTreesClassifier": "arboretum.boosting.averaged.api",
    "BoostedTreesRegressor": "arboretum.boosting.averaged.api",
    "LGBMClassifier": "arboretum.boosting.lightgbm.api",
    "LGBMRegressor": "arboretum.boosting.lightgbm.api",
    "LGBMRanker": "arboretum.boosting.lightgbm.api",
}
