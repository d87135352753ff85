"""Names of losses and metrics in XGBoost, LightGBM and scikit-learn, and their settings."""
