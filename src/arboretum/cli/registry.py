"""The models that `arboretum train --model` accepts: one line each."""

from __future__ import annotations

__all__ = ["ALIASES", "MODELS"]

# name -> its classifier and its regressor (None if there is none)
MODELS: dict[str, tuple[str | None, str | None]] = {
    "cart": ("DecisionTreeClassifier", "DecisionTreeRegressor"),
    "id3": ("ID3Classifier", None),
    "c45": ("C45Classifier", None),
    "c45rules": ("C45Rules", None),
    "rf": ("RandomForestClassifier", "RandomForestRegressor"),
    "extratree": ("ExtraTreeClassifier", "ExtraTreeRegressor"),
    "extratrees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "bagging": ("BaggingClassifier", "BaggingRegressor"),
    "gbm": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "adaboost": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "coordinate": ("CoordinateBoostingClassifier", None),
    "stack": ("StackingClassifier", "StackingRegressor"),
    "vote": ("VotingClassifier", "VotingRegressor"),
    "xgb": ("XGBClassifier", "XGBRegressor"),
    "xgbrf": ("XGBRFClassifier", "XGBRFRegressor"),
    "lgbm": ("LGBMClassifier", "LGBMRegressor"),
    "hist": ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"),
    "boosted": ("BoostedTreesClassifier", "BoostedTreesRegressor"),
}

# other common names, without capitals, hyphens and the word for the task
ALIASES = {
    "boostedtrees": "boosted",
    "xgboost": "xgb",
    "lightgbm": "lgbm",
    "lgb": "lgbm",
    "randomforest": "rf",
    "forest": "rf",
    "tree": "cart",
    "decisiontree": "cart",
    "c4.5": "c45",
    "j48": "c45",
    "rules": "c45rules",
    "extra": "extratrees",
    "bag": "bagging",
    "gradientboosting": "gbm",
    "gb": "gbm",
    "gbt": "gbm",
    "histgradientboosting": "hist",
    "hgb": "hist",
    "ada": "adaboost",
    "coordinateboosting": "coordinate",
    "stacking": "stack",
    "voting": "vote",
}
