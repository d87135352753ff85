"""What is looked at between two rounds: held-out tables, when to stop, callbacks."""
