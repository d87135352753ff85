"""The best division of a node: one file per way to search, and what a search adds up."""
