"""Frames with categories and gaps."""

import lightgbm as lgb
import numpy as np
import pandas as pd
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import train_test_split

rng = np.random.RandomState(10)
n = 1500
stores = pd.DataFrame(
    {
        "shop": rng.choice([f"shop {i}" for i in range(25)], n),
        "weekday": rng.choice(["mon", "tue", "wed", "thu", "fri", "sat"], n),
        "promo": rng.rand(n) < 0.4,
        "distance": rng.gamma(2, 500, n),
        "open_hours": rng.randint(6, 13, n),
    }
)
effect = dict(zip(sorted(stores["shop"].unique()), rng.normal(0, 3, 25)))
sales = (
    stores["shop"].map(effect)
    + 2 * stores["promo"]
    + 3 * (stores["weekday"] == "sat")
    + stores["open_hours"] / 4
)
sales = sales + rng.normal(0, 0.5, n) + 15
stores.loc[rng.rand(n) < 0.1, "distance"] = np.nan
for name in ("shop", "weekday"):
    stores[name] = stores[name].astype("category")
X_train, X_test, y_train, y_test = train_test_split(stores, sales, random_state=0)
model = lgb.LGBMRegressor(
    n_estimators=100, num_leaves=15, cat_smooth=5, min_data_per_group=20, verbose=-1
)
model.fit(
    X_train,
    y_train,
    eval_set=[(X_test, y_test)],
    eval_metric="mae",
    callbacks=[lgb.log_evaluation(0)],
)
print("R2: %.2f" % r2_score(y_test, model.predict(X_test)))
print("metrics:", sorted(model.evals_result_["valid_0"]))
gain = pd.Series(
    model.booster_.feature_importance(importance_type="gain"), index=model.feature_name_
)
print("most gain:", gain.idxmax(), "| columns:", model.feature_name_)
codes = stores.assign(
    shop=stores["shop"].cat.codes,
    weekday=stores["weekday"].cat.codes,
    promo=stores["promo"].astype(int),
)
by_name = lgb.LGBMRegressor(n_estimators=60, num_leaves=15, verbose=-1)
by_name.fit(codes.loc[X_train.index], y_train, categorical_feature=["shop", "weekday"])
as_numbers = lgb.LGBMRegressor(n_estimators=60, num_leaves=15, verbose=-1).fit(
    codes.loc[X_train.index], y_train
)
print("R2 by codes: %.2f" % by_name.score(codes.loc[X_test.index], y_test))
print("R2 of codes as numbers: %.2f" % as_numbers.score(codes.loc[X_test.index], y_test))

good = np.where(sales > sales.median(), "good", "poor")
clf = lgb.LGBMClassifier(n_estimators=40, verbose=-1).fit(X_train, good[X_train.index])
p = clf.predict_proba(X_test)
print(
    "classes:",
    clf.classes_.tolist(),
    "AUC %.2f" % roc_auc_score(good[X_test.index] == "poor", p[:, 1]),
)
print("labels:", sorted(set(clf.predict(X_test))), clf.n_classes_, clf.n_features_in_)
new = X_test.head(3).assign(
    shop=pd.Categorical([None] * 3, categories=stores["shop"].cat.categories)
)
print("without a shop:", model.predict(new).shape)
