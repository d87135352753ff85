"""Boosted trees without tuning: rounds found on held-out rows, members grown on all rows, their mean."""
