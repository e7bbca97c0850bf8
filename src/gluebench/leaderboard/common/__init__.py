"""What all apps use: signals, formats, texts, refusals, kept pages. It imports no app."""
