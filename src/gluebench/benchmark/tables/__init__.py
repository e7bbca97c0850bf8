"""One table for every reader: columns declared once, shown as text, Markdown, LaTeX, HTML, CSV or JSON."""

from gluebench.benchmark.tables.markup import (
    latex_escape,
    markdown_escape,
    to_html,
    to_latex,
    to_markdown,
)
from gluebench.benchmark.tables.result import TabularResult
from gluebench.benchmark.tables.table import (
    Best,
    Column,
    Section,
    Table,
    escape_controls,
    names_and_numbers,
    numeric,
    show_count,
)
from gluebench.benchmark.tables.text import Paper, running_text, text_width, to_text
from gluebench.benchmark.tables.values import csv_lines, to_csv, to_frame, to_json

__all__ = [
    "Best",
    "Column",
    "Paper",
    "Section",
    "Table",
    "TabularResult",
    "csv_lines",
    "escape_controls",
    "latex_escape",
    "markdown_escape",
    "names_and_numbers",
    "numeric",
    "running_text",
    "show_count",
    "text_width",
    "to_csv",
    "to_frame",
    "to_html",
    "to_json",
    "to_latex",
    "to_markdown",
    "to_text",
]
