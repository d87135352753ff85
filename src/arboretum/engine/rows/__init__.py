"""The rows of a node: drawn, and sent to its two sides."""
