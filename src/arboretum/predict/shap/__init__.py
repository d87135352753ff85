"""What every column adds to the prediction for a row: SHAP values of any sum of trees."""
