"""Walk through tree_ by hand: every node, the path of a row, and pruning."""

import numpy as np
from sklearn import tree
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

wine = load_wine()
clf = DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(wine.data, wine.target)
t = clf.tree_
depth = np.zeros(t.node_count, dtype=int)
stack = [(0, 0)]
while stack:
    node, level = stack.pop()
    depth[node] = level
    if t.children_left[node] != t.children_right[node]:
        stack += [(t.children_left[node], level + 1), (t.children_right[node], level + 1)]
print("nodes:", t.node_count, "leaves:", int((t.children_left == t.children_right).sum()))
for node in range(t.node_count):
    indent = " " * 2 * depth[node]
    if t.feature[node] == -2:
        print(f"{indent}leaf: class {t.value[node].argmax()}, {t.n_node_samples[node]} rows")
    else:
        print(f"{indent}{wine.feature_names[t.feature[node]]} <= {t.threshold[node]:.2f}?")


def rules(node=0, path=()):
    """Return every path from the root to a leaf."""
    if t.feature[node] == -2:
        return [(" and ".join(path), wine.target_names[np.argmax(t.value[node])])]
    name, cut = wine.feature_names[t.feature[node]], round(t.threshold[node], 2)
    left = rules(t.children_left[node], (*path, f"{name} <= {cut}"))
    return left + rules(t.children_right[node], (*path, f"{name} > {cut}"))


for condition, kind in rules():
    print("if", condition, "then", kind)

row = wine.data[[120]]
path = clf.decision_path(row)
print(
    "path of a row:",
    path.indices[path.indptr[0] : path.indptr[1]].tolist(),
    "leaf",
    clf.apply(row)[0],
)
print(
    "impurity of the root: %.2f" % t.impurity[0],
    "weighted rows: %.0f" % t.weighted_n_node_samples[0],
)
print("depth:", t.max_depth, "classes:", t.n_classes[0], "largest share: %.2f" % t.value[-1].max())

X_train, X_test, y_train, y_test = train_test_split(
    *load_breast_cancer(return_X_y=True), random_state=0
)
pruning = DecisionTreeClassifier(random_state=0).cost_complexity_pruning_path(X_train, y_train)
alphas = pruning.ccp_alphas[:-1]
trees = [DecisionTreeClassifier(random_state=0, ccp_alpha=a).fit(X_train, y_train) for a in alphas]
scores = [one.score(X_test, y_test) for one in trees]
print(
    "smaller with every alpha:", bool(np.all(np.diff([one.tree_.node_count for one in trees]) <= 0))
)
print(
    "best score: %.2f" % max(scores),
    "impurity rises:",
    bool(np.all(np.diff(pruning.impurities) >= 0)),
)
reg = DecisionTreeRegressor(max_depth=2).fit(X_train[:, :3], X_train[:, 3])
print(
    "text:", len(tree.export_text(reg).splitlines()), "lines; dot:", tree.export_graphviz(reg)[:14]
)
print("importances: %.2f" % reg.feature_importances_.max(), reg)
