"""What was done on the site, by whom and when: written, never changed."""
