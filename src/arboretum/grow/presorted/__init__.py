"""Trees grown level by level over columns that are sorted once per fit."""
