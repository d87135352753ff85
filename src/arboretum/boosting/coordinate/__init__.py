"""AdaBoost as coordinate descent on a fixed dictionary of weak classifiers."""
