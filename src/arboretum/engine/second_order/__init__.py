"""Second-order trees: gradients are packed and counted, nodes split, trees grown; losses and derivatives."""
