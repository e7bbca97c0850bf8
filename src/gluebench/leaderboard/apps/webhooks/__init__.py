"""Webhooks: signed requests to addresses of organizers and participants when something happens."""
