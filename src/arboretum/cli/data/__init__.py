"""The table of `arboretum demo`, and the recipe that makes it."""
