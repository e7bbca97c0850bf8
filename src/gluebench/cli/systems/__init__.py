"""Commands that run, train and reproduce systems."""
