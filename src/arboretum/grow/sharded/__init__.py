"""Second-order trees on rows that lie in shards."""
