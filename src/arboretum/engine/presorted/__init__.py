"""A whole tree in one compiled call, level by level, on columns sorted once per fit."""
