"""LightGBM's names, parameters, defaults and arguments on this package's engine."""
