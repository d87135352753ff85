"""The table `arboretum demo` works on, and the recipe it was made by."""
