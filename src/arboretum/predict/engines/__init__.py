"""Ways to add up what the leaves of many trees say; all of them give the same bits."""
