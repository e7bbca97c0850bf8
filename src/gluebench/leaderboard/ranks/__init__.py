"""How sure the board is: rank intervals, ties, other rules, pairs of systems, scores against cost."""
