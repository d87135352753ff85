"""The candidates of all nodes of a tree at once, in numbers: what a page holds of its worksheets."""
