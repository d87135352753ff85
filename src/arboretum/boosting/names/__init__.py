"""Names: which loss or metric XGBoost, LightGBM and scikit-learn mean by a word, and what may be set."""
