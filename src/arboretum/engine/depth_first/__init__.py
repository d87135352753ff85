"""A whole tree in one compiled call, depth first: what forests grow, and single trees of small tables.

records     the arrays a tree is grown from, on and into, and the node at hand
grow        the loop: take a node, search it, split its rows; bag, branch, bounds, best_first, node: its steps
best_cut    the best cut of the columns a node looks at; codes reads them, sort and counts put them in order
random_cut  one random cut per column instead; toss: of a category
partition   the rows of a node go left or right
describe    what the nodes answer, and which categories go where

`grow_trees` calls the kernels that search and split by their addresses: each is compiled alone, and only if a
fit needs it.
"""
