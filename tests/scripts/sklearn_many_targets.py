"""Complete the lower half of faces of digits: many targets, learning and validation curves."""

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_digits, load_linnerud
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestRegressor
from sklearn.model_selection import KFold, learning_curve, validation_curve
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

digits = load_digits()
upper, lower = digits.data[:600, :32], digits.data[:600, 32:]
forest = ExtraTreesRegressor(n_estimators=10, max_features=16, random_state=0)
forest.fit(upper[:500], lower[:500])
found = forest.predict(upper[500:])
print("completed:", found.shape, f"R2 {forest.score(upper[500:], lower[500:]):.2f}")
print("outputs:", forest.n_outputs_, "columns:", forest.n_features_in_)

body = load_linnerud()
for model in (
    DecisionTreeRegressor(max_depth=3, random_state=0),
    MultiOutputRegressor(RandomForestRegressor(10, random_state=0)),
    RegressorChain(DecisionTreeRegressor(max_depth=2, random_state=0)),
):
    print(type(model).__name__, model.fit(body.data, body.target).predict(body.data).shape)
single = ExtraTreeRegressor(random_state=0).fit(body.data, body.target)
print("a random tree knows its rows:", bool(np.allclose(single.predict(body.data), body.target)))

many = ExtraTreesClassifier(n_estimators=10, random_state=0)
labels = np.c_[digits.target % 2, digits.target > 4][:600]
many.fit(digits.data[:600], labels)
print("several classes:", [one.shape for one in many.predict_proba(digits.data[600:610])])
print("classes:", [c.tolist() for c in many.classes_])

sizes, train, test = learning_curve(
    clone(many), digits.data[:400], digits.target[:400], cv=KFold(2), train_sizes=[0.5, 1.0]
)
print("sizes:", sizes.tolist(), "train %.2f" % train.mean(), "test %.2f" % test.mean())
train, test = validation_curve(
    clone(many),
    digits.data[:300],
    digits.target[:300],
    param_name="max_depth",
    param_range=[2, 8],
    cv=2,
)
print("deeper is better:", bool(test[1].mean() > test[0].mean()), train.shape)
