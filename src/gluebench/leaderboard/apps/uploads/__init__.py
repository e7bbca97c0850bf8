"""Uploads of submissions by a page, the API or a command; all go through `accept`."""
