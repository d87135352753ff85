"""Tables of the classroom: the root is the column of the largest gain, as calculated by hand.

Gains are decreases of the Gini impurity over all subsets of the categories and all cuts, with nothing
charged for chance.
"""

import numpy as np
import pandas as pd
import pytest

import arboretum as arb
from arboretum import textbook as book


def _frames(table) -> tuple[pd.DataFrame, pd.Series]:
    return pd.DataFrame(table.X, columns=table.names), pd.Series(table.y, name=table.target)


def play_tennis():
    return _frames(book.play_tennis())


def golf_with_numbers():
    return _frames(book.golf())


def buys_computer():
    return _frames(book.buys_computer())


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
    root = book.grow(X, y)
    column, gain = TABLES[table]
    assert X.columns[root.chosen.feature] == column
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
