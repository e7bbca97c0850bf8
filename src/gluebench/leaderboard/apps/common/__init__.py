"""What all apps use: signals, formats, texts, errors, the page cache. It imports no app."""
