"""Friedman's gradient boosting: small exact trees, each a step down the loss."""
