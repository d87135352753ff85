"""Several different models combined into one: stacking and voting."""
