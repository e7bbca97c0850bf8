"""Commands that compare, rank, diagnose and audit, and those that make new examples."""
