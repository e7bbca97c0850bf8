"""The apps of a site, one for each subject; each imports only those before it (ARCHITECTURE.md)."""
