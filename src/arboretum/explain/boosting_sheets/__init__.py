"""Worksheets of boosters: AdaBoost, coordinate descent, Friedman's and second-order boosting."""
