"""News: announcements of organizers, as a page, a feed and mail."""
