"""Load a benchmark from its TOML manifest, packaged or a user's own."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Sequence
from functools import cache

from gluebench.benchmark.build import benchmark_record
from gluebench.benchmark.lookup import UnknownNameError, fold
from gluebench.benchmark.reader import Finding
from gluebench.benchmark.records import Benchmark

_HOME = os.path.dirname(__file__)


class ManifestError(ValueError):
    """A manifest that cannot be used; the message has a line for each problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = list(problems)
        """Each names the file, the line, the key and what was expected."""


def installed() -> tuple[str, ...]:
    """Names of the manifests that come with the package."""
    return tuple(sorted(name[:-5] for name in os.listdir(_HOME) if name.endswith(".toml")))


def load_benchmark(name_or_path: str | os.PathLike[str]) -> Benchmark:
    """The packaged benchmark of that name, or the manifest at a path (with a slash, or ending in .toml).

    Raises UnknownNameError for a name that is not packaged, ManifestError for a manifest that is wrong.
    """
    name = os.fspath(name_or_path)
    if is_path(name_or_path):
        return _load(name)
    for packaged in installed():
        if fold(packaged) == fold(name):
            return _packaged(packaged)
    raise UnknownNameError(name, installed(), what="benchmark")


def is_path(name: str | os.PathLike[str]) -> bool:
    """Whether this means a file of the user's and not a packaged name."""
    return not isinstance(name, str) or "/" in name or os.sep in name or name.endswith(".toml")


@cache
def _packaged(name: str) -> Benchmark:
    return _load(os.path.join(_HOME, f"{name}.toml"))


def _load(path: str) -> Benchmark:
    with open(path, encoding="utf-8-sig") as file:
        values = tomllib.loads(file.read())
    findings: list[Finding] = []
    benchmark = benchmark_record(values, findings)
    if findings:
        raise ManifestError([f"{path}: {finding.path}: {finding.text}" for finding in findings])
    return benchmark
