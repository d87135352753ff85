"""A whole tree in one compiled call, depth first: what forests grow, and single trees of small tables.

records     the arrays a tree is grown from, on and into
grow        the loop: take a node, search it, part its rows
best_cut    the best cut of the columns a node looks at; counts: codes and categories, added up
random_cut  one random question per column instead; toss: of a category
describe    what the nodes answer, and which categories go where
"""
