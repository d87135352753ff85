"""Inside the booster: scores of columns, the trees as table and text, leaves as features."""

import json

import numpy as np
import pandas as pd
import xgboost as xgb
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import OneHotEncoder

rng = np.random.RandomState(0)
X = pd.DataFrame(rng.normal(size=(500, 4)), columns=["height", "weight", "age", "shoe_size"])
y = (X["height"] + 3 * X["weight"] * (X["height"] > 0) + rng.normal(0, 1.0, 500) > 0).astype(int)
model = xgb.XGBClassifier(n_estimators=6, max_depth=2, learning_rate=0.5, random_state=0).fit(X, y)
booster = model.get_booster()
print("columns:", booster.feature_names)
print("rounds:", booster.num_boosted_rounds(), "features:", booster.num_features())
for kind in ("weight", "gain", "cover", "total_gain", "total_cover"):
    scores = booster.get_score(importance_type=kind)
    print(f"{kind}: {sorted(scores)[-1]}, most {max(scores.values()) > 1}")
print("fscore is weight:", booster.get_fscore() == booster.get_score(importance_type="weight"))
scores = pd.Series(booster.get_score(importance_type="gain")).sort_values(ascending=False)
print("table of scores:", scores.index[:2].tolist())
frame = booster.trees_to_dataframe()
columns = frame.columns.drop("Target", errors="ignore")  # new in XGBoost 3.4
print("nodes:", len(frame), "columns:", columns.tolist())
print(
    "splits of the first tree:",
    frame[(frame.Tree == 0) & (frame.Feature != "Leaf")].Feature.tolist(),
)
dump = booster.get_dump()
print(
    "trees:",
    len(dump),
    "lines of the first:",
    len(dump[0].splitlines()),
    "leaves:",
    dump[0].count("leaf="),
)
print("question of the root:", dump[0].splitlines()[0].split("<")[0])
tree = json.loads(booster.get_dump(dump_format="json", with_stats=True)[0])
print("root as JSON:", tree["split"], sorted(tree), "cover: %.0f" % tree["cover"])

leaves = model.apply(X)
print("leaves:", leaves.shape)
encoder = OneHotEncoder().fit(leaves)
linear = LogisticRegression(max_iter=500).fit(encoder.transform(leaves), y)
print("accuracy of leaves and a line: %.2f" % linear.score(encoder.transform(leaves), y))
margin = model.predict(X, output_margin=True)
p = model.predict_proba(X)[:, 1]
print("margins are log-odds:", bool(np.allclose(np.log(p / (1 - p)), margin, atol=1e-4)))
few = model.predict_proba(X, iteration_range=(0, 3))[:, 1]
print("fewer rounds, less sure: %s" % bool(np.abs(few - 0.5).mean() < np.abs(p - 0.5).mean()))
print("inplace: %s" % bool(np.allclose(booster.inplace_predict(X), p, atol=1e-5)))
params = model.get_xgb_params()
print("parameters:", params["max_depth"], params["learning_rate"], params["objective"])
ax = xgb.plot_importance(booster, importance_type="cover", max_num_features=5, xlabel="rows")
print("bars:", len(ax.patches), ax.get_xlabel())
