"""A table as bins: where to cut, which categories count, what shares a column."""
