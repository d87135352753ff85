"""The losses that boosting minimises: links, derivatives and steps of leaves."""
