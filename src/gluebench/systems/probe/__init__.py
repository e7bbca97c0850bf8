"""SentEval's probe on a frozen sentence encoder; `system.ProbedEncoder` is what runs it over a benchmark."""
