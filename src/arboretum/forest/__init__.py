"""Forests: many trees grown on random views of the data, and what only many trees can tell."""
