"""Rank documents of queries; groups as sizes and as ids."""

import numpy as np
from sklearn.metrics import ndcg_score
from xgboost import XGBRanker

rng = np.random.RandomState(2)
sizes = rng.randint(8, 15, 40)
qid = np.repeat(np.arange(40), sizes)
X = rng.normal(size=(len(qid), 6))
relevance = np.digitize(X[:, 0] + 0.5 * X[:, 1] + rng.normal(0, 0.3, len(qid)), [-0.5, 0.5, 1.2])
train, test = qid < 30, qid >= 30


def ndcg(model):
    """Return the mean NDCG of the queries held out."""
    found = []
    for q in np.unique(qid[test]):
        rows = qid == q
        found.append(ndcg_score([relevance[rows]], [model.predict(X[rows])], k=5))
    return np.mean(found)


for objective in ("rank:ndcg", "rank:pairwise", "rank:map"):
    y = relevance if objective != "rank:map" else (relevance > 1).astype(int)
    model = XGBRanker(
        objective=objective, n_estimators=25, max_depth=3, learning_rate=0.2, random_state=0
    )
    model.fit(X[train], y[train], qid=qid[train])
    print(objective, "NDCG@5: %.2f" % ndcg(model))

by_size = XGBRanker(n_estimators=25, max_depth=3, eval_metric=["ndcg@5", "ndcg@10"])
by_size.fit(
    X[train],
    relevance[train],
    group=sizes[:30],
    eval_set=[(X[test], relevance[test])],
    eval_group=[sizes[30:]],
    verbose=False,
)
print("metrics:", sorted(by_size.evals_result()["validation_0"]))
print("last NDCG@5: %.2f" % by_size.evals_result()["validation_0"]["ndcg@5"][-1])
order = np.argsort(-by_size.predict(X[qid == 39]))
print("first of a query is relevant:", bool(relevance[qid == 39][order[0]] >= 1))
print("columns by gain:", sorted(np.argsort(-by_size.feature_importances_)[:2].tolist()))
