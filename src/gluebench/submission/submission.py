"""A submission as it was read: its predictions, its verdict and what was found."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from gluebench.benchmark import Benchmark, Role
from gluebench.submission.column import Column
from gluebench.submission.problems import Problem, Verdict


def missing_files(benchmark: Benchmark, role: Role, there: Container[str]) -> tuple[str, ...]:
    """The test files of scored tasks that are not among those that are there."""
    return tuple(
        file.name
        for file in benchmark.files(role)
        if benchmark.task(file.task).scored and file.name not in there
    )


@dataclass(frozen=True, slots=True)
class Submission:
    """Read, validated and never scored: nothing here has seen a label."""

    benchmark: Benchmark
    role: Role
    """The split that was predicted: "test" or "dev"."""
    source: str
    """What was read, as its author named it."""
    verdict: Verdict
    problems: tuple[Problem, ...]
    """All kinds of findings, at most `SHOWN_PER_FILE` errors for each file."""
    predictions: Mapping[str, Column]
    """Test-file name to its values, for the files without an error."""
    missing: tuple[str, ...] = ()
    """Test files of scored tasks that are absent."""
    unshown: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """File to the number of its findings beyond those in `problems`, by code."""

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The findings that make it invalid."""
        return tuple(problem for problem in self.problems if problem.severity == "error")

    def as_dict(self) -> dict[str, Any]:
        """The verdict and findings as JSON-ready values; predictions are left out."""
        return {
            "benchmark": self.benchmark.name,
            "split": self.role,
            "source": self.source,
            "verdict": self.verdict,
            "missing": list(self.missing),
            "problems": [problem.as_dict() for problem in self.problems],
            "unshown": {name: dict(counts) for name, counts in self.unshown.items()},
        }
