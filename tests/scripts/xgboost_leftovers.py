"""An old notebook: arguments that newer versions only warn about."""

import warnings

import numpy as np
import xgboost
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, classification_report
from sklearn.model_selection import train_test_split

warnings.filterwarnings("ignore")

X, y = load_digits(n_class=5, return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=42)
model = xgboost.XGBClassifier(
    n_estimators=15,
    max_depth=3,
    objective="multi:softmax",
    num_class=5,
    use_label_encoder=False,
    eval_metric="mlogloss",
    verbosity=0,
    device="cuda",
    nthread=1,
    seed=42,
    silent=True,
)
model.fit(X_train, y_train)
found = model.predict(X_test)
print("accuracy: %.2f" % accuracy_score(y_test, found))
print(
    "shape:", model.predict_proba(X_test).shape, "sum %.2f" % model.predict_proba(X_test)[0].sum()
)
report = classification_report(y_test, found, output_dict=True)
print("rows of the report:", len(report))
reg = xgboost.XGBRegressor(
    objective="reg:squarederror", n_estimators="20", max_depth=3, predictor="cpu_predictor"
)
reg = reg.set_params(n_estimators=20)
reg.fit(X_train, y_train.astype(float))
print("R2: %.2f" % reg.score(X_test, y_test))
print("rounded: %.2f" % (np.rint(reg.predict(X_test)) == y_test).mean())
print(type(model).__name__, model.get_params()["n_estimators"], model.get_params()["max_depth"])
