"""Stop early with callbacks, and draw what happened."""

import lightgbm as lgb
import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X.columns = [name.replace(" ", "_") for name in X.columns]
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=3)
model = lgb.LGBMClassifier(
    n_estimators=300, learning_rate=0.1, num_leaves=15, min_child_samples=10, reg_lambda=0.5, random_state=3,
    verbose=-1,
)  # fmt: skip
model.fit(
    X_train,
    y_train,
    eval_set=[(X_test, y_test), (X_train, y_train)],
    eval_names=["valid", "train"],
    eval_metric=["binary_logloss", "auc"],
    callbacks=[
        lgb.early_stopping(10, first_metric_only=True, verbose=False),
        lgb.log_evaluation(0),
    ],
)
print("stopped early:", model.best_iteration_ < 300, model.n_estimators_ == model.best_iteration_)
print("tables:", sorted(model.evals_result_), "metrics:", sorted(model.evals_result_["valid"]))
print("best log loss: %.2f" % model.best_score_["valid"]["binary_logloss"])
p = model.predict_proba(X_test, num_iteration=model.best_iteration_)[:, 1]
print(
    "AUC %.2f, accuracy %.2f"
    % (roc_auc_score(y_test, p), accuracy_score(y_test, model.predict(X_test)))
)
print(
    "first rounds only: %.2f"
    % roc_auc_score(y_test, model.predict_proba(X_test, num_iteration=3)[:, 1])
)

ax = lgb.plot_metric(model, metric="binary_logloss")
print(ax.get_title(), "|", ax.get_xlabel(), "|", ax.get_ylabel(), "|", len(ax.get_lines()), "lines")
print("legend:", sorted(text.get_text() for text in ax.get_legend().get_texts()))
ax = lgb.plot_importance(
    model, max_num_features=10, importance_type="gain", figsize=(8, 5), precision=1
)
print(ax.get_title(), "|", ax.get_xlabel(), "|", ax.get_ylabel(), "|", len(ax.patches), "bars")
print("size:", ax.figure.get_size_inches().tolist())
plt.savefig("importance.png")
ax = lgb.plot_split_value_histogram(model, "worst_concave_points", bins="auto")
print(ax.get_xlabel(), "|", ax.get_ylabel(), "|", ax.get_title())
for size in (5, 31):
    small = lgb.LGBMClassifier(num_leaves=size, n_estimators=25, verbose=-1)
    small.fit(
        X_train,
        y_train,
        eval_set=[(X_test, y_test)],
        callbacks=[lgb.early_stopping(stopping_rounds=40)],
    )
    rounds = len(small.evals_result_["valid_0"]["binary_logloss"])
    print(f"{size} leaves: {small.score(X_test, y_test):.2f}, rounds kept: {rounds}")
