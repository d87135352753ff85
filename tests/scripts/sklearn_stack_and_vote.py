"""Several models together: stacking and voting against each alone."""

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import cross_val_predict, cross_validate, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=42)
members = [
    ("rf", RandomForestClassifier(n_estimators=20, random_state=42)),
    ("et", ExtraTreesClassifier(n_estimators=20, random_state=42)),
    ("lr", make_pipeline(StandardScaler(), LogisticRegression())),
]
stack = StackingClassifier(estimators=members, final_estimator=LogisticRegression(), cv=3)
stack.fit(X_train, y_train)
print("stack: %.2f" % stack.score(X_test, y_test), sorted(stack.named_estimators_))
print("columns for the final model:", stack.transform(X_test).shape[1])
for voting in ("hard", "soft"):
    vote = VotingClassifier(estimators=members, voting=voting, weights=[1, 1, 2]).fit(
        X_train, y_train
    )
    print(voting, "vote: %.2f" % vote.score(X_test, y_test))
print("votes:", vote.transform(X_test).shape)
vote.set_params(et="drop").fit(X_train, y_train)
print("after dropping one:", len(vote.estimators_), vote.predict_proba(X_test).shape)

Xd, yd = load_diabetes(return_X_y=True)
pair = [
    ("gb", GradientBoostingRegressor(n_estimators=20, random_state=1)),
    ("rf", RandomForestRegressor(n_estimators=20, random_state=1)),
]
for name, model in {
    "stacking": StackingRegressor(pair, final_estimator=RidgeCV(), cv=3),
    "voting": VotingRegressor(pair),
}.items():
    scores = cross_validate(model, Xd, yd, cv=2, scoring=["r2", "neg_mean_absolute_error"])
    error = -np.mean(scores["test_neg_mean_absolute_error"])
    print(f"{name}: R2 {np.mean(scores['test_r2']):.2f}, MAE {error:.0f}")
boosted = GradientBoostingClassifier(n_estimators=10, random_state=0)
p = cross_val_predict(boosted, X, y, cv=3, method="predict_proba")
print("probabilities out of fold:", p.shape, "accuracy %.2f" % (p.argmax(axis=1) == y).mean())
