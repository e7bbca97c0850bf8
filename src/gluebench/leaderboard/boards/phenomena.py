"""One phenomenon of a diagnostic set: what it is about, pairs that show it, and how systems fare in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.template.loader import render_to_string

from gluebench.analysis.diagnostics.phenomena import explain
from gluebench.analysis.rank.rules import board_order
from gluebench.benchmark import Task
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.boards.options import ROWS, paged
from gluebench.leaderboard.common.formats import labels_of, score_bars
from gluebench.leaderboard.submissions.entries import diagnosed

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
    found = list(scores_of(benchmark, task, wanted))
    shown, pager = paged(found, ROWS, page)
    bars = shown[:BARS]
    context = {
        "benchmark": benchmark,
        "task": task,
        "wanted": wanted,
        "slug": slug_of(wanted.name),
        "explained": explain(wanted.name),
        "parts": [(name, slug_of(name), explain(name)) for name in wanted.fine],
        "category": slug_of(wanted.coarse) if wanted.kind == "fine" else "",
        "metric": task.metrics[0].title,
        "picture": score_bars(
            f"{wanted.name}: systems with the highest numbers",
            task.metrics[0].title,
            zip(labels_of([entry for entry, _ in bars]), (score for _, score in bars), strict=True),
        ),
        "lines": shown,
        "n": found[0][1]["n"] if found else None,
        "systems": len(found),
        **pager,
        "own": benchmark.name == "sample",
        "signed_in": signed_in,
        "here": "diagnostics",
    }
    return render_to_string("boards/phenomenon.html", context)


def scores_of(
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
