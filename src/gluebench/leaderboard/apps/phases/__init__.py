"""Phases of a benchmark: their times, rules and deadlines."""
