"""The fits of the golden set: every estimator, and the options that lead into code of their own."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.linear_model import LinearRegression

import arboretum as arb
from tests.golden import boosters, trees
from tests.golden.case import Case, asks, family


def combined() -> Iterator[Case]:
    classifiers = [
        ("tree", arb.CARTClassifier(max_depth=3)),
        ("forest", arb.RandomForestClassifier(4, random_state=1)),
        ("xgb", arb.XGBClassifier(n_estimators=3, max_depth=2)),
    ]
    regressors = [
        ("tree", arb.CARTRegressor(max_depth=3)),
        ("gradient", arb.GradientBoostingRegressor(n_estimators=3, random_state=1)),
        ("lgbm", arb.LGBMRegressor(n_estimators=3, num_leaves=5)),
    ]
    final = arb.ExtraTreesClassifier(5, min_samples_leaf=5, random_state=2)
    final_numbers = arb.ExtraTreesRegressor(5, min_samples_leaf=5, random_state=3)
    case = family("combined")
    yield case(
        "stacking",
        lambda: arb.StackingClassifier(classifiers, final, cv=3),
        "many.third",
        more=(asks("transform"),),
    )
    yield case(
        "stacking, words",
        lambda: arb.StackingClassifier(classifiers[:2], final, cv=3, passthrough=True),
        "mixed.class",
    )
    yield case(
        "stacking numbers",
        lambda: arb.StackingRegressor(regressors, final_numbers, cv=3),
        "real.number",
    )
    yield case(
        "stacking, foreign",
        lambda: arb.StackingRegressor(regressors[:2], LinearRegression(), cv=3),
        "real.number",
        saves=False,
    )
    yield case(
        "voting",
        lambda: arb.VotingClassifier(classifiers, voting="soft", weights=[1, 2, 1]),
        "two.class",
        weighted=True,
    )
    yield case(
        "voting, hard",
        lambda: arb.VotingClassifier(classifiers, voting="hard"),
        "many.class",
    )
    yield case("voting numbers", lambda: arb.VotingRegressor(regressors), "mixed.number")


def averaged() -> Iterator[Case]:
    fast = {"quality": "fast", "random_state": 1}
    case = family("averaged")
    yield case("two classes", lambda: arb.BoostedTreesClassifier(random_state=1), "two.class")
    yield case("classes", lambda: arb.BoostedTreesClassifier(**fast), "many.third", weighted=True)
    yield case("words", lambda: arb.BoostedTreesClassifier(**fast), "mixed.class")
    yield case(
        "numbers",
        lambda: arb.BoostedTreesRegressor(random_state=1),
        "real.number",
        more=(asks("predict_interval", coverage=0.5),),
    )
    yield case("time", lambda: arb.BoostedTreesRegressor(**fast, folds="time"), "mixed.number")
    yield case("cities", lambda: arb.BoostedTreesRegressor(random_state=1), "cities.number")
    yield case(
        "cities, classes",
        lambda: arb.BoostedTreesClassifier(random_state=1),
        "cities.three",
        weighted=True,
    )


def all_cases() -> list[Case]:
    """Return every case, family by family."""
    families = (*trees.FAMILIES, *boosters.FAMILIES, averaged, combined)
    return [case for family in families for case in family()]
