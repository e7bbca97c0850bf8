"""The audit log: what was done on the site, by whom and when; rows are never changed."""
