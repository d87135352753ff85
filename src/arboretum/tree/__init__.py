"""One tree: its data structure, how it is grown and pruned, and the estimators made of it."""
