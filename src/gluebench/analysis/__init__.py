"""Whether a difference is real: two systems compared on the same examples."""

from gluebench.analysis.compare import Comparison, TaskComparison, compare
from gluebench.analysis.differences import Difference

__all__ = ["Comparison", "Difference", "TaskComparison", "compare"]
