"""Examples: getting, building, checking and reading them, and the sample benchmark of the package."""

from gluebench.data.errors import DataError
from gluebench.data.table import Table, load, load_split, table_of
from gluebench.data.tsv import Example

__all__ = ["DataError", "Example", "Table", "load", "load_split", "table_of"]
