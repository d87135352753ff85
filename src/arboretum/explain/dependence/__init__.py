"""What columns do to the answers of a model: partial dependence, curves of single rows, importances."""
