"""Friedman's gradient boosting: small exact trees, each a step that lowers the loss."""
