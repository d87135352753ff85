"""SHAP values of trees: a walk for any tree, tables for many rows and small trees, pairs of rows."""
