"""The best tree of depth 1 for changing row weights, as AdaBoost needs it in every round."""
