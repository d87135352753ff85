"""CART: classification and regression trees, and single trees whose cuts are drawn."""
