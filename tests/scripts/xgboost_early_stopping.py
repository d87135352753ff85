"""Breast cancer: stop early on held-out rows, look at the curves and at what matters."""

import matplotlib.pyplot as plt
import xgboost as xgb
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from xgboost import XGBClassifier, plot_importance

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.4, random_state=7)
X_valid, X_test, y_valid, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=7)
model = XGBClassifier(
    n_estimators=200,
    learning_rate=0.2,
    max_depth=3,
    subsample=0.9,
    colsample_bytree=0.8,
    eval_metric=["auc", "logloss"],
    early_stopping_rounds=10,
    random_state=7,
)
model.fit(X_train, y_train, eval_set=[(X_train, y_train), (X_valid, y_valid)], verbose=False)
results = model.evals_result()
print("tables:", sorted(results), "metrics:", sorted(results["validation_0"]))
print("stopped early:", model.best_iteration < 199)
print("best log loss: %.2f" % model.best_score)
print("rounds kept:", len(results["validation_1"]["logloss"]) == model.best_iteration + 11)
p = model.predict_proba(X_test)[:, 1]
print("accuracy: %.2f" % accuracy_score(y_test, model.predict(X_test)))
print("AUC: %.2f, log loss: %.2f" % (roc_auc_score(y_test, p), log_loss(y_test, p)))

figure, axes = plt.subplots(1, 2, figsize=(12, 5))
rounds = range(len(results["validation_0"]["logloss"]))
axes[0].plot(rounds, results["validation_0"]["logloss"], label="train")
axes[0].plot(rounds, results["validation_1"]["logloss"], label="valid")
axes[0].legend()
plot_importance(model, ax=axes[1], max_num_features=8, height=0.6, title="What matters")
figure.savefig("curves.png")
print(
    "bars:",
    len(axes[1].patches),
    axes[1].get_title(),
    "|",
    axes[1].get_xlabel(),
    "|",
    axes[1].get_ylabel(),
)
ax = xgb.plot_importance(model, importance_type="gain", values_format="{v:.1f}", show_values=False)
print(ax.get_title(), "without texts:", len(ax.texts))
print(
    "importances: %.2f of %d columns"
    % (model.feature_importances_.sum(), len(model.feature_importances_))
)
print("columns:", model.n_features_in_, model.feature_names_in_[0], model.classes_.tolist())
