"""Rows and grown trees: walking down, asking by bit masks, sharing leaves."""
