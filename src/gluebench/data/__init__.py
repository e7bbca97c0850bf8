"""Examples: reading them, and the sample benchmark that comes with the package."""

from gluebench.data.tsv import DataError, Example, load_split

__all__ = ["DataError", "Example", "load_split"]
