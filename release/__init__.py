"""Making a release: what is in its files, and the one command that prepares, checks and tags it."""
