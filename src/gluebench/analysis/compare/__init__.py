"""Two systems on the same examples: how large the difference is, and whether it is significant."""

from gluebench.analysis.compare.comparison import (
    SCHEMA,
    CategoryComparison,
    Comparison,
    TaskComparison,
    compare,
)
from gluebench.analysis.compare.scores import Difference
from gluebench.scoring.inference import ALPHA

__all__ = ["ALPHA", "SCHEMA", "CategoryComparison", "Comparison", "Difference", "TaskComparison", "compare"]
