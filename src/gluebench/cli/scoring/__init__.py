"""The command that grades, and how a report is printed."""
