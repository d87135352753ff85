"""Incomes: words and numbers in one pipeline, tuned at random, kept in a file."""

import joblib
import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import RandomizedSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

rng = np.random.RandomState(3)
n = 900
frame = pd.DataFrame(
    {
        "age": rng.randint(18, 80, n).astype(float),
        "hours": rng.normal(40, 10, n).round(),
        "job": rng.choice(["clerk", "sales", "craft", "exec"], n),
        "city": rng.choice(["north", "south"], n),
    }
)
frame.loc[rng.rand(n) < 0.1, "age"] = np.nan
logit = 0.08 * (frame["hours"] - 40) + 1.5 * (frame["job"] == "exec") - 1.5 + rng.normal(0, 0.5, n)
rich = (logit > 0).astype(int)

numbers, words = ["age", "hours"], ["job", "city"]
prepare = ColumnTransformer(
    [
        ("num", SimpleImputer(strategy="median"), numbers),
        ("cat", OneHotEncoder(handle_unknown="ignore"), words),
    ]
)
pipe = Pipeline(
    [
        ("prepare", prepare),
        ("forest", RandomForestClassifier(class_weight="balanced", random_state=0, n_jobs=1)),
    ]
)
X_train, X_test, y_train, y_test = train_test_split(frame, rich, stratify=rich, random_state=0)
search = RandomizedSearchCV(
    pipe,
    {
        "forest__n_estimators": [20, 30],
        "forest__max_depth": [3, 5, None],
        "forest__min_samples_leaf": [1, 5],
        "forest__max_features": ["sqrt", 0.5],
    },
    n_iter=4,
    cv=3,
    scoring="roc_auc",
    random_state=0,
)
search.fit(X_train, y_train)
print("tuned:", sorted(search.best_params_))
print("AUC of folds: %.2f" % search.best_score_)
best = search.best_estimator_
score = best.predict_proba(X_test)[:, 1]
print("AUC of new people: %.2f" % roc_auc_score(y_test, score))
print("rows in the confusion matrix:", confusion_matrix(y_test, best.predict(X_test)).sum())
names = best.named_steps["prepare"].get_feature_names_out()
importances = pd.Series(best.named_steps["forest"].feature_importances_, index=names)
print("most important:", importances.sort_values(ascending=False).index[0])
joblib.dump(best, "forest.joblib")
print(
    "same after loading:",
    bool((joblib.load("forest.joblib").predict(X_test) == best.predict(X_test)).all()),
)
scores = cross_val_score(best, frame, rich, cv=3, scoring="balanced_accuracy")
print("balanced accuracy %.2f of %d folds" % (scores.mean(), len(scores)))
