"""Looking at a tree: as text, as a picture, as Graphviz source and as IF-THEN rules.

    text.py            export_text
    rules.py           to_rules              conditions.py  what a rule asks of one column
    graphviz.py        export_graphviz
    plot.py            plot_tree             drawing.py     boxes with a size and a place
                                             layout.py      where they stand
                                             legend.py      what the colours mean
    sklearn_tree.py    to_dtreeviz
    charts/            curves, bars and maps: plot_pruning_curve and its like
    effects/           what columns do: partial_dependence, feature_importances
    report/            one page of a model: report

    shared:  pick_tree.py  which tree of a model;  labels.py  words of a tree;  boxes.py  lines in a box;
             colors.py  its fill

Every function takes a fitted estimator with trees, one or many (``tree=`` picks), or a `Tree` itself, binary
and multiway alike.
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
