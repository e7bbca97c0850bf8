"""Whether a difference is real: two systems compared on the same examples, and many ranked.

The comparison is loaded when first used: ranking a board needs neither numpy nor the labels.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gluebench.analysis.comparison import Comparison, TaskComparison, compare
    from gluebench.analysis.differences import Difference
    from gluebench.analysis.rank_records import RankedSystem, Ranking
    from gluebench.analysis.ranks import rank

_LATER = {
    "Comparison": "comparison",
    "Difference": "differences",
    "RankedSystem": "rank_records",
    "Ranking": "rank_records",
    "TaskComparison": "comparison",
    "compare": "comparison",
    "rank": "ranks",
}

__all__ = ["Comparison", "Difference", "RankedSystem", "Ranking", "TaskComparison", "compare", "rank"]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'gluebench.analysis' has no attribute {name!r}")
    return getattr(import_module(f"gluebench.analysis.{_LATER[name]}"), name)
