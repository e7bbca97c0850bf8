"""Challenge sets: examples made by rule, kept where a system fails (docs/how-to/errors.md)."""
