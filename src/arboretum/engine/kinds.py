"""The kinds of questions by which nodes split, as trees store them and kernels read them.

LEAF        nothing
THRESHOLD   is x <= threshold?             child 0 is yes
SUBSET      is x one of these categories?  child 0 is yes
MULTIWAY    which category is x?           a child for each
GROUPS      which group is x in?           a child for each
"""

__all__ = ["GROUPS", "LEAF", "MULTIWAY", "SUBSET", "THRESHOLD"]

LEAF, THRESHOLD, SUBSET, MULTIWAY, GROUPS = 0, 1, 2, 3, 4
