"""How columns affect the predictions of a model: partial dependence, curves of single rows, importances."""
