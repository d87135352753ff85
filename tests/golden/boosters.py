"""Boosted models of the golden set; small for the reason given in `trees`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from sklearn.linear_model import LogisticRegression

import arboretum as arb
from arboretum.engine.elementwise import expm1
from tests.golden.case import (
    Case,
    asks,
    doubled,
    family,
    fit,
    on_top,
    plain_dicts,
    ranked,
    ranked_by_id,
    reads,
    starting,
    twice,
    watched,
)


# ---------------------------------------------------------------------- first-order boosting
def adaboost() -> Iterator[Case]:
    ada = partial(arb.AdaBoostClassifier, random_state=1)
    numbers = partial(arb.AdaBoostRegressor, random_state=1)
    case = family("adaboost")
    staged = (asks("staged_decision_function"), asks("decision_function"))
    yield case(
        "samme",
        lambda: ada(n_estimators=10),
        "two.class",
        more=(*staged, reads("edges_"), reads("normalisers_")),
    )
    yield case("samme, classes", lambda: ada(n_estimators=8, learning_rate=0.7), "many.class")
    yield case("samme, words", lambda: ada(n_estimators=8), "mixed.class", weighted=True)
    yield case(
        "discrete", lambda: ada(n_estimators=8, algorithm="discrete"), "mixed.class", more=staged
    )
    yield case(
        "samme.r",
        lambda: ada(arb.CARTClassifier(max_depth=2), n_estimators=6, algorithm="SAMME.R"),
        "many.class",
        more=staged,
    )
    yield case(
        "resample",
        lambda: ada(n_estimators=8, sampling="resample", random_state=1),
        "many.third",
    )
    yield case(
        "deeper trees",
        lambda: ada(arb.CARTClassifier(max_depth=3, min_samples_leaf=5), n_estimators=5),
        "mixed.three",
    )
    yield case(
        "least error",
        lambda: ada(
            arb.CARTClassifier(criterion="error", max_depth=1), n_estimators=8, keep_weights=True
        ),
        "mixed.three",
        more=(reads("sample_weights_"), reads("train_errors_")),
    )
    yield case(
        "held out",
        lambda: ada(n_estimators=30, n_iter_no_change=3, validation_fraction=0.3),
        "two.class",
        more=(reads("validation_scores_"),),
    )
    yield case("r2, mean", lambda: numbers(n_estimators=6, combine="mean"), "real.number")
    yield case("r2, sum", lambda: numbers(n_estimators=6, combine="sum"), "real.number")
    yield case(
        "foreign", lambda: ada(LogisticRegression(), n_estimators=4), "two.class", saves=False
    )
    yield case("r2", lambda: numbers(n_estimators=6, random_state=1), "real.number")
    yield case(
        "r2, square",
        lambda: numbers(n_estimators=5, loss="square", sampling="resample", random_state=2),
        "mixed.number",
        weighted=True,
    )
    yield case(
        "r2, exponential",
        lambda: numbers(
            arb.CARTRegressor(max_depth=2), n_estimators=6, loss="exponential", random_state=3
        ),
        "real.number",
        more=(asks("staged_predict"),),
    )


def coordinate() -> Iterator[Case]:
    model = partial(arb.CoordinateBoostingClassifier, random_state=1)
    case = family("coordinate")
    yield case("greedy", lambda: model(max_iter=20), "two.class", weighted=True)
    yield case("cyclic, words", lambda: model(max_iter=60, order="cyclic"), "mixed.class")
    yield case(
        "random, bins",
        lambda: model(max_iter=60, order="random", random_state=1, max_bins=8),
        "two.class",
    )
    yield case(
        "stopping",
        lambda: model(max_iter=60, n_iter_no_change=5, validation_fraction=0.25, random_state=2),
        "two.class",
    )
    yield case(
        "members",
        lambda: model([arb.CARTClassifier(max_depth=d) for d in (1, 2)], max_iter=10),
        "mixed.class",
    )


class LogCosh:
    """A loss of the user's own, with the same bits on every machine."""

    def gradient(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        part = expm1(-2 * np.abs(F - y))
        return np.sign(y - F) * part / (part + 2)  # tanh(F - y)

    def hessian(self, y: np.ndarray, F: np.ndarray) -> np.ndarray:
        return 1 - np.square(self.gradient(y, F))


def gradient() -> Iterator[Case]:
    boost = partial(arb.GradientBoostingClassifier, n_estimators=6, random_state=1)
    numbers = partial(arb.GradientBoostingRegressor, n_estimators=6, random_state=1)
    case = family("gradient")
    yield case(
        "two classes",
        boost,
        "two.class",
        more=(asks("decision_function"), asks("staged_predict_proba"), asks("apply")),
    )
    yield case("classes", lambda: boost(max_depth=2), "many.class", weighted=True)
    yield case("words", lambda: boost(category_penalty=0.5), "mixed.three")
    yield case("exponential", lambda: boost(loss="exponential"), "mixed.class")
    yield case(
        "subsample",
        lambda: boost(subsample=0.6, max_features=2, random_state=1),
        "mixed.class",
        more=(reads("oob_improvement_"), reads("train_score_")),
    )
    yield case(
        "stopping",
        lambda: boost(n_estimators=30, n_iter_no_change=2, learning_rate=0.5, random_state=2),
        "two.class",
    )
    yield case(
        "best first", lambda: boost(max_leaf_nodes=6, max_depth=None, ccp_alpha=0.002), "two.class"
    )
    yield case("init", lambda: boost(init=LogisticRegression()), "two.class", saves=False)
    yield case("plain gradient", lambda: boost(step="gradient"), "many.class")
    yield case(
        "line search, huber",
        lambda: numbers(step="line_search", loss="huber"),
        "real.number",
        more=(reads("step_lengths_"),),
    )
    yield case(
        "any learner",
        lambda: numbers(estimator=arb.CARTRegressor(max_depth=2)),
        "mixed.number",
        saves=False,
        more=(reads("step_lengths_"),),
    )
    yield case("sparse", lambda: boost(max_depth=2), "sparse.class")
    yield case(
        "more rounds", lambda: boost(n_estimators=4, warm_start=True), "two.class", fit=twice
    )
    for loss, target in (
        ("squared_error", "number"),
        ("absolute_error", "number"),
        ("huber", "number"),
        ("quantile", "number"),
        ("poisson", "count"),
        ("gamma", "amount"),
        ("tweedie", "count"),
    ):
        yield case(loss, partial(numbers, loss=loss, alpha=0.7), f"real.{target}", weighted=True)
    yield case(
        "line search",
        lambda: numbers(loss="huber", step="line_search", max_depth=2),
        "real.number",
    )
    yield case("words to numbers", lambda: numbers(min_samples_leaf=4), "mixed.number")
    yield case(
        "deep", lambda: numbers(n_estimators=3, max_depth=10, min_samples_leaf=2), "real.number"
    )
    yield case(
        "init and stopping",
        lambda: numbers(
            n_estimators=20, init="zero", n_iter_no_change=3, subsample=0.7, random_state=3
        ),
        "real.number",
    )
    yield case("own loss", lambda: numbers(loss=LogCosh()), "real.number", saves=False)


# ---------------------------------------------------------------------- second-order boosting
def half_squares(y_true: np.ndarray, y_pred: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of an objective of the user's own."""
    return y_pred - y_true, np.ones_like(y_true)


def xgb() -> Iterator[Case]:
    boost = partial(arb.XGBClassifier, n_estimators=6, random_state=1)
    numbers = partial(arb.XGBRegressor, n_estimators=6, random_state=1)
    quiet = partial(watched, verbose=False)
    case = family("xgb")
    yield case(
        "two classes",
        boost,
        "two.class",
        more=(
            asks("apply"),
            asks("predict", output_margin=True),
            asks("staged_predict_proba"),
            reads("feature_importances_"),
        ),
    )
    yield case("classes", lambda: boost(max_depth=3), "many.third", weighted=True)
    yield case("words", lambda: boost(enable_categorical=True), "mixed.class")
    yield case(
        "words one by one",
        lambda: boost(enable_categorical=True, max_cat_to_onehot=20, max_depth=3),
        "mixed.three",
    )
    yield case("exact", lambda: boost(tree_method="exact", gamma=0.1), "many.third")
    yield case("exact numbers", lambda: numbers(tree_method="exact", max_depth=4), "real.number")
    yield case("approx", lambda: boost(tree_method="approx", max_bin=16), "two.class")
    yield case(
        "approx, for every tree",
        lambda: boost(tree_method="approx", proposals="global", sketch_eps=0.1),
        "many.class",
    )
    yield case(
        "approx, for every node",
        lambda: boost(tree_method="approx", proposals="local", sketch_eps=0.1, max_depth=3),
        "mixed.three",
    )
    yield case(
        "approx, once",
        lambda: numbers(tree_method="approx", proposals="fit", max_bin=20),
        "real.number",
        weighted=True,
    )
    yield case(
        "lossguide",
        lambda: numbers(grow_policy="lossguide", max_leaves=9, max_depth=0, max_bin=32),
        "real.number",
    )
    yield case("symmetric", lambda: boost(grow_policy="symmetric", max_depth=4), "mixed.three")
    yield case(
        "symmetric, samples",
        lambda: numbers(
            grow_policy="symmetric", subsample=0.7, colsample_bynode=0.6, reg_alpha=0.1, gamma=0.2
        ),
        "real.number",
        weighted=True,
    )
    yield case(
        "dart",
        lambda: boost(booster="dart", rate_drop=0.4, one_drop=True, sample_type="weighted"),
        "two.class",
    )
    yield case(
        "dart, forest",
        lambda: numbers(booster="dart", rate_drop=0.5, skip_drop=0.3, normalize_type="forest"),
        "real.number",
    )
    yield case(
        "samples",
        lambda: boost(
            subsample=0.6, colsample_bytree=0.8, colsample_bylevel=0.8, colsample_bynode=0.7
        ),
        "two.class",
    )
    yield case(
        "random forest",
        lambda: numbers(n_estimators=2, num_parallel_tree=4, subsample=0.6, colsample_bynode=0.6),
        "real.number",
    )
    yield case(
        "monotone",
        lambda: numbers(monotone_constraints=(1, 0, 0, 0, 1, 0), max_depth=5),
        "real.number",
    )
    yield case(
        "interactions",
        lambda: numbers(interaction_constraints=[[0, 1, 2], [3, 4, 5]]),
        "real.number",
    )
    yield case(
        "penalties",
        lambda: boost(reg_alpha=0.5, reg_lambda=3, min_child_weight=4, max_delta_step=0.4),
        "two.class",
    )
    yield case(
        "stopping",
        lambda: boost(n_estimators=40, early_stopping_rounds=3, eval_metric=["auc", "logloss"]),
        "two.class",
        fit=quiet,
        more=(lambda model, X: model.evals_result(),),
    )
    yield case(
        "stopping, classes",
        lambda: boost(n_estimators=10, eval_metric=["mlogloss", "merror"], scale_pos_weight=None),
        "many.third",
        fit=quiet,
        more=(lambda model, X: model.evals_result(),),
    )
    yield case("unbalanced", lambda: boost(scale_pos_weight=3, base_score=0.3), "two.class")
    yield case("sparse", boost, "sparse.class")
    yield case("hinge", lambda: boost(objective="binary:hinge"), "two.class")
    yield case("logitraw", lambda: boost(objective="binary:logitraw"), "two.class")
    yield case("margins", numbers, "real.number", fit=partial(starting, argument="base_margin"))
    yield case(
        "more rounds", lambda: boost(n_estimators=3), "two.class",
        fit=partial(on_top, argument="xgb_model"),
    )  # fmt: skip
    for objective, target in (
        ("squarederror", "number"),
        ("squaredlogerror", "amount"),
        ("absoluteerror", "number"),
        ("pseudohubererror", "number"),
        ("logistic", "share"),
        ("gamma", "amount"),
        ("tweedie", "count"),
    ):
        make = partial(numbers, objective=f"reg:{objective}", max_depth=3)
        yield case(objective, make, f"real.{target}", weighted=objective == "absoluteerror")
    yield case("poisson", lambda: numbers(objective="count:poisson", max_depth=3), "real.count")
    yield case(
        "quantiles",
        lambda: numbers(objective="reg:quantileerror", quantile_alpha=[0.2, 0.8], max_depth=3),
        "real.number",
    )
    yield case("words to numbers", lambda: numbers(enable_categorical=True), "mixed.number")
    yield case("two targets", numbers, "real.number", fit=doubled)
    yield case("two labels", boost, "two.class", fit=doubled, more=(asks("decision_function"),))
    yield case(
        "weights of columns",
        lambda: numbers(colsample_bytree=0.5, feature_weights=[3.0, 1.0, 0.0, 1.0, 2.0, 1.0]),
        "real.number",
    )
    yield case("base", lambda: arb.XGBModel(n_estimators=3), "real.number", saves=False)
    yield case("forest", lambda: arb.XGBRFClassifier(n_estimators=6), "many.third", weighted=True)
    yield case("forest of numbers", lambda: arb.XGBRFRegressor(n_estimators=6), "real.number")
    yield case("own objective", lambda: numbers(objective=half_squares), "real.number", saves=False)


def lgbm() -> Iterator[Case]:
    small = {"n_estimators": 6, "num_leaves": 8, "min_child_samples": 5, "random_state": 1}
    boost = partial(arb.LGBMClassifier, **small)
    numbers = partial(arb.LGBMRegressor, **small)
    case = family("lgbm")
    yield case(
        "two classes",
        boost,
        "two.class",
        more=(
            asks("predict", raw_score=True),
            asks("predict", pred_leaf=True),
            reads("feature_importances_"),
        ),
    )
    yield case("classes", lambda: boost(max_depth=3), "many.class", weighted=True)
    yield case("one against rest", lambda: boost(objective="multiclassova"), "many.third")
    yield case("words", lambda: boost(min_data_per_group=5, cat_smooth=2), "mixed.class")
    yield case(
        "words one by one", lambda: boost(max_cat_to_onehot=20, cat_l2=1), "mixed.three",
        weighted=True,
    )  # fmt: skip
    yield case(
        "zeros missing, clear scores",
        lambda: boost(zero_as_missing=True, pred_early_stop=True, pred_early_stop_freq=2),
        "two.class",
    )
    yield case(
        "goss",
        lambda: boost(data_sample_strategy="goss", learning_rate=0.5, top_rate=0.3),
        "two.class",
    )
    yield case(
        "dart", lambda: boost(boosting_type="dart", drop_rate=0.5, skip_drop=0.2), "two.class"
    )
    yield case(
        "dart, xgboost's",
        lambda: numbers(
            boosting_type="dart", drop_rate=0.5, skip_drop=0.1, xgboost_dart_mode=True,
            uniform_drop=True,
        ),
        "real.number",
    )  # fmt: skip
    yield case(
        "rf",
        lambda: boost(boosting_type="rf", subsample=0.6, subsample_freq=1),
        "many.third",
    )
    yield case("bundles", boost, "sparse.class")
    yield case("loose bundles", lambda: numbers(max_conflict_rate=0.1), "sparse.number")
    yield case("no bundles", lambda: numbers(enable_bundle=False), "sparse.number")
    yield case(
        "samples",
        lambda: boost(
            subsample=0.6, subsample_freq=2, colsample_bytree=0.7, feature_fraction_bynode=0.7
        ),
        "two.class",
    )
    yield case(
        "samples by class",
        lambda: boost(subsample_freq=1, pos_bagging_fraction=0.5, neg_bagging_fraction=0.8),
        "two.class",
    )
    yield case("unbalanced", lambda: boost(is_unbalance=True), "two.class")
    yield case("random cuts", lambda: boost(extra_trees=True), "two.class")
    yield case(
        "random cuts, words",
        lambda: numbers(
            extra_trees=True, feature_fraction_bynode=0.8, min_data_per_group=5, cat_smooth=2
        ),
        "mixed.number",
        weighted=True,
    )
    yield case("class weights", lambda: boost(class_weight="balanced"), "many.class")
    yield case(
        "penalties",
        lambda: numbers(
            reg_alpha=0.3, reg_lambda=2, path_smooth=3, max_delta_step=0.5, min_split_gain=0.1
        ),
        "real.number",
    )
    yield case(
        "monotone",
        lambda: numbers(monotone_constraints=[1, 0, 0, 0, 1, 0], max_bin=31),
        "real.number",
    )
    yield case(
        "interactions",
        lambda: numbers(interaction_constraints=[[0, 1, 2], [3, 4, 5]]),
        "real.number",
    )
    yield case(
        "stopping",
        lambda: boost(n_estimators=40, learning_rate=0.4, early_stopping_round=3, verbosity=-1),
        "two.class",
        fit=partial(watched, eval_metric=["auc", "binary_error"]),
        more=(lambda model, X: plain_dicts(model.evals_result_),),
    )
    yield case(
        "reset rates",
        boost,
        "two.class",
        fit=lambda model, t, target, weighted: fit(
            model, t, target, weighted, callbacks=[_falling_rates()]
        ),
    )
    yield case("scores", numbers, "real.number", fit=partial(starting, argument="init_score"))
    yield case(
        "more rounds", lambda: boost(n_estimators=3), "two.class",
        fit=partial(on_top, argument="init_model"),
    )  # fmt: skip
    for objective, target in (
        ("regression", "number"),
        ("regression_l1", "number"),
        ("huber", "number"),
        ("fair", "number"),
        ("poisson", "count"),
        ("quantile", "number"),
        ("mape", "amount"),
        ("gamma", "amount"),
        ("tweedie", "count"),
        ("cross_entropy", "share"),
    ):
        make = partial(numbers, objective=objective)
        yield case(objective, make, f"real.{target}", weighted=objective in ("huber", "quantile"))
    yield case("words to numbers", numbers, "mixed.number")
    yield case("own objective", lambda: numbers(objective=half_squares), "real.number", saves=False)


def hist() -> Iterator[Case]:
    small = {"max_iter": 6, "max_leaf_nodes": 8, "min_samples_leaf": 5, "random_state": 1}
    boost = partial(arb.HistGradientBoostingClassifier, **small)
    numbers = partial(arb.HistGradientBoostingRegressor, **small)
    case = family("hist")
    yield case("two classes", boost, "two.class", more=(asks("decision_function"),))
    yield case("classes", lambda: boost(max_depth=3), "many.class", weighted=True)
    yield case("words", lambda: boost(class_weight="balanced"), "mixed.class")
    yield case(
        "stopping",
        lambda: boost(
            max_iter=40, early_stopping=True, n_iter_no_change=3, validation_fraction=0.3
        ),
        "two.class",
        more=(reads("train_score_"), reads("validation_score_"), reads("n_iter_")),
    )
    yield case(
        "scorer",
        lambda: boost(early_stopping=True, scoring="accuracy", validation_fraction=None),
        "many.third",
        more=(reads("train_score_"),),
    )
    yield case(
        "going on", lambda: boost(warm_start=True), "two.class", fit=partial(twice, what="max_iter")
    )
    yield case(
        "few columns, few bins", lambda: numbers(max_features=0.5, max_bins=8), "real.number"
    )
    yield case(
        "pairs, l2", lambda: numbers(interaction_cst="pairwise", l2_regularization=2), "real.number"
    )
    for loss, target in (
        ("squared_error", "mixed.number"),
        ("absolute_error", "real.number"),
        ("quantile", "real.number"),
        ("poisson", "real.count"),
        ("gamma", "real.amount"),
    ):
        level = 0.7 if loss == "quantile" else None
        make = partial(numbers, loss=loss, quantile=level)
        yield case(loss, make, target, weighted=loss == "quantile")


def _falling_rates() -> Callable:
    return arb.reset_parameter(learning_rate=[0.3, 0.25, 0.2, 0.15, 0.1, 0.05])


def ranking() -> Iterator[Case]:
    theirs = partial(arb.XGBRanker, n_estimators=6, random_state=1, max_depth=3)
    ours = partial(
        arb.LGBMRanker, n_estimators=6, random_state=1, num_leaves=6, min_child_samples=5
    )
    case = family("ranking")
    yield case("ndcg", theirs, "lists.grade", fit=ranked, weighted=True)
    yield case(
        "ndcg, drawn pairs",
        lambda: theirs(lambdarank_pair_method="mean", lambdarank_num_pair_per_sample=2),
        "lists.grade",
        fit=ranked_by_id,
    )
    yield case("map", lambda: theirs(objective="rank:map"), "lists.click", fit=ranked)
    yield case(
        "pairwise",
        lambda: theirs(objective="rank:pairwise", lambdarank_normalization=False),
        "lists.grade",
        fit=ranked,
    )
    yield case(
        "lambdarank",
        ours,
        "lists.grade",
        fit=partial(ranked, eval_at=[3, 5]),
        weighted=True,
        more=(lambda model, X: plain_dicts(model.evals_result_),),
    )
    yield case(
        "lambdarank, lists drawn",
        lambda: ours(
            bagging_by_query=True, subsample=0.6, subsample_freq=1, lambdarank_truncation_level=4
        ),
        "lists.grade",
        fit=ranked,
    )
    yield case(
        "rank_xendcg",
        lambda: ours(objective="rank_xendcg", objective_seed=3),
        "lists.grade",
        fit=ranked,
        weighted=True,
    )


FAMILIES = (adaboost, coordinate, gradient, xgb, lgbm, hist, ranking)
