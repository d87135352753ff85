"""What people write, for type checkers: mypy reads this file with the sources, pyright in
tests/test_typing.py."""

import numpy as np

import arboretum as ar
from arboretum import CARTClassifier, RandomForestRegressor, XGBClassifier, export_text, load

X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])
booster = XGBClassifier(max_depth=3, n_estimators=10)
booster.fit(X, y).predict(X)
print(export_text(CARTClassifier(max_depth=2).fit(X, y)))
forest = RandomForestRegressor(20, random_state=0).fit(X, y)
forest.save("forest.arb")
print(load("forest.arb").predict(X), ar.LGBMClassifier(num_leaves=7).get_params(), ar.__version__)
ar.plot_importance(forest, top=5)
stack = ar.StackingClassifier([("tree", ar.C45Classifier()), ("forest", ar.ExtraTreesClassifier())])
print(ar.callback.EarlyStopping(rounds=5), ar.early_stopping(5), stack)
try:
    booster.predict(X)
except ar.DataError as error:
    print(error)
