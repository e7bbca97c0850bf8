"""data/sample."""
