"""C4.5rules: a few general rules out of an unpruned tree, step by step."""
