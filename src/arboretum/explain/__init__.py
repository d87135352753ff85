"""Looking at a tree: as text, as a picture, as Graphviz source and as IF-THEN rules.

    text.py            export_text
    rules.py           to_rules              conditions.py  conditions on one column
    graphviz.py        export_graphviz
    plot.py            plot_tree             drawing.py     boxes with size and position
    sklearn_tree.py    to_dtreeviz
    charts/            curves, bars and maps: plot_pruning_curve and others
    dependence/        effects of columns: partial_dependence, feature_importances
    report/            one page about a model: report
    worksheet/         the arithmetic of a model: worksheet
    outline/           the numbers of every candidate split

    shared:  pick_tree.py  chooses a tree of a model;  labels.py  texts of a tree;  boxes.py  lines in a box;
             colors.py  fill colours

Every function takes a fitted estimator with trees, one or many (``tree=`` chooses), or a `Tree` itself,
binary or multiway.
"""

from arboretum.explain.charts.pruning_curve import plot_pruning_curve
from arboretum.explain.conditions import RuleCondition
from arboretum.explain.graphviz import export_graphviz
from arboretum.explain.plot import plot_tree
from arboretum.explain.rules import Rule, RuleSet, to_rules
from arboretum.explain.text import export_text

__all__ = [
    "Rule",
    "RuleCondition",
    "RuleSet",
    "export_graphviz",
    "export_text",
    "plot_pruning_curve",
    "plot_tree",
    "to_rules",
]
