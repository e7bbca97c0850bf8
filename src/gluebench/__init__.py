"""GLUE as software you can run: data, exact scores with intervals, analysis, baselines, a leaderboard.

The names below are loaded when first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gluebench.version import __version__

if TYPE_CHECKING:
    from gluebench import analysis, benchmark, data, leaderboard, scoring, submission, systems
    from gluebench.analysis import errors
    from gluebench.analysis.compare import Comparison, compare
    from gluebench.analysis.diagnostics import Diagnosis, diagnose
    from gluebench.analysis.rank import Ranking, rank
    from gluebench.benchmark import Benchmark, ManifestError, Task, UnknownNameError, load_benchmark
    from gluebench.benchmark import installed as benchmarks
    from gluebench.data import DataError, Example, Table, load
    from gluebench.data.results import ScoredTable, read_results, write_table
    from gluebench.scoring import (
        Gold,
        GoldError,
        Report,
        Score,
        Summary,
        grade,
        grade_runs,
        metrics,
        read_gold,
        summarise,
        summarize,
    )
    from gluebench.scoring.many import grade_many
    from gluebench.submission import Column, Problem, Submission, SubmissionError, check, write_submission
    from gluebench.systems import run

_NAMES = {
    "analysis.compare": "Comparison compare",
    "analysis.diagnostics": "Diagnosis diagnose",
    "analysis.rank": "Ranking rank",
    "benchmark": "Benchmark ManifestError Task UnknownNameError load_benchmark",
    "data": "DataError Example Table load",
    "data.results": "ScoredTable read_results write_table",
    "scoring": "Gold GoldError Report Score Summary grade grade_runs read_gold summarise summarize",
    "scoring.many": "grade_many",
    "submission": "Column Problem Submission SubmissionError check write_submission",
    "systems": "run",
}
"""Module to the names that it offers here."""
_OTHERS = {"benchmarks": ("benchmark", "installed")}
"""Name to the module and the name that it has there."""
_MODULES = {"errors": "analysis.errors", "metrics": "scoring.metrics"}
_ROOMS = ("analysis", "benchmark", "data", "leaderboard", "scoring", "submission", "systems")
_HOMES = {name: (room, name) for room, names in _NAMES.items() for name in names.split()} | _OTHERS

__all__ = [
    "Benchmark",
    "Column",
    "Comparison",
    "DataError",
    "Diagnosis",
    "Example",
    "Gold",
    "GoldError",
    "ManifestError",
    "Problem",
    "Ranking",
    "Report",
    "Score",
    "ScoredTable",
    "Submission",
    "SubmissionError",
    "Summary",
    "Table",
    "Task",
    "UnknownNameError",
    "__version__",
    "analysis",
    "benchmark",
    "benchmarks",
    "check",
    "compare",
    "data",
    "diagnose",
    "errors",
    "grade",
    "grade_many",
    "grade_runs",
    "leaderboard",
    "load",
    "load_benchmark",
    "metrics",
    "rank",
    "read_gold",
    "read_results",
    "run",
    "scoring",
    "submission",
    "summarise",
    "summarize",
    "systems",
    "write_submission",
    "write_table",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        module, attribute = _HOMES[name]
        return getattr(import_module(f"gluebench.{module}"), attribute)
    if name in _ROOMS or name in _MODULES:
        return import_module(f"gluebench.{_MODULES.get(name, name)}")
    raise AttributeError(f"module 'gluebench' has no attribute {name!r}")
