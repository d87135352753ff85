"""Quinlan's trees: ID3 and C4.5, with fractional cases, pruning by pessimistic errors, and rules."""
