"""Contributions of columns to predictions, leaves, and the trees as a table."""

import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

rng = np.random.RandomState(5)
X = pd.DataFrame(rng.normal(size=(600, 5)), columns=list("abcde"))
y = 4 * X["a"] + 2 * X["b"] * (X["c"] > 0) + rng.normal(0, 0.2, 600)
model = lgb.LGBMRegressor(n_estimators=50, num_leaves=8, verbose=-1).fit(X, y)
shap = model.predict(X, pred_contrib=True)
print("contributions:", shap.shape)
print("they add up:", bool(np.allclose(shap.sum(axis=1), model.predict(X))))
print("expected value: %.2f" % shap[0, -1])
mean = np.abs(shap[:, :-1]).mean(axis=0)
print("most:", X.columns[mean.argmax()], "by size:", [X.columns[i] for i in np.argsort(-mean)[:3]])
leaves = model.predict(X, pred_leaf=True)
print("leaves:", leaves.shape, "largest number:", int(leaves.max()))
booster = model.booster_
print("trees:", booster.num_trees(), "columns:", booster.feature_name(), booster.num_feature())
print("splits:", int(booster.feature_importance().sum()), "=", 7 * 50)
frame = booster.trees_to_dataframe()
print("table:", frame.shape, sorted(frame.columns)[:4])
print("root of the first tree:", frame.loc[0, "split_feature"], int(frame.loc[0, "count"]), "rows")
dump = booster.dump_model()
print("dump:", len(dump["tree_info"]), dump["feature_names"], dump["tree_info"][0]["num_leaves"])
root = dump["tree_info"][0]["tree_structure"]
name = dump["feature_names"][root["split_feature"]]
print("question: %s %s %.2f" % (name, root["decision_type"], root["threshold"]))


def leaves_of(node):
    """Return the number of leaves below a node."""
    return (
        1
        if "leaf_value" in node
        else leaves_of(node["left_child"]) + leaves_of(node["right_child"])
    )


print("leaves counted:", leaves_of(root))
wine, kind = load_wine(return_X_y=True)
clf = lgb.LGBMClassifier(n_estimators=10, num_leaves=5, verbose=-1).fit(wine, kind)
print(
    "several classes:",
    clf.predict(wine, pred_contrib=True).shape,
    clf.booster_.num_model_per_iteration(),
)
print(
    "staged: %s" % (clf.predict_proba(wine, num_iteration=2).max() < clf.predict_proba(wine).max())
)
print(
    "from the middle:", clf.predict(wine, start_iteration=3, num_iteration=2, raw_score=True).shape
)
