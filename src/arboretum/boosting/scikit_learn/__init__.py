"""scikit-learn's histogram gradient boosting."""
