"""Results of other harnesses as scored tables: reading, joining by item, writing."""

from gluebench.data.results.read import read_results
from gluebench.data.results.tables import write_table
from gluebench.scoring.table import ScoredTable

__all__ = ["ScoredTable", "read_results", "write_table"]
