"""Work between two rounds: evaluation of held-out tables, early stopping, callbacks."""
