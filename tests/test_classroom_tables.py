"""Tables of the classroom: the root is the column of the largest gain, as calculated by hand.

Gains are decreases of the Gini impurity over all subsets of the categories and all cuts, with nothing
charged for chance.
"""

import numpy as np
import pandas as pd
import pytest

import arboretum as arb
from arboretum.data.schema import learn_schema
from arboretum.textbook.cart import grow
from arboretum.textbook.splits import Rules

PLAY = """
sunny hot high weak no
sunny hot high strong no
overcast hot high weak yes
rain mild high weak yes
rain cool normal weak yes
rain cool normal strong no
overcast cool normal strong yes
sunny mild high weak no
sunny cool normal weak yes
rain mild normal weak yes
sunny mild normal strong yes
overcast mild high strong yes
overcast hot normal weak yes
rain mild high strong no
"""
GOLF = """
sunny 85 85 false no
sunny 80 90 true no
overcast 83 78 false yes
rain 70 96 false yes
rain 68 80 false yes
rain 65 70 true no
overcast 64 65 true yes
sunny 72 95 false no
sunny 69 70 false yes
rain 75 80 false yes
sunny 75 70 true yes
overcast 72 90 true yes
overcast 81 75 false yes
rain 71 80 true no
"""
BUYS = """
youth high no fair no
youth high no excellent no
middle high no fair yes
senior medium no fair yes
senior low yes fair yes
senior low yes excellent no
middle low yes excellent yes
youth medium no fair no
youth low yes fair yes
senior medium yes fair yes
youth medium yes excellent yes
middle medium no excellent yes
middle high yes fair yes
senior medium no excellent no
"""


def _read(text: str, *names: str) -> tuple[pd.DataFrame, pd.Series]:
    frame = pd.DataFrame([line.split() for line in text.strip().splitlines()], columns=names)
    for name in {"temperature", "humidity"} & set(names):
        if frame[name].str.isdigit().all():
            frame[name] = frame[name].astype(float)
    return frame.iloc[:, :-1], frame.iloc[:, -1]


def play_tennis():
    return _read(PLAY, "outlook", "temperature", "humidity", "wind", "play")


def golf_with_numbers():
    return _read(GOLF, "outlook", "temperature", "humidity", "windy", "play")


def buys_computer():
    return _read(BUYS, "age", "income", "student", "credit", "buys")


def play_tennis_with_days():
    X, y = play_tennis()
    X.insert(0, "day", [f"D{i + 1}" for i in range(len(X))])
    return X, y


TABLES = {
    play_tennis: ("outlook", 0.1020),
    golf_with_numbers: ("outlook", 0.1020),
    buys_computer: ("age", 0.1020),
    play_tennis_with_days: ("outlook", 0.1020),
}
MODELS = {
    "CART": arb.CARTClassifier,
    "GBM": lambda: arb.GradientBoostingClassifier(n_estimators=1),
    "GBM, deep": lambda: arb.GradientBoostingClassifier(n_estimators=1, max_depth=None),
    "AdaBoost": lambda: arb.AdaBoostClassifier(n_estimators=1),
    "AdaBoost, three levels": lambda: arb.AdaBoostClassifier(
        arb.CARTClassifier(max_depth=3), n_estimators=1
    ),
    "forest": lambda: arb.RandomForestClassifier(1, bootstrap=False, max_features=None),
    "bagging": lambda: arb.BaggingClassifier(arb.CARTClassifier(), n_estimators=1, bootstrap=False),
    "surrogates": lambda: arb.CARTClassifier(surrogates=1),
    "bins": lambda: arb.AdaBoostClassifier(
        arb.CARTClassifier(max_depth=1, max_bins=99), n_estimators=1
    ),
}


def _root(model) -> tuple[str, float]:
    tree = model.tree_ if hasattr(model, "tree_") else model.trees_[0]
    return model.schema_.names[tree.feature[0]], float(tree.gain[0])


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_the_root_is_the_column_of_the_largest_gain(table, model):
    X, y = table()
    column, gain = TABLES[table]
    found = _root(model().fit(X, y))
    assert found[0] == column
    scale = 2 if isinstance(model(), arb.GradientBoostingClassifier) else 1  # Gini is 2 variances
    assert found[1] * scale == pytest.approx(gain, abs=5e-5)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_the_textbook_has_the_same_roots(table):
    X, y = table()
    schema, matrix = learn_schema(X)
    rules = Rules(kinds=tuple(column.kind for column in schema.columns))
    root = grow(matrix.rows(0, len(X)), np.unique(y, return_inverse=True)[1], rules=rules)
    column, gain = TABLES[table]
    assert schema.names[root.chosen.feature] == column
    assert root.chosen.gain == pytest.approx(gain, abs=5e-5)


# ---------------------------------------------------------------------- which categories count


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_rows_of_weight_0_and_levels_of_no_row_do_not_count(model):
    X, y = play_tennis()
    more = pd.concat([X, X.iloc[:2].assign(outlook=["fog", "hail"])], ignore_index=True)
    more["outlook"] = more["outlook"].astype(
        pd.CategoricalDtype(["overcast", "rain", "sunny", "fog", "hail", "snow", "storm"])
    )
    labels = pd.concat([y, y.iloc[:2]], ignore_index=True)
    w = np.r_[np.ones(len(X)), 0, 0]
    assert _root(model().fit(more.iloc[:14], y))[0] == "outlook"  # levels that no row has
    assert _root(model().fit(more, labels, sample_weight=w))[0] == "outlook"  # rows of weight 0
    assert _root(model().fit(more.iloc[:14].astype(str), y))[0] == "outlook"


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_five_categories_are_charged(model):
    X, y = play_tennis()
    X = X.assign(outlook=X["outlook"].where(X.index > 1, ["fog", "hail"] + [""] * 12))
    assert _root(model().fit(X, y))[0] != "outlook"
