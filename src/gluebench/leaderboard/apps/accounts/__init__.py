"""Accounts: people who sign in by email."""
