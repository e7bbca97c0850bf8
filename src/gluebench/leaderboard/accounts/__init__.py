"""Accounts: people who sign in by e-mail."""
