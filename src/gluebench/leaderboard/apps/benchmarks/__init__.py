"""Benchmarks that the site grades, and where their labels are kept."""
