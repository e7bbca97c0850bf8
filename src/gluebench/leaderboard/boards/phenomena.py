"""One phenomenon of a diagnostic set: what it is about, pairs that show it, and how systems fare in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from django.template.loader import render_to_string
from django.urls import reverse

from gluebench.analysis.charts import Bar, bar_chart
from gluebench.analysis.diagnostics import Explained, explain
from gluebench.analysis.rank.order import board_order
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.options import ROWS, address
from gluebench.leaderboard.common.formats import hundred, interval_text, labels_of, score_text
from gluebench.leaderboard.submissions.entries import diagnosed

SCHEMA = "gluebench.phenomenon-board/1"
BARS = 20
"""Systems that the picture has room for."""


class Wanted(NamedTuple):
    """A fine phenomenon, or a coarse category with its fine ones."""

    kind: str
    name: str
    coarse: str
    """Its coarse category; its own name where it is one."""
    fine: tuple[str, ...]
    """Of a coarse category, what it consists of."""


class Line(NamedTuple):
    """One system in one phenomenon."""

    name: str
    model: str
    key: str
    text: str
    interval: str
    withheld: str


def slug_of(name: str) -> str:
    """A phenomenon's name as the last part of an address: anaphora-coreference."""
    return re.sub(r"[\W_]+", "-", name.casefold()).strip("-")


def named(task: Task, slug: str) -> Wanted | None:
    """The phenomenon, or else the coarse category, of that address; None where there is neither."""
    for each in task.phenomena:
        if slug_of(each.name) == slug:
            return Wanted("fine", each.name, each.coarse, ())
    for coarse in task.coarse():
        if slug_of(coarse) == slug:
            fine = tuple(each.name for each in task.phenomena if each.coarse == coarse)
            return Wanted("coarse", coarse, coarse, fine)
    return None


def phenomenon_html(benchmark: Benchmark, task: Task, wanted: Wanted, page: int, *, signed_in: bool) -> str:
    """The page; systems with the highest number first."""
    found = list(_scores(benchmark, task, wanted))
    pages = max(-(-len(found) // ROWS), 1)
    page = min(page, pages)
    shown = found[(page - 1) * ROWS : page * ROWS]
    context = {
        "benchmark": benchmark,
        "task": task,
        "wanted": wanted,
        "slug": slug_of(wanted.name),
        "explained": explain(wanted.name),
        "parts": [(name, slug_of(name), explain(name)) for name in wanted.fine],
        "category": slug_of(wanted.coarse) if wanted.kind == "fine" else "",
        "metric": task.metrics[0].title,
        "picture": _picture(task, wanted, shown[:BARS]),
        "lines": [_line(entry, score) for entry, score in shown],
        "n": found[0][1]["n"] if found else None,
        "systems": len(found),
        "page": page,
        "pages": pages,
        "to_previous": address(page - 1),
        "to_next": address(page + 1),
        "own": benchmark.name == "sample",
        "signed_in": signed_in,
        "here": "diagnostics",
    }
    return render_to_string("boards/phenomenon.html", context)


def phenomenon_twin(benchmark: Benchmark, task: Task, wanted: Wanted) -> dict[str, Any]:
    """The page as JSON."""
    about = explain(wanted.name)
    return {
        "schema": SCHEMA,
        "benchmark": benchmark.name,
        "version": benchmark.version,
        "task": task.name,
        "metric": task.metrics[0].name,
        "kind": wanted.kind,
        "phenomenon": wanted.name,
        "coarse": wanted.coarse,
        "about": about.words if about else None,
        "examples": _examples(about),
        "rows": [
            {
                "key": entry["key"],
                "name": entry["name"],
                "model": entry["model"],
                "url": reverse("submission", args=[entry["key"]]),
                "score": score,
            }
            for entry, score in _scores(benchmark, task, wanted)
        ],
    }


def _examples(about: Explained | None) -> list[dict[str, str]]:
    fields = ("first", "second", "forward", "backward")
    return [{name: getattr(pair, name) for name in fields} for pair in about.examples] if about else []


def _scores(
    benchmark: Benchmark, task: Task, wanted: Wanted
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each entry that has a number in it, with the number."""
    found = [
        (entry, entry["diagnostic"].get(wanted.kind, {}).get(wanted.name))
        for entry in diagnosed(benchmark, task)
    ]
    there = [(entry, score) for entry, score in found if score is not None]
    for at in board_order([score["value"] for _, score in there]):
        yield there[at]


def _line(entry: Mapping[str, Any], score: Mapping[str, Any]) -> Line:
    words = (entry["name"], entry["model"], entry["key"])
    return Line(*words, score_text(score), interval_text(score), score.get("withheld") or "")


def _picture(task: Task, wanted: Wanted, shown: Sequence[tuple[Any, Any]]) -> str:
    """Bars with intervals; empty where nothing has a value."""
    bars = [
        Bar(label, *(hundred(score[end]) for end in ("value", "low", "high")))
        for label, (_, score) in zip(labels_of([entry for entry, _ in shown]), shown, strict=True)
        if score["value"] is not None
    ]
    axis = f"{task.metrics[0].title} × 100, with 95 % intervals"
    return bar_chart(f"{wanted.name}: systems with the highest numbers", bars, axis=axis) if bars else ""
