"""The JSON twins: what the pages show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse

from gluebench.analysis.diagnostics.phenomena import explain
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.columns import PRIVACY, ranked, scheme_of
from gluebench.leaderboard.boards.phenomena import Wanted as Named
from gluebench.leaderboard.boards.phenomena import scores_of
from gluebench.leaderboard.fields import LISTED, as_json
from gluebench.leaderboard.ranks.order import Place, Wanted, order_of
from gluebench.leaderboard.submissions.entries import graded_again


def board(benchmark: Benchmark, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The board: columns, ranked rows, incomplete rows with rank null, published references."""
    record = benchmark.record
    scheme = scheme_of(record)
    rows = ranked(scheme, entries)
    order = order_of(benchmark, Wanted(), {entry["pk"]: rank for rank, entry in rows})
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
            {
                "rank": rank,
                **_facts(entry),
                **entry["scores"],
                **_sure(order.places.get(entry["pk"])),
            }
            for rank, entry in rows
        ],
        "references": [_reference(each, "") for each in record.references]
        + [_reference(each, task.name) for task in record.tasks for each in task.references],
    }


def task_board(benchmark: Benchmark, task: Task, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
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
            for rank, entry in ranked(scheme_of(benchmark.record, task), entries)
        ],
        "references": [_reference(each, task.name) for each in task.references],
    }


def diagnostics(benchmark: Benchmark, task: Task, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A diagnostic set: each system's scores by phenomenon, as in its report."""
    return {
        **_head("diagnostics", benchmark, task),
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


def phenomenon(benchmark: Benchmark, task: Task, wanted: Named) -> dict[str, Any]:
    """A phenomenon of a diagnostic set: what it is about, and each system's score in it."""
    about = explain(wanted.name)
    examples = about.examples if about else ()
    fields = ("first", "second", "forward", "backward")
    return {
        **_head("phenomenon-board", benchmark, task),
        "metric": task.metrics[0].name,
        "kind": wanted.kind,
        "phenomenon": wanted.name,
        "coarse": wanted.coarse,
        "about": about.words if about else None,
        "examples": [{name: getattr(pair, name) for name in fields} for pair in examples],
        "rows": [{**_who(entry), "score": score} for entry, score in scores_of(benchmark, task, wanted)],
    }


def _head(schema: str, benchmark: Benchmark, task: Task) -> dict[str, Any]:
    return {
        "schema": f"gluebench.{schema}/1",
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "task": task.name,
    }


def _sure(place: Place | None) -> dict[str, Any]:
    """The 95 % interval of a rank, and the places that cannot be told apart; null until they are computed."""
    if place is None:
        return {"rank_interval": None, "tied": None}
    interval = None if place.ends[0] is None else list(place.ends)
    return {"rank_interval": interval, "tied": list(place.group) if place.group else None}


def _facts(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What its author says of an entry, what organisers marked it as, and how many came before it."""
    return {
        **_who(entry),
        **as_json(entry.__getitem__, LISTED),
        **{name: entry[name] for name in ("kind", "verified", "earlier")},
        "submitted": entry["submitted"].isoformat(timespec="seconds"),
    }


def _who(entry: Mapping[str, Any]) -> dict[str, Any]:
    names = {name: entry[name] for name in ("key", "name", "model")}
    return {**names, "url": reverse("submission", args=[entry["key"]])}


def _reference(reference: Any, task: str) -> dict[str, Any]:
    about = {"name": reference.name, "task": task or None}
    return {**about, "scores": dict(reference.scores), "source": reference.source}
