"""Boosting: trees grown one after another, each on what the ones before it left wrong. Gradients and
curvatures of an objective say what that is, a metric says how much of it remains, and one engine serves
the names and habits of XGBoost and of LightGBM.
"""
