"""The parameters and the outline of a model in the groups of XGBoost's `save_config`.

Scripts read the start of the margins (`base_score`), the number of trees and some parameters from there. All
values are texts, as in XGBoost.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from arboretum.boosting.xgboost.model import XGBModel

__all__ = ["config_of", "intercepts"]

_TREE = (
    "learning_rate", "max_depth", "max_leaves", "gamma", "min_child_weight", "max_delta_step", "subsample",
    "sampling_method", "colsample_bytree", "colsample_bylevel", "colsample_bynode", "reg_alpha", "reg_lambda",
    "grow_policy", "max_bin", "max_cat_to_onehot", "max_cat_threshold", "monotone_constraints",
    "interaction_constraints",
)  # fmt: skip
_DART = ("rate_drop", "skip_drop", "one_drop", "sample_type", "normalize_type")


def intercepts(model: XGBModel) -> np.ndarray:
    """Return the prediction before the first tree, one per output; of several classes the margins."""
    base, link = model.ensemble_.base, model._objective.link
    return base if link.name in ("softmax", "step") else link.predict(base)


def config_of(model: XGBModel) -> dict[str, Any]:
    """Return the configuration, group by group."""
    given, trees = model._in_effect(), model.ensemble_
    objective, several = model._objective, getattr(model, "n_classes_", 0)
    booster = given["booster"]
    grower = {
        "name": booster,
        "gbtree_model_param": {
            "num_parallel_tree": str(trees.n_parallel),
            "num_trees": str(len(trees.trees)),
        },
        "gbtree_train_param": {"tree_method": given["tree_method"]},
        "tree_train_param": _texts(given, _TREE),
    }
    if booster == "dart":
        grower["dart_train_param"] = _texts(given, _DART)
    learner = {
        "generic_param": {
            "device": "cpu",
            "nthread": str(0 if model.n_jobs is None else model.n_jobs),
            "seed": str(model.seed_),
        },
        "gradient_booster": grower,
        "learner_model_param": {
            "base_score": json.dumps([float(f"{one:.9g}") for one in intercepts(model)]),
            "num_class": str(several if several > 2 else 0),
            "num_feature": str(model.n_features_in_),
            "num_target": str(objective.n_targets),
        },
        "learner_train_param": {"booster": booster, "objective": objective.name},
        "objective": {"name": objective.name},
    }
    return {"learner": learner, "version": [3, 2, 0]}


def _texts(given: dict[str, Any], names: tuple[str, ...]) -> dict[str, str]:
    return {name: "" if given[name] is None else str(given[name]) for name in names}
