"""What is reported of a model: metrics of rows and of orders, and what they read."""
