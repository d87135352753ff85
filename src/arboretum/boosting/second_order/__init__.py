"""Boosting by gradients and curvatures: what XGBoost's and LightGBM's names share."""
