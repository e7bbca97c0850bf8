"""A benchmark's questions as tasks of inspect_ai and lm-evaluation-harness, and answers from their logs."""
