"""Rows become leaves, and leaves of many trees become numbers."""
