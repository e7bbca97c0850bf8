"""What a benchmark is, as data: frozen records read from one TOML manifest."""

from gluebench.benchmark.lookup import UnknownNameError, closest, find
from gluebench.benchmark.manifest import ManifestError, installed, load_benchmark
from gluebench.benchmark.records import (
    Benchmark,
    Label,
    Metric,
    Phenomenon,
    Reference,
    Role,
    Source,
    Split,
    Task,
    TestFile,
    Version,
)

__all__ = [
    "Benchmark",
    "Label",
    "ManifestError",
    "Metric",
    "Phenomenon",
    "Reference",
    "Role",
    "Source",
    "Split",
    "Task",
    "TestFile",
    "UnknownNameError",
    "Version",
    "closest",
    "find",
    "installed",
    "load_benchmark",
]
