"""What all apps use: number formats, refusals, rate limits, kept pages, signals. It imports no app."""
