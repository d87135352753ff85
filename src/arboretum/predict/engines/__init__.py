"""Ways to add up the leaves that a row reaches in many trees; all of them give the same bits."""
