"""A table and a target become a `Tree`: one file per way to grow."""
