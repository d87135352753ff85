"""Every mainstream tree model in one library that reads like the textbook.

Public names are imported when they are first used, so that `import arboretum` stays light:
Numba, pandas and matplotlib are only loaded by the work that needs them. Editors and type checkers find
them in `__init__.pyi`.
"""

from importlib import import_module

from arboretum.registry import ESTIMATORS, __version__, missing_name

_HOME = {
    **ESTIMATORS,
    "DecisionTreeClassifier": "arboretum.cart.cart",
    "DecisionTreeRegressor": "arboretum.cart.cart",
    "LGBMModel": "arboretum.boosting.lightgbm.model",
    "XGBModel": "arboretum.boosting.xgboost.model",
    "EarlyStopException": "arboretum.boosting.callbacks.lightgbm_callbacks",
    "early_stopping": "arboretum.boosting.callbacks.lightgbm_callbacks",
    "log_evaluation": "arboretum.boosting.callbacks.lightgbm_callbacks",
    "record_evaluation": "arboretum.boosting.callbacks.lightgbm_callbacks",
    "reset_parameter": "arboretum.boosting.callbacks.lightgbm_callbacks",
    "proximity": "arboretum.forest.proximity",
    "mds": "arboretum.forest.proximity_geometry",
    "outlier_scores": "arboretum.forest.proximity_geometry",
    "prototypes": "arboretum.forest.proximity_geometry",
    "Stream": "arboretum.streams.stream",
    "load": "arboretum.io.native",
    "warmup": "arboretum.engine.compiler.warmup",
    "export_text": "arboretum.explain.text",
    "export_graphviz": "arboretum.explain.graphviz",
    "to_rules": "arboretum.explain.rules",
    "plot_tree": "arboretum.explain.plot",
    "to_graphviz": "arboretum.explain.digraph",
    "create_tree_digraph": "arboretum.explain.digraph",
    "to_dtreeviz": "arboretum.explain.sklearn_tree",
    "report": "arboretum.explain.report.report",
    "compare": "arboretum.comparison.compare",
    "partial_dependence": "arboretum.explain.dependence.partial_dependence",
    "feature_importances": "arboretum.explain.dependence.importances",
    "worksheet": "arboretum.explain.worksheet.worksheet",
    "plot_pruning_curve": "arboretum.explain.charts.pruning_curve",
    "plot_proximity": "arboretum.explain.charts.proximity_map",
    "plot_importance": "arboretum.explain.charts.importance",
    "plot_boosting_errors": "arboretum.explain.charts.boosting_curves",
    "plot_learning_curve": "arboretum.explain.charts.boosting_curves",
    "plot_metric": "arboretum.explain.charts.boosting_curves",
    "plot_split_value_histogram": "arboretum.explain.charts.split_values",
    "plot_margins": "arboretum.explain.charts.boosting_curves",
    "plot_shap_summary": "arboretum.explain.charts.shap_plots",
    "plot_shap_dependence": "arboretum.explain.charts.shap_plots",
    "plot_waterfall": "arboretum.explain.charts.shap_plots",
    "plot_partial_dependence": "arboretum.explain.charts.effect_plots",
    "plot_ice": "arboretum.explain.charts.effect_plots",
    "plot_calibration": "arboretum.explain.charts.answer_plots",
    "plot_confusion": "arboretum.explain.charts.answer_plots",
    "ArboretumError": "arboretum.errors",
    "DataError": "arboretum.errors",
    "LightGBMError": "arboretum.errors",
    "ModelFileError": "arboretum.errors",
    "ParameterError": "arboretum.errors",
    "SuspiciousColumnWarning": "arboretum.errors",
    "UnseenCategoryWarning": "arboretum.errors",
}

# Modules under the names of scikit-learn's and XGBoost's, loaded when they are used.
_MODULES = ("callback", "ensemble", "inspection", "tree")

__all__ = [*_HOME, *_MODULES, "__version__"]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(f"arboretum.{name}")
    raise missing_name("arboretum", name)


def __dir__() -> list[str]:
    return sorted(__all__)
