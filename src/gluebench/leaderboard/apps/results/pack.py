"""The archive of final results: tables, tests, histories, descriptions, citations, charts, places."""

import io
import json
import zipfile
from collections.abc import Iterator
from datetime import datetime
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from django.contrib.humanize.templatetags.humanize import ordinal

from gluebench.analysis.charts import as_file
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.boards.columns import BoardOptions, BoardScheme, scheme_of
from gluebench.leaderboard.apps.boards.diagnostics import heat_csv
from gluebench.leaderboard.apps.boards.exports import FORMATS, RANK, citation, diagnostics_json
from gluebench.leaderboard.apps.boards.pages import read_page
from gluebench.leaderboard.apps.boards.table import BoardRow
from gluebench.leaderboard.apps.common.fields import LISTED
from gluebench.leaderboard.apps.common.formats import percent
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.text import csv_text
from gluebench.leaderboard.apps.phases.models import on_board
from gluebench.leaderboard.apps.ranks.places import LEGEND, RankWithSet, no_rank
from gluebench.leaderboard.apps.ranks.views import PAGES, progress_of, progress_page
from gluebench.leaderboard.apps.submissions.anonymity import mask
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.scoring.gold import KEY_FILE

PLACES = 10
"""How many systems the page of results lists; the archive has all."""
README = Path(__file__).with_name("readme.txt").read_text(encoding="utf-8")


class ResultsArchive(NamedTuple):
    """An archive, the first places in it, and which systems may be the best, as a sentence."""

    data: bytes
    places: list[Values]
    leaders: str


def systems_with_ranks(rows: list[BoardRow]) -> list[Values]:
    """Each system that has a rank, with its rank set and what a certificate says of it.

    `place` is the observed rank with the rank set, "3 · 1–6".
    """
    ranked = [row for row in rows if row.rank is not None and not row.reference]
    return [
        {
            "place": row.place.text,
            **row.place.as_json(),
            "certificate": certificate(row.place, len(ranked)),
            "key": row.entry["key"],
            "name": row.entry["name"],
            "team": row.entry["team"],
            "model": row.entry["model"],
            "score": row.score.text,
            "interval": row.score.interval,
        }
        for row in ranked
    ]


def certificate(place: RankWithSet, systems: int) -> str:
    """The line of a certificate: "1st by score of 300, true rank 1–9"."""
    head = f"{ordinal(place.rank)} by {place.by} of {systems:,}"
    if place.span:
        return f"{head}, true rank {place.span}"
    return f"{head}; no rank set: {place.as_json()['withheld']}"


def pack(benchmark: Benchmark, at: datetime, *, labels: bool) -> ResultsArchive:
    """The results as they are now, as a zip; equal results give equal bytes. `at`: the date on them."""
    benchmark = on_board(benchmark)
    board = read_page(benchmark, scheme_of(benchmark.record), BoardOptions(), one_page=True)
    ranked = systems_with_ranks(board.rows)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _files(benchmark, ranked, board.leaders, at, labels=labels):
            member = zipfile.ZipInfo(name, at.timetuple()[:6])
            member.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(member, content)
    return ResultsArchive(packed.getvalue(), ranked[:PLACES], board.leaders)


def _files(
    benchmark: Benchmark, ranked: list[Values], leaders: str, at: datetime, *, labels: bool
) -> Iterator[tuple[str, str | bytes]]:
    record = benchmark.record
    yield "README.txt", README.format(title=benchmark.title, date=at.date(), leaders=leaders, legend=LEGEND)
    yield from _forms("table", benchmark, scheme_of(record))
    head = RANK + ("certificate", "name", "team", "model", "score", "interval", "key")
    yield "places.csv", csv_text(head, map(itemgetter(*head), ranked))
    for task in record.scored:
        yield from _forms(f"tasks/{task.name}", benchmark, scheme_of(record, task))
    for task in record.diagnostics:
        yield f"diagnostics/{task.name}.json", _json(diagnostics_json(benchmark, task))
        yield f"diagnostics/{task.name}.csv", heat_csv(benchmark, task)
    for subject, (read, _, _, as_csv) in PAGES.items():
        state = read(benchmark)
        if not getattr(state, "reason", ""):
            yield f"{subject}.csv", "".join(as_csv(state))
    history = progress_of(benchmark)
    if history:
        charts = progress_page(history)
        yield "charts/scores.svg", as_file(charts["intervals"])
        yield "charts/over-time.svg", as_file(charts["over_time"][0])
    systems = Submission.objects.public().filter(benchmark=benchmark).select_related("benchmark")
    systems = systems.order_by("-value", "submitted", "pk")
    mask(benchmark, *systems)
    yield "systems.bib", "\n".join(citation(row, row.get_absolute_url()) for row in systems)
    yield "systems.md", "\n".join(_description(row) for row in systems)
    if labels:
        for file in sorted(benchmark.gold_path.iterdir()):
            if file.name != KEY_FILE:
                yield f"labels/{file.name}", file.read_bytes()


def _forms(name: str, benchmark: Benchmark, scheme: BoardScheme) -> Iterator[tuple[str, str]]:
    for form, make in FORMATS.items():
        content = make(benchmark, scheme)
        yield f"{name}.{form}", content if isinstance(content, str) else _json(content)


def _description(row: Submission) -> str:
    score = no_rank(row.apart, complete=False).withheld
    if row.value is not None:
        score = percent(row.value, row.record.loss)
    lines = [f"## {row.name} ({score})", ""]
    for field in LISTED:
        text = field.format_value(getattr(row, field.name))
        if text and field.name != "name":
            lines.append(f"- {field.label}: {text}")
    lines += ["", row.description, ""]
    return "\n".join(lines)


def _json(value: Facts) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"
