"""Where a report comes from: enough to make it again, nothing that tells a label or the time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluebench.benchmark import Benchmark, Role
from gluebench.scoring.gold import Gold
from gluebench.scoring.report import SCHEMA
from gluebench.version import __version__

DIGITS = 16
"""Hexadecimal digits of a fingerprint."""


def provenance(gold: Gold, **settings: Any) -> Mapping[str, Any]:
    """The `provenance` of a report, JSON-ready; `settings` are those that the numbers depend on."""
    return {
        "package": "gluebench",
        "version": __version__,
        "schema": SCHEMA,
        "benchmark": {"name": gold.benchmark.name, "fingerprint": fingerprint(gold.benchmark)},
        "datasets": datasets(gold),
        "labels": gold.version,
        **({"rows": gold.rows} if gold.rows else {}),
        **settings,
    }


def fingerprint(benchmark: Benchmark) -> str:
    """Hash of all in the manifest that a score can depend on; titles, notes and sources are left out."""
    return _hash(
        [
            (
                task.name,
                task.scored,
                task.words,
                task.score_range,
                [(metric.name, metric.function, metric.file, metric.positive) for metric in task.metrics],
                [(file.name, sorted(_sizes(file.splits))) for file in task.files],
                [(phenomenon.coarse, phenomenon.name) for phenomenon in task.phenomena],
                task.metadata,
            )
            for task in benchmark.tasks
        ]
    )


def datasets(gold: Gold) -> dict[str, str | None]:
    """Test-file name to the content fingerprint of its examples; None where it is not known.

    It is that of the data the labels were read from, else that of the published data (the manifest's).
    """
    return {
        file.name: gold.datasets.get(file.name) or file.splits[gold.role].fingerprint or None
        for file in gold.benchmark.files(gold.role)
    }


def _sizes(splits: Mapping[Role, Any]) -> list[tuple[str, int]]:
    return [(role, split.size) for role, split in splits.items()]


def _hash(value: object) -> str:
    import hashlib

    return hashlib.sha256(repr(value).encode()).hexdigest()[:DIGITS]
