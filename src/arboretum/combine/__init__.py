"""Several different models that answer together: stacking and voting."""
