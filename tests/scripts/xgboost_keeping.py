"""Keep a model: pickle, joblib, a file of its own; go on training from where it was."""

import pickle
import warnings

import joblib
import numpy as np
import xgboost as xgb
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss

warnings.filterwarnings("ignore", category=UserWarning)
X, y = load_breast_cancer(return_X_y=True)
model = xgb.XGBClassifier(n_estimators=10, max_depth=3, random_state=0).fit(X, y)
p = model.predict_proba(X)
print("pickle:", bool((pickle.loads(pickle.dumps(model)).predict_proba(X) == p).all()))
joblib.dump(model, "model.pkl")
print("joblib:", bool((joblib.load("model.pkl").predict_proba(X) == p).all()))
model.save_model("model.ubj")
loaded = xgb.XGBClassifier()
loaded.load_model("model.ubj")
print("file:", bool(np.allclose(loaded.predict_proba(X), p)), loaded.n_classes_)
more = xgb.XGBClassifier(n_estimators=10, max_depth=3, random_state=0).fit(X, y, xgb_model=model)
print("rounds after going on:", more.get_booster().num_boosted_rounds())
print("better on its rows:", bool(log_loss(y, more.predict_proba(X)) < log_loss(y, p)))
twice = xgb.XGBClassifier(n_estimators=20, max_depth=3, random_state=0).fit(X, y)
print(
    "as if trained at once:",
    bool(np.allclose(twice.predict_proba(X), more.predict_proba(X), atol=1e-3)),
)
fresh = clone(model)
print("a clone is not fitted:", not hasattr(fresh, "classes_"), fresh.get_params()["n_estimators"])
start = np.full(len(y), 0.3)
moved = clone(model).fit(X, y, base_margin=start)
margins = moved.predict(X, output_margin=True, base_margin=start) - moved.predict(
    X, output_margin=True, base_margin=0 * start
)
print("margins moved by %.2f" % margins.mean())
needed = permutation_importance(model, X, y, n_repeats=2, random_state=0)
print("importances:", needed.importances_mean.shape, bool(needed.importances_mean.max() > 0))
