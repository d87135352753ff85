"""A tree is arrays: its nodes, the conditions on its edges, how it is pruned and saved."""
