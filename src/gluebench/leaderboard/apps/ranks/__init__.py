"""Certainty of the ranks: rank intervals, ties, other rules, pairs of systems, scores against cost."""
