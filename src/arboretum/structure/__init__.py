"""A tree is arrays: its nodes, what its edges say, how it is cut back and kept in files."""
