"""Worksheets of second-order boosting: XGBoost's and LightGBM's."""
