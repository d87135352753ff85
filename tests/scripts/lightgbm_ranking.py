"""LambdaMART: queries, positions of NDCG, gains of labels."""

import lightgbm as lgb
import numpy as np
from sklearn.metrics import ndcg_score

rng = np.random.RandomState(7)
sizes = rng.randint(10, 20, 50)
X = rng.normal(size=(sizes.sum(), 8))
grade = np.clip(
    np.round(1.2 * X[:, 0] - 0.8 * X[:, 1] + rng.normal(0, 0.4, len(X)) + 1), 0, 4
).astype(int)
cut = sizes[:40].sum()
ranker = lgb.LGBMRanker(
    n_estimators=40, num_leaves=8, learning_rate=0.1, min_child_samples=10, verbose=-1
)
ranker.fit(
    X[:cut],
    grade[:cut],
    group=sizes[:40],
    eval_set=[(X[cut:], grade[cut:])],
    eval_group=[sizes[40:]],
    eval_at=[3, 5],
    callbacks=[lgb.early_stopping(20, verbose=False), lgb.log_evaluation(0)],
)
curves = ranker.evals_result_["valid_0"]
print("metrics:", sorted(curves), "last: %.2f" % curves["ndcg@5"][-1])
start, found = cut, []
for size in sizes[40:]:
    rows = slice(start, start + size)
    found.append(ndcg_score([grade[rows]], [ranker.predict(X[rows])], k=5))
    start += size
print("NDCG@5 by hand: %.2f of %d queries" % (np.mean(found), len(found)))
print("columns: %s" % sorted(np.argsort(-ranker.feature_importances_)[:2].tolist()))
gains = lgb.LGBMRanker(
    n_estimators=20, label_gain=[0, 1, 3, 7, 15], lambdarank_truncation_level=10, verbose=-1
)
gains.fit(X[:cut], grade[:cut], group=sizes[:40])
print("order agrees: %.2f" % np.corrcoef(gains.predict(X[cut:]), ranker.predict(X[cut:]))[0, 1])
print(ranker.objective_, ranker.n_features_, ranker.booster_.num_trees() > 0)
