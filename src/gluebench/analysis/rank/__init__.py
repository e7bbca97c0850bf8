"""Many systems ranked: the ranks that each may truly have, and what depends on the rule.

The functions are loaded when first used: the order of a board needs no numpy.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gluebench.analysis.rank.panel import rank_scores
    from gluebench.analysis.rank.ranking import RankedSystem, Ranking, rank

__all__ = ["RankedSystem", "Ranking", "rank", "rank_scores"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'gluebench.analysis.rank' has no attribute {name!r}")
    from gluebench.analysis.rank import panel, ranking

    return getattr(panel if name == "rank_scores" else ranking, name)
