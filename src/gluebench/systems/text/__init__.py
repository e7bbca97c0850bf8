"""Text as models take it: words, their numbers, their vectors."""
