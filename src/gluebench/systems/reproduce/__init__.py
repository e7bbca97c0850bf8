"""The rows of the paper's Table 4: what each is, what the paper printed of it, and how to run it again.

Each row is one file in `recipes/`; `presets.toml` says what is smaller in a quick run and `files.toml` where
published weights came from.
"""

from gluebench.systems.reproduce.row import PrintedScores, Row, row_called, rows

__all__ = ["PrintedScores", "Row", "row_called", "rows"]
