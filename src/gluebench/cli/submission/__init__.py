"""Commands that check, write and send a submission."""
