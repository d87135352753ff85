"""AdaBoost: misclassified rows weigh more in the next round."""
