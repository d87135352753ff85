"""Curves, bars and maps: figures of a model drawn with matplotlib."""
