"""Fits and predictions whose tables are read from files and streams, batch by batch."""
