"""Rows and grown trees: walking down, evaluating by bit masks, sharing leaves."""
