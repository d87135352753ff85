"""Boosting: trees grown one after another, each on the errors that the ones before it left. Gradients and
curvatures of an objective measure these errors, a metric reports what remains of them, and one engine serves
the names and conventions of XGBoost and of LightGBM.
"""
