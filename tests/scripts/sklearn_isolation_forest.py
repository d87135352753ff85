"""Outliers and neighbours of leaves: an isolation forest and a forest as an embedding."""

import numpy as np
from sklearn.datasets import make_blobs, make_circles
from sklearn.ensemble import IsolationForest, RandomTreesEmbedding
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline

X, _ = make_blobs(300, centers=[[2, 2], [-2, -2]], cluster_std=0.4, random_state=0)
rng = np.random.RandomState(1)
strange = rng.uniform(-6, 6, size=(30, 2))
rows = np.r_[X, strange]
forest = IsolationForest(n_estimators=80, max_samples=128, contamination=0.1, random_state=0)
found = forest.fit_predict(rows)
print("labels:", sorted(set(found.tolist())), "outliers:", int((found == -1).sum()))
actual = np.r_[np.zeros(300), np.ones(30)]
print("AUC: %.2f" % roc_auc_score(actual, -forest.score_samples(rows)))
print("offset about %.2f" % forest.offset_, "scores:", forest.decision_function(rows[:3]).shape)
print("same sign:", bool(((forest.decision_function(rows) < 0) == (found == -1)).all()))
plain = IsolationForest(random_state=0).fit(X)
print(
    "offset of auto:", plain.offset_, "rows per tree:", plain.max_samples_, len(plain.estimators_)
)

Xc, yc = make_circles(300, factor=0.5, noise=0.05, random_state=0)
hasher = RandomTreesEmbedding(n_estimators=10, max_depth=3, random_state=0)
codes = hasher.fit_transform(Xc)
print("ones in a row:", int(codes[0].sum()), "rows:", codes.shape[0])
print(
    "a line separates circles: %.2f"
    % make_pipeline(hasher, LogisticRegression()).fit(Xc, yc).score(Xc, yc)
)
