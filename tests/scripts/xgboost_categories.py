"""Categories and gaps as they are: pandas frames without one-hot columns."""

import numpy as np
import pandas as pd
from sklearn.metrics import mean_absolute_error
from sklearn.model_selection import KFold, cross_val_predict, train_test_split
from sklearn.preprocessing import LabelEncoder, OrdinalEncoder
from xgboost import XGBClassifier, XGBRegressor

rng = np.random.RandomState(4)
n = 900
cars = pd.DataFrame(
    {
        "make": rng.choice(["audi", "bmw", "fiat", "ford", "kia", "vw"], n),
        "fuel": rng.choice(["petrol", "diesel", "electric"], n, p=[0.5, 0.4, 0.1]),
        "age": rng.randint(0, 20, n).astype(float),
        "km": rng.gamma(3, 30000, n).round(),
    }
)
base = cars["make"].map({"audi": 30, "bmw": 32, "fiat": 14, "ford": 18, "kia": 16, "vw": 22})
cars["price"] = base * 0.9 ** cars["age"] - cars["km"] / 40000 + rng.normal(0, 0.5, n)
cars.loc[rng.rand(n) < 0.15, "km"] = np.nan
cars.loc[rng.rand(n) < 0.05, "fuel"] = np.nan
y = cars.pop("price")
words = ["make", "fuel"]
as_category = cars.astype(dict.fromkeys(words, "category"))
X_train, X_test, y_train, y_test = train_test_split(as_category, y, random_state=0)
for most in (1, 10):
    model = XGBRegressor(
        n_estimators=80,
        max_depth=4,
        enable_categorical=True,
        tree_method="hist",
        max_cat_to_onehot=most,
    )
    model.fit(X_train, y_train)
    print(
        f"R2 {model.score(X_test, y_test):.2f}, MAE {mean_absolute_error(y_test, model.predict(X_test)):.0f}"
    )
print("columns:", model.feature_names_in_.tolist())
print("most important:", model.feature_names_in_[model.feature_importances_.argmax()])

codes = OrdinalEncoder(encoded_missing_value=-1).fit_transform(cars[words])
numbers = np.c_[codes, cars[["age", "km"]]]
plain = XGBRegressor(n_estimators=80, max_depth=4, missing=np.nan)
found = cross_val_predict(plain, numbers, y, cv=KFold(3, shuffle=True, random_state=0))
print("R2 of codes: %.2f" % (1 - ((y - found) ** 2).sum() / ((y - y.mean()) ** 2).sum()))

encoder = LabelEncoder()
kind = encoder.fit_transform(np.where(y > 20, "dear", np.where(y > 8, "fair", "cheap")))
clf = XGBClassifier(
    n_estimators=30, enable_categorical=True, tree_method="hist", objective="multi:softprob"
)
clf.fit(as_category, kind)
print("classes:", encoder.inverse_transform(clf.classes_).tolist(), clf.n_classes_)
print(
    "probabilities:",
    clf.predict_proba(as_category[:3]).shape,
    "accuracy %.2f" % clf.score(as_category, kind),
)
