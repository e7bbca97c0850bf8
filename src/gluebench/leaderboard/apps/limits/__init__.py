"""Limits on the submissions of a person or a team."""
