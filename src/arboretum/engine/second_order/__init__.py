"""Trees of second order: gradients packed, counted, split and grown; losses and their derivatives."""
