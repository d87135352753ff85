"""The models `arboretum train --model` knows: a new one joins with a line here."""

from __future__ import annotations

__all__ = ["MODELS"]

# name -> what arboretum calls its classifier and its regressor (None if there is none)
MODELS: dict[str, tuple[str | None, str | None]] = {
    "cart": ("CARTClassifier", "CARTRegressor"),
    "id3": ("ID3Classifier", None),
    "c45": ("C45Classifier", None),
    "c45rules": ("C45Rules", None),
    "rf": ("RandomForestClassifier", "RandomForestRegressor"),
    "extratrees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "bagging": ("BaggingClassifier", "BaggingRegressor"),
    "gbm": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "adaboost": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "stack": ("StackingClassifier", "StackingRegressor"),
    "xgb": ("XGBClassifier", "XGBRegressor"),
    "lgbm": ("LGBMClassifier", "LGBMRegressor"),
}
