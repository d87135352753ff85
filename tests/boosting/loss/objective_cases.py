"""Labels for every objective, and the derivatives behind a peer's first tree.

A leaf of the first tree is -Σ g / (Σ h + λ) over its rows. With one row per leaf, or nearly, and two values
of λ, a peer's leaves reveal its g and h at any margins.
"""

import numpy as np

from arboretum.boosting.names.find import find_objective

N_ROWS = 60


def labels(kind: str, n: int = N_ROWS, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=n) * 2 + 0.5
    return {
        "real": signal,
        "positive": np.exp(signal / 2),
        "share": rng.random(n),
        "binary": (signal > 1).astype(float),
        "count": rng.poisson(np.exp(signal / 3)).astype(float),
        "classes": rng.choice(3, n, p=[0.6, 0.3, 0.1]).astype(float),
        "grades": rng.integers(0, 4, n).astype(float),
    }[kind]


def weights(n: int = N_ROWS, seed: int = 9) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.2, 3.0, n)


def margins(n_outputs: int = 1, n: int = N_ROWS, seed: int = 5) -> np.ndarray:
    """Return margins that float32 holds: the peers know no finer ones."""
    return np.random.default_rng(seed).normal(size=(n, n_outputs)).astype("f4").astype("f8")


def derivatives(objective, y, margin, weight=None, **more) -> tuple[np.ndarray, np.ndarray]:
    shape = (objective.n_outputs, len(y))
    g, h = np.full(shape, np.nan, np.float32), np.full(shape, np.nan, np.float32)
    objective.derivatives(y, np.ascontiguousarray(margin, np.float64), weight, g, h, 1, **more)
    return g, h


def leaves(g: np.ndarray, h: np.ndarray, leaf: np.ndarray, reg: float) -> np.ndarray:
    """Return -Σ g / (Σ h + λ) of every row's leaf; ``leaf`` is (n, outputs)."""
    out = np.empty(leaf.shape)
    for k in range(leaf.shape[1]):
        total = np.bincount(leaf[:, k], g[k])
        out[:, k] = (-total / (np.bincount(leaf[:, k], h[k]) + reg))[leaf[:, k]]
    return out


def xgboost_leaves(objective, y, margin, weight=None, groups=None, reg=1.0, **parameters):
    """Return what XGBoost's first tree adds to the margins, and the leaf of every row."""
    import xgboost as xgb

    data = xgb.DMatrix(np.arange(len(y), dtype=float)[:, None], y, weight=weight)
    data.set_base_margin(margin if margin.shape[1] > 1 else margin[:, 0])
    if groups is not None:
        data.set_group(groups)
    settings = {
        "objective": objective, "tree_method": "exact", "max_depth": 12, "eta": 1.0, "nthread": 1,
        "lambda": reg, "min_child_weight": 0.0, "max_delta_step": 0.0, "disable_default_eval_metric": 1,
        **parameters,
    }  # fmt: skip
    booster = xgb.train(settings, data, 1)
    after = booster.predict(data, output_margin=True).reshape(margin.shape)
    return after - margin, booster.predict(data, pred_leaf=True).reshape(margin.shape).astype(int)


def lightgbm_leaves(objective, y, margin, weight=None, groups=None, reg=1.0, **parameters):
    """Return what LightGBM's first tree adds to the margins, and the leaf of every row."""
    import lightgbm as lgb

    X = np.arange(len(y), dtype=float)[:, None]
    settings = {
        "objective": objective, "num_threads": 1, "verbose": -1, "learning_rate": 1.0,
        "boost_from_average": False, "min_data_in_leaf": 6, "min_sum_hessian_in_leaf": 0.0,
        "min_data_in_bin": 1, "max_bin": 1000, "num_leaves": 1000, "lambda_l2": reg,
        "metric": "None", **parameters,
    }  # fmt: skip
    data = lgb.Dataset(
        X, y, weight=weight, group=groups, init_score=margin.ravel(order="F"), params=settings
    )
    booster = lgb.train(settings, data, 1)
    added = booster.predict(X, raw_score=True).reshape(margin.shape)
    return added, booster.predict(X, pred_leaf=True).reshape(margin.shape).astype(int)


# ---------------------------------------------------------------------- every objective
# An objective: the labels it takes, and its parameters
XGBOOST = {
    "reg:squarederror": ("real", {}),
    "reg:squaredlogerror": ("positive", {}),
    "reg:absoluteerror": ("real", {}),
    "reg:pseudohubererror": ("real", {"huber_slope": 0.7}),
    "reg:quantileerror": ("real", {"quantile_alpha": [0.2, 0.5, 0.9]}),
    "reg:logistic": ("share", {}),
    "binary:logistic": ("binary", {"scale_pos_weight": 3.0}),
    "binary:logitraw": ("binary", {}),
    "binary:hinge": ("binary", {}),
    "multi:softmax": ("classes", {}),
    "multi:softprob": ("classes", {}),
    "count:poisson": ("count", {}),
    "reg:gamma": ("positive", {}),
    "reg:tweedie": ("count", {"tweedie_variance_power": 1.3}),
}
LIGHTGBM = {
    "regression": ("real", {}),
    "regression_l1": ("real", {}),
    "huber": ("real", {"alpha": 0.8}),
    "fair": ("real", {"fair_c": 1.5}),
    "poisson": ("count", {}),
    "quantile": ("real", {"alpha": 0.3}),
    "mape": ("real", {}),
    "gamma": ("positive", {}),
    "tweedie": ("count", {"tweedie_variance_power": 1.3}),
    "binary": ("binary", {"sigmoid": 1.7, "scale_pos_weight": 2.0}),
    "multiclass": ("classes", {}),
    "multiclassova": ("classes", {"sigmoid": 1.2}),
    "cross_entropy": ("share", {}),
}
CASES = [("xgboost", name) for name in XGBOOST] + [("lightgbm", name) for name in LIGHTGBM]
RENEWED = {"reg:absoluteerror", "reg:quantileerror", "regression_l1", "quantile", "mape"}


def find(dialect, name, **more):
    kind, parameters = (XGBOOST if dialect == "xgboost" else LIGHTGBM)[name]
    n_classes = 3 if kind == "classes" else None
    return find_objective(name, dialect, n_classes, **{**parameters, **more}), labels(kind)
