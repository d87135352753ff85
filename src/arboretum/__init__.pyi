from arboretum import callback as callback
from arboretum import ensemble as ensemble
from arboretum import inspection as inspection
from arboretum import tree as tree
from arboretum.boosting.adaboost.classifier import AdaBoostClassifier as AdaBoostClassifier
from arboretum.boosting.adaboost.regressor import AdaBoostRegressor as AdaBoostRegressor
from arboretum.boosting.averaged.api import BoostedTreesClassifier as BoostedTreesClassifier
from arboretum.boosting.averaged.api import BoostedTreesRegressor as BoostedTreesRegressor
from arboretum.boosting.callbacks.lightgbm_callbacks import (
    EarlyStopException as EarlyStopException,
)
from arboretum.boosting.callbacks.lightgbm_callbacks import early_stopping as early_stopping
from arboretum.boosting.callbacks.lightgbm_callbacks import log_evaluation as log_evaluation
from arboretum.boosting.callbacks.lightgbm_callbacks import record_evaluation as record_evaluation
from arboretum.boosting.callbacks.lightgbm_callbacks import reset_parameter as reset_parameter
from arboretum.boosting.coordinate.classifier import (
    CoordinateBoostingClassifier as CoordinateBoostingClassifier,
)
from arboretum.boosting.friedman.gradient_boosting import (
    GradientBoostingClassifier as GradientBoostingClassifier,
)
from arboretum.boosting.friedman.gradient_boosting import (
    GradientBoostingRegressor as GradientBoostingRegressor,
)
from arboretum.boosting.lightgbm.api import LGBMClassifier as LGBMClassifier
from arboretum.boosting.lightgbm.api import LGBMRanker as LGBMRanker
from arboretum.boosting.lightgbm.api import LGBMRegressor as LGBMRegressor
from arboretum.boosting.lightgbm.model import LGBMModel as LGBMModel
from arboretum.boosting.scikit_learn.api import (
    HistGradientBoostingClassifier as HistGradientBoostingClassifier,
)
from arboretum.boosting.scikit_learn.api import (
    HistGradientBoostingRegressor as HistGradientBoostingRegressor,
)
from arboretum.boosting.xgboost.api import XGBClassifier as XGBClassifier
from arboretum.boosting.xgboost.api import XGBRanker as XGBRanker
from arboretum.boosting.xgboost.api import XGBRegressor as XGBRegressor
from arboretum.boosting.xgboost.api import XGBRFClassifier as XGBRFClassifier
from arboretum.boosting.xgboost.api import XGBRFRegressor as XGBRFRegressor
from arboretum.boosting.xgboost.model import XGBModel as XGBModel
from arboretum.c45.c45 import C45Classifier as C45Classifier
from arboretum.c45.id3 import ID3Classifier as ID3Classifier
from arboretum.c45.rules.estimator import C45Rules as C45Rules
from arboretum.cart.cart import CARTClassifier as CARTClassifier
from arboretum.cart.cart import CARTRegressor as CARTRegressor
from arboretum.cart.cart import DecisionTreeClassifier as DecisionTreeClassifier
from arboretum.cart.cart import DecisionTreeRegressor as DecisionTreeRegressor
from arboretum.cart.extra_tree import ExtraTreeClassifier as ExtraTreeClassifier
from arboretum.cart.extra_tree import ExtraTreeRegressor as ExtraTreeRegressor
from arboretum.combine.stacking import StackingClassifier as StackingClassifier
from arboretum.combine.stacking import StackingRegressor as StackingRegressor
from arboretum.combine.voting import VotingClassifier as VotingClassifier
from arboretum.combine.voting import VotingRegressor as VotingRegressor
from arboretum.comparison.compare import compare as compare
from arboretum.engine.compiler.warmup import warmup as warmup
from arboretum.errors import ArboretumError as ArboretumError
from arboretum.errors import DataError as DataError
from arboretum.errors import LightGBMError as LightGBMError
from arboretum.errors import ModelFileError as ModelFileError
from arboretum.errors import ParameterError as ParameterError
from arboretum.errors import SuspiciousColumnWarning as SuspiciousColumnWarning
from arboretum.errors import UnseenCategoryWarning as UnseenCategoryWarning
from arboretum.explain.charts.answer_plots import plot_calibration as plot_calibration
from arboretum.explain.charts.answer_plots import plot_confusion as plot_confusion
from arboretum.explain.charts.boosting_curves import (
    plot_boosting_errors as plot_boosting_errors,
)
from arboretum.explain.charts.boosting_curves import plot_learning_curve as plot_learning_curve
from arboretum.explain.charts.boosting_curves import plot_margins as plot_margins
from arboretum.explain.charts.boosting_curves import plot_metric as plot_metric
from arboretum.explain.charts.effect_plots import plot_ice as plot_ice
from arboretum.explain.charts.effect_plots import (
    plot_partial_dependence as plot_partial_dependence,
)
from arboretum.explain.charts.importance import plot_importance as plot_importance
from arboretum.explain.charts.proximity_map import plot_proximity as plot_proximity
from arboretum.explain.charts.pruning_curve import plot_pruning_curve as plot_pruning_curve
from arboretum.explain.charts.shap_plots import plot_shap_dependence as plot_shap_dependence
from arboretum.explain.charts.shap_plots import plot_shap_summary as plot_shap_summary
from arboretum.explain.charts.shap_plots import plot_waterfall as plot_waterfall
from arboretum.explain.charts.split_values import (
    plot_split_value_histogram as plot_split_value_histogram,
)
from arboretum.explain.dependence.importances import feature_importances as feature_importances
from arboretum.explain.dependence.partial_dependence import partial_dependence as partial_dependence
from arboretum.explain.digraph import create_tree_digraph as create_tree_digraph
from arboretum.explain.digraph import to_graphviz as to_graphviz
from arboretum.explain.graphviz import export_graphviz as export_graphviz
from arboretum.explain.plot import plot_tree as plot_tree
from arboretum.explain.report.report import report as report
from arboretum.explain.rules import to_rules as to_rules
from arboretum.explain.sklearn_tree import to_dtreeviz as to_dtreeviz
from arboretum.explain.text import export_text as export_text
from arboretum.explain.worksheet.worksheet import worksheet as worksheet
from arboretum.forest.bagging import BaggingClassifier as BaggingClassifier
from arboretum.forest.bagging import BaggingRegressor as BaggingRegressor
from arboretum.forest.extra_trees import ExtraTreesClassifier as ExtraTreesClassifier
from arboretum.forest.extra_trees import ExtraTreesRegressor as ExtraTreesRegressor
from arboretum.forest.imputer import ProximityImputer as ProximityImputer
from arboretum.forest.isolation_forest import IsolationForest as IsolationForest
from arboretum.forest.proximity import proximity as proximity
from arboretum.forest.proximity_geometry import mds as mds
from arboretum.forest.proximity_geometry import outlier_scores as outlier_scores
from arboretum.forest.proximity_geometry import prototypes as prototypes
from arboretum.forest.random_forest import RandomForestClassifier as RandomForestClassifier
from arboretum.forest.random_forest import RandomForestRegressor as RandomForestRegressor
from arboretum.forest.trees_embedding import RandomTreesEmbedding as RandomTreesEmbedding
from arboretum.io.native import load as load
from arboretum.streams.stream import Stream as Stream

__version__: str
ESTIMATORS: dict[str, str]
