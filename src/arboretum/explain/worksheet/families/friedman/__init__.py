"""Worksheets of Friedman's gradient boosting."""
