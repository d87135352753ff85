"""A competition: folds, predictions out of fold, importances per fold, means of models."""

import gc

import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import mean_squared_error, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold

rng = np.random.RandomState(42)
n = 1200
train = pd.DataFrame(rng.normal(size=(n, 10)), columns=[f"feat_{i}" for i in range(10)])
train["feat_9"] = rng.randint(0, 30, n)
train["target"] = (
    train["feat_0"] + train["feat_1"] * train["feat_2"] + rng.normal(0, 0.5, n) > 0.3
).astype(int)
train["loyalty"] = 2 * train["feat_0"] + np.abs(train["feat_3"]) + rng.normal(0, 0.3, n)
train, test = train.iloc[:900].reset_index(drop=True), train.iloc[900:]
features = [c for c in train.columns if c not in ("target", "loyalty")]
params = {
    "boosting_type": "gbdt",
    "objective": "binary",
    "n_estimators": 150,
    "learning_rate": 0.05,
    "num_leaves": 12,
    "colsample_bytree": 0.8,
    "subsample": 0.8,
    "subsample_freq": 1,
    "min_child_samples": 20,
    "reg_alpha": 0.1,
    "reg_lambda": 0.1,
    "metric": "auc",
    "verbosity": -1,
    "random_state": 42,
}
folds = StratifiedKFold(n_splits=4, shuffle=True, random_state=42)
oof, predictions, frames = np.zeros(len(train)), np.zeros(len(test)), []
for fold, (fit_rows, held_out) in enumerate(folds.split(train, train["target"])):
    clf = lgb.LGBMClassifier(**params)
    clf.fit(
        train.loc[fit_rows, features],
        train.loc[fit_rows, "target"],
        eval_set=[(train.loc[held_out, features], train.loc[held_out, "target"])],
        eval_metric="auc",
        callbacks=[lgb.early_stopping(15, verbose=False), lgb.log_evaluation(0)],
    )
    oof[held_out] = clf.predict_proba(train.loc[held_out, features])[:, 1]
    predictions += clf.predict_proba(test[features])[:, 1] / folds.n_splits
    frames.append(
        pd.DataFrame({"feature": features, "importance": clf.feature_importances_, "fold": fold})
    )
    print(
        "fold %d AUC %.2f" % (fold + 1, roc_auc_score(train.loc[held_out, "target"], oof[held_out]))
    )
    del clf
    gc.collect()
print(
    "full AUC %.2f, test AUC %.2f"
    % (roc_auc_score(train["target"], oof), roc_auc_score(test["target"], predictions))
)
importance = pd.concat(frames)
mean = importance.groupby("feature")["importance"].mean().sort_values(ascending=False)
print("importances:", importance.shape, "of the first three:", sorted(mean.index[:3]))

groups = train["feat_9"]
oof = np.zeros(len(train))
for fit_rows, held_out in GroupKFold(3).split(train, groups=groups):
    reg = lgb.LGBMRegressor(
        n_estimators=60,
        num_leaves=12,
        learning_rate=0.1,
        bagging_freq=1,
        bagging_fraction=0.8,
        verbose=-1,
    )
    reg.fit(train.loc[fit_rows, features], train.loc[fit_rows, "loyalty"])
    oof[held_out] = reg.predict(train.loc[held_out, features])
print("RMSE of groups: %.2f" % mean_squared_error(train["loyalty"], oof) ** 0.5)
seeds = []
for seed in range(3):
    reg = lgb.LGBMRegressor(n_estimators=40, feature_fraction=0.7, seed=seed, verbosity=-1)
    seeds.append(reg.fit(train[features], train["loyalty"]).predict(test[features]))
print(
    "RMSE of the mean of seeds: %.2f"
    % mean_squared_error(test["loyalty"], np.mean(seeds, axis=0)) ** 0.5
)
print("folds of numbers:", KFold(3).get_n_splits())
