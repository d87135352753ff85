"""Wine: how deep should one tree be? A grid search, a tree as text and as a picture."""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.metrics import classification_report
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree

wine = load_wine(as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(
    wine.data, wine.target, test_size=0.3, stratify=wine.target, random_state=7
)
search = GridSearchCV(
    DecisionTreeClassifier(random_state=7),
    {"max_depth": [2, 3], "criterion": ["gini", "entropy"], "min_samples_leaf": [1, 5]},
    cv=StratifiedKFold(5, shuffle=True, random_state=7),
    scoring="accuracy",
    return_train_score=True,
)
search.fit(X_train, y_train)
print("settings tried:", len(search.cv_results_["params"]))
print("names of settings:", sorted(search.best_params_))
print(f"cross-validated accuracy: {search.best_score_:.2f}")
tree = search.best_estimator_
print(f"accuracy on new wines: {tree.score(X_test, y_test):.2f}")
report = classification_report(y_test, tree.predict(X_test), output_dict=True)
print("classes in the report:", [name for name in report if name.isdigit()])

shallow = DecisionTreeClassifier(max_depth=2, random_state=7).fit(X_train, y_train)
print(export_text(shallow, feature_names=list(wine.feature_names), decimals=1, show_weights=True))
print("depth and leaves:", shallow.get_depth(), shallow.get_n_leaves())
ranked = sorted(zip(shallow.feature_importances_, wine.feature_names), reverse=True)
print("most important:", ranked[0][1])

figure, ax = plt.subplots(figsize=(9, 5))
boxes = plot_tree(
    shallow,
    feature_names=wine.feature_names,
    class_names=list(wine.target_names),
    filled=True,
    ax=ax,
)
print("boxes:", len(boxes), "first line:", boxes[0].get_text().splitlines()[0])
figure.savefig("wine_tree.png")
