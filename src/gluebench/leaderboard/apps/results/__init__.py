"""Results day: one act ends a benchmark, reveals what was held back, and makes the final results."""
