"""Challenge sets: examples made by rule, to ask a system about and keep where it fails (docs/errors.md)."""
