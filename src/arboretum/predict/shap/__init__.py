"""What every column adds to the answer to a row: SHAP values of any sum of trees."""
