"""Exact trees of second order: every cut between two values that are there."""
