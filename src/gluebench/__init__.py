"""GLUE as software you can run: data, exact scores with error bars, analysis, baselines, a leaderboard.

The names below are loaded when first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gluebench.version import __version__

if TYPE_CHECKING:
    from gluebench.analysis.compare import Comparison, compare
    from gluebench.analysis.rank import Ranking, rank
    from gluebench.benchmark import Benchmark, ManifestError, Task, UnknownNameError, load_benchmark
    from gluebench.data import DataError, Example, Table, load
    from gluebench.scoring import Gold, GoldError, Report, Score, grade, grade_runs, read_gold, summarise
    from gluebench.submission import Column, Problem, Submission, check, write_submission

_HOMES = {
    "analysis.compare": ("Comparison", "compare"),
    "analysis.rank": ("Ranking", "rank"),
    "data": ("DataError", "Example", "Table", "load"),
    "benchmark": ("Benchmark", "ManifestError", "Task", "UnknownNameError", "load_benchmark"),
    "scoring": ("Gold", "GoldError", "Report", "Score", "grade", "grade_runs", "read_gold", "summarise"),
    "submission": ("Column", "Problem", "Submission", "check", "write_submission"),
}

__all__ = [
    "Benchmark",
    "Column",
    "Comparison",
    "DataError",
    "Example",
    "Gold",
    "GoldError",
    "ManifestError",
    "Problem",
    "Ranking",
    "Report",
    "Score",
    "Submission",
    "Table",
    "Task",
    "UnknownNameError",
    "__version__",
    "check",
    "compare",
    "grade",
    "grade_runs",
    "load",
    "load_benchmark",
    "rank",
    "read_gold",
    "summarise",
    "write_submission",
]


def __getattr__(name: str) -> Any:
    for room, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"gluebench.{room}"), name)
    raise AttributeError(f"module 'gluebench' has no attribute {name!r}")
