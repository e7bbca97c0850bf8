"""The JSON views: what the pages show, for programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluebench.analysis.diagnostics.paper import explain
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.columns import PRIVACY, Scheme, ranked
from gluebench.leaderboard.boards.diagnostics import Category, fine_of, scores_of
from gluebench.leaderboard.fields import LISTED, as_json
from gluebench.leaderboard.ranks.order import Place, RankingOptions, order_of
from gluebench.leaderboard.ranks.tables import who
from gluebench.leaderboard.submissions.entries import diagnosed, entries_of, graded_again


def board(benchmark: Benchmark, scheme: Scheme) -> dict[str, Any]:
    """The board: columns, ranked rows, incomplete rows with rank null, published references."""
    if scheme.task is not None:
        return _task_board(benchmark, scheme, scheme.task)
    record = benchmark.record
    rows = ranked(scheme, entries_of(benchmark))
    order = order_of(benchmark, RankingOptions(), {entry["pk"]: rank for rank, entry in rows})
    return {
        "schema": "gluebench.board/1",
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "version": benchmark.version,
        "graded_again": graded_again(benchmark),
        "columns": [
            {
                "file": column.file,
                "task": column.task.name,
                "metrics": [metric.name for metric in column.metrics],
                "test_labels": PRIVACY[column.task.private],
            }
            for column in scheme.columns
        ],
        "rows": [
            {"rank": rank, **_facts(entry), **entry["scores"], **_uncertainty(order.places.get(entry["pk"]))}
            for rank, entry in rows
        ],
        "references": _references(record, None)
        + [reference for task in record.tasks for reference in _references(task, task.name)],
    }


def _task_board(benchmark: Benchmark, scheme: Scheme, task: Task) -> dict[str, Any]:
    """One task's board: whoever has the task is ranked by its score, complete or not."""
    return {
        **_head("task-board", benchmark, task),
        "title": task.title,
        "metrics": [metric.name for metric in task.metrics],
        "test_labels": PRIVACY[task.private],
        "rows": [
            {
                "rank": rank,
                **_facts(entry),
                **{name: entry["scores"]["tasks"][task.name][name] for name in ("score", "metrics")},
            }
            for rank, entry in ranked(scheme, entries_of(benchmark))
        ],
        "references": _references(task, task.name),
    }


def diagnostics(benchmark: Benchmark, task: Task) -> dict[str, Any]:
    """A diagnostic set: each system's scores by phenomenon, as in its report."""
    return {
        **_head("diagnostics", benchmark, task),
        "metrics": [metric.name for metric in task.metrics],
        "categories": {coarse: list(fine_of(task, coarse)) for coarse in task.coarse()},
        "rows": [
            {**who(entry), "regime": entry["regime"], "diagnostic": entry["diagnostic"]}
            for entry in diagnosed(benchmark, task)
        ],
        "references": _references(task, task.name),
    }


def phenomenon(benchmark: Benchmark, task: Task, category: Category) -> dict[str, Any]:
    """A phenomenon of a diagnostic set: what it is about, and each system's score in it."""
    about = explain(category.name)
    examples = about.examples if about else ()
    fields = ("first", "second", "forward", "backward")
    return {
        **_head("phenomenon-board", benchmark, task),
        "metric": task.metrics[0].name,
        "kind": category.kind,
        "phenomenon": category.name,
        "coarse": category.coarse,
        "about": about.words if about else None,
        "examples": [{name: getattr(pair, name) for name in fields} for pair in examples],
        "rows": [{**who(entry), "score": score} for entry, score in scores_of(benchmark, task, category)],
    }


def _head(schema: str, benchmark: Benchmark, task: Task) -> dict[str, Any]:
    return {
        "schema": f"gluebench.{schema}/1",
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "task": task.name,
    }


def _uncertainty(place: Place | None) -> dict[str, Any]:
    """The 95 % interval of a rank, and the ranks that are tied with it; null until they are computed."""
    if place is None:
        return {"rank_interval": None, "tied": None}
    interval = None if place.ends[0] is None else list(place.ends)
    return {"rank_interval": interval, "tied": list(place.group) if place.group else None}


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What its author says of an entry, what organizers marked it as, and how many came before it."""
    return {
        **who(entry),
        **as_json(entry.__getitem__, LISTED),
        **{name: entry[name] for name in ("kind", "verified", "earlier")},
        "submitted": entry["submitted"].isoformat(timespec="seconds"),
    }


def _references(published: Any, task: str | None) -> list[dict[str, Any]]:
    """The published rows of a benchmark, or of a task."""
    return [
        {"name": reference.name, "task": task, "scores": dict(reference.scores), "source": reference.source}
        for reference in published.references
    ]
