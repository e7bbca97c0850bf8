"""What is wrong with a benchmark's data, or should be known of it (docs/how-to/organize.md)."""

from gluebench.analysis.lint.findings import Finding, Severity, TaskLint
from gluebench.analysis.lint.report import lint_rows, lint_task, read_splits

__all__ = ["Finding", "Severity", "TaskLint", "lint_rows", "lint_task", "read_splits"]
