"""Histogram boosting: gaps and categories as they are, early stopping, quantiles, monotone columns."""

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.inspection import permutation_importance
from sklearn.metrics import mean_absolute_error, roc_auc_score
from sklearn.model_selection import cross_val_score, train_test_split

rng = np.random.RandomState(0)
n = 600
frame = pd.DataFrame(
    {
        "size": rng.gamma(2, 40, n),
        "rooms": rng.randint(1, 7, n).astype(float),
        "town": pd.Categorical(rng.choice(["a", "b", "c", "d"], n)),
    }
)
price = (
    3 * frame["size"] + 20 * frame["rooms"] + 60 * frame["town"].cat.codes + rng.normal(0, 20, n)
)
frame.loc[rng.rand(n) < 0.1, "rooms"] = np.nan
X_train, X_test, y_train, y_test = train_test_split(frame, price, random_state=0)
model = HistGradientBoostingRegressor(
    max_iter=60, learning_rate=0.1, early_stopping=True, n_iter_no_change=8, random_state=0,
    categorical_features="from_dtype",
)  # fmt: skip
model.fit(X_train, y_train)
print("R2: %.2f" % model.score(X_test, y_test), "rounds fit the limit:", model.n_iter_ <= 60)
print("scores kept:", len(model.validation_score_) == model.n_iter_ + 1)
print("MAE about", round(mean_absolute_error(y_test, model.predict(X_test)), -1))
staged = [mean_absolute_error(y_test, p) for p in model.staged_predict(X_test)]
print("falls:", staged[-1] < staged[0])
rising = HistGradientBoostingRegressor(
    max_iter=30, monotonic_cst={"size": 1}, categorical_features=["town"]
)
rising.fit(X_train, y_train)
line = pd.concat([X_test[:1]] * 20).assign(size=np.linspace(5, 300, 20))
print("rises with size:", bool((np.diff(rising.predict(line)) >= 0).all()))
low, high = (
    HistGradientBoostingRegressor(loss="quantile", quantile=q, max_iter=30).fit(X_train, y_train)
    for q in (0.1, 0.9)
)
inside = (low.predict(X_test) <= y_test) & (y_test <= high.predict(X_test))
print("inside 80 %%: %.2f" % inside.mean())

dear = (price > price.median()).astype(int)
clf = HistGradientBoostingClassifier(
    max_iter=20, max_leaf_nodes=15, l2_regularization=1.0, class_weight="balanced"
)
print("AUC: %.2f" % cross_val_score(clf, frame, dear, cv=3, scoring="roc_auc").mean())
clf.fit(frame, dear)
print(
    "AUC of training rows: %.2f" % roc_auc_score(dear, clf.predict_proba(frame)[:, 1]),
    clf.classes_.tolist(),
)
scored = HistGradientBoostingClassifier(
    max_iter=15, early_stopping=True, scoring="roc_auc", validation_fraction=0.2, random_state=1
).fit(frame, dear)
print("AUC of held-out rows: %.2f" % max(scored.validation_score_))
needed = permutation_importance(clf, frame, dear, n_repeats=2, random_state=0)
print("most needed:", frame.columns[needed.importances_mean.argmax()])
