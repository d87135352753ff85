"""Callbacks and training that goes on: falling rates, recorded metrics, printed rounds, files."""

import os
import pickle

import joblib
import lightgbm as lgb
import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=2)
record = {}
model = lgb.LGBMRegressor(n_estimators=30, num_leaves=8, verbose=-1)
model.fit(
    X_train,
    y_train,
    eval_set=[(X_train, y_train), (X_test, y_test)],
    eval_names=["train", "test"],
    eval_metric="l1",
    callbacks=[lgb.record_evaluation(record), lgb.log_evaluation(period=10)],
)
print("recorded:", sorted(record), sorted(record["train"]), len(record["test"]["l1"]))
print("same as evals_result_:", record["test"]["l1"] == model.evals_result_["test"]["l1"])
ax = lgb.plot_metric(record, metric="l1", dataset_names=["test"], title="Error", grid=False)
print(ax.get_title(), ax.get_ylabel(), len(ax.get_lines()))

for rates in (lambda n: 0.3 * 0.9**n, [0.3] * 10 + [0.05] * 10):
    falling = lgb.LGBMRegressor(n_estimators=20, num_leaves=8, verbose=-1)
    falling.fit(X_train, y_train, callbacks=[lgb.reset_parameter(learning_rate=rates)])
    print("R2 of falling rates: %.2f" % falling.score(X_train, y_train))


def watch(env):
    """Print the metric of some rounds."""
    if env.iteration % 8 == 0:
        name, metric, value, better = env.evaluation_result_list[0][:4]
        print(f"round {env.iteration}: {name} {metric} {value:.2e} {better}")


watch.order = 20
seen = lgb.LGBMRegressor(n_estimators=17, num_leaves=8, verbose=-1)
seen.fit(X_train, y_train, eval_set=[(X_test, y_test)], callbacks=[watch])

more = lgb.LGBMRegressor(n_estimators=30, num_leaves=8, verbose=-1).fit(
    X_train, y_train, init_model=model
)
print(
    "trees after going on:",
    more.booster_.num_trees(),
    "better:",
    more.score(X_train, y_train) > model.score(X_train, y_train),
)
print("pickle:", bool((pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()))
joblib.dump(model, "model.joblib")
print(
    "joblib:",
    bool((joblib.load("model.joblib").predict(X) == model.predict(X)).all()),
    os.path.exists("model.joblib"),
)
model.booster_.save_model("model.txt")
print("file:", os.path.getsize("model.txt") > 100)
stopped = lgb.LGBMRegressor(n_estimators=200, learning_rate=0.3, verbose=-1)
stopped.fit(
    X_train,
    y_train,
    eval_set=[(X_test, y_test)],
    callbacks=[lgb.early_stopping(5, min_delta=1.0, verbose=True)],
)
print("stopped: %s" % (stopped.best_iteration_ < 200))
staged = [stopped.predict(X_test, num_iteration=k) for k in (1, 2)]
print("rounds differ:", bool(np.any(staged[0] != staged[1])))
