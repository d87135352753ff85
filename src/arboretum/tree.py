"""Single trees under the names of `sklearn.tree`: replace `sklearn` by `arboretum` in an import.

>>> from arboretum.tree import DecisionTreeClassifier
>>> DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"]).get_n_leaves()
2
"""

from arboretum.cart.cart import DecisionTreeClassifier, DecisionTreeRegressor
from arboretum.cart.extra_tree import ExtraTreeClassifier, ExtraTreeRegressor
from arboretum.explain.graphviz import export_graphviz
from arboretum.explain.plot import plot_tree
from arboretum.explain.text import export_text
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


def __getattr__(name: str) -> object:
    raise missing_name(__name__, name)
