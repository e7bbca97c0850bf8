"""Examples: reading them, and the sample benchmark that comes with the package."""

from gluebench.data.errors import DataError
from gluebench.data.tsv import Example, load_split

__all__ = ["DataError", "Example", "load_split"]
