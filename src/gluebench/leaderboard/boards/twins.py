"""The JSON twins: what the pages show, with full numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse

from gluebench.analysis.ranking import board_order, competition_ranks
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.table import columns_of


def board(benchmark: Benchmark, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The board: columns, ranked rows, incomplete rows with rank null, published references."""
    record = benchmark.record
    values = [(entry["scores"]["score"] or {}).get("value") for entry in entries]
    ranks = competition_ranks(values)
    return {
        "schema": "gluebench.board/1",
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "version": benchmark.version,
        "columns": [
            {"file": column.file, "task": column.task.name, "metrics": [m.name for m in column.metrics]}
            for column in columns_of(record)
        ],
        "rows": [_row(entries[at], ranks[at]) for at in board_order(values)],
        "references": [_reference(each, "") for each in record.references]
        + [_reference(each, task.name) for task in record.tasks for each in task.references],
    }


def diagnostics(benchmark: Benchmark, task: Task, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A diagnostic set: each system's scores by phenomenon, as in its report."""
    return {
        "schema": "gluebench.diagnostics/1",
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "task": task.name,
        "metrics": [metric.name for metric in task.metrics],
        "categories": {
            coarse: [each.name for each in task.phenomena if each.coarse == coarse]
            for coarse in task.coarse()
        },
        "rows": [
            {**_who(entry), "regime": entry["regime"], "diagnostic": entry["diagnostic"]} for entry in entries
        ],
        "references": [_reference(each, task.name) for each in task.references],
    }


def _row(entry: Mapping[str, Any], rank: int | None) -> dict[str, Any]:
    return {
        "rank": rank,
        **_who(entry),
        "team": entry["team"],
        "link": entry["link"],
        "regime": entry["regime"],
        "parameters": {"total": entry["parameters"], "shared": entry["shared_parameters"]},
        "submitted": entry["submitted"].isoformat(timespec="seconds"),
        **entry["scores"],
    }


def _who(entry: Mapping[str, Any]) -> dict[str, Any]:
    address = reverse("submission", args=[entry["key"]])
    return {"key": entry["key"], "name": entry["name"], "model": entry["model"], "url": address}


def _reference(reference: Any, task: str) -> dict[str, Any]:
    scores = dict(reference.scores)
    return {"name": reference.name, "task": task or None, "scores": scores, "source": reference.source}
