"""Single trees under the names of `sklearn.tree`: replace `sklearn` by `arboretum` in an import.

`plot_tree`, `export_text` and `export_graphviz` take scikit-learn's arguments and return and print what
scikit-learn's do, for trees that it could have grown; those of `arboretum` itself show every model.

>>> from arboretum.tree import DecisionTreeClassifier, export_text
>>> print(export_text(DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"])))
|--- feature_0 <= 0.50
|   |--- class: no
|--- feature_0 >  0.50
|   |--- class: yes
<BLANKLINE>
"""

from arboretum.cart.cart import DecisionTreeClassifier, DecisionTreeRegressor
from arboretum.cart.extra_tree import ExtraTreeClassifier, ExtraTreeRegressor
from arboretum.explain import graphviz, plot, text
from arboretum.explain.sklearn_tree import shown_by_scikit_learn
from arboretum.registry import missing_name

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
    "export_graphviz",
    "export_text",
    "plot_tree",
]

export_graphviz = shown_by_scikit_learn("export_graphviz", graphviz.export_graphviz)
export_text = shown_by_scikit_learn("export_text", text.export_text)
plot_tree = shown_by_scikit_learn("plot_tree", plot.plot_tree)


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
