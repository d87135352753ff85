"""AdaBoost: rows that were wrong weigh more in the next round."""
