"""Boosting by gradients and curvatures: the engine behind XGBoost's and LightGBM's APIs."""
