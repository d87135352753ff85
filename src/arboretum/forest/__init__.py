"""Forests: many trees grown on random views of the data, and what follows from having many."""
