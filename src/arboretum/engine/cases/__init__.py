"""Fractional cases: rows that may be in several nodes at once, as C4.5 has them."""
