"""What boosting descends: losses, their links, derivatives and steps of leaves."""
