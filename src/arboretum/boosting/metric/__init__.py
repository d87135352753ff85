"""Metrics of rows and of rankings, and the sets they are computed on."""
