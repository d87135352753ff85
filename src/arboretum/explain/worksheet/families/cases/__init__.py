"""Worksheets of ID3, C4.5 and its rules."""
