"""Callbacks of other libraries: what gluebench writes when their training or their evaluation ends."""
