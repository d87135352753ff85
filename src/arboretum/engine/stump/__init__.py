"""The best tree of depth 1, again and again with other weights: what AdaBoost needs."""
