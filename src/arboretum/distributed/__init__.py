"""Fits and predictions on Dask and Ray clusters; docs/scale.md shows how to use them."""
