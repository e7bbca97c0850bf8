"""A diagnostic set by phenomenon: as the paper's Table 5, as a heat map, and one phenomenon at a time."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from django.urls import reverse

from gluebench.analysis.diagnostics.heatmap import ABOUT, FIELDS, HeatMap, heat_picture, stored_heatmap
from gluebench.analysis.diagnostics.paper import explain
from gluebench.analysis.rank.rules import board_order
from gluebench.benchmark import Task
from gluebench.leaderboard.apps.annotation.models import public_studies
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.boards.columns import PRIVACY, ROWS, board_entries, paginate
from gluebench.leaderboard.apps.common.formats import bare_score, labels_of, percent, score_intervals
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.page_cache import once
from gluebench.leaderboard.apps.common.text import csv_text
from gluebench.leaderboard.apps.phases.models import tasks_of
from gluebench.leaderboard.apps.ranks.places import no_rank, read_ranks, score_of_category
from gluebench.leaderboard.apps.submissions.facts import entries_with_diagnostic, entries_with_number
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import JsonNumbers
from gluebench.leaderboard.apps.submissions.report import fine_of

PICTURED = 20
"""Most systems in a chart: a heat map, or the bars of a phenomenon."""


class Category(NamedTuple):
    """A fine phenomenon, or a coarse category with its fine ones."""

    kind: str
    name: str
    coarse: str
    """Its coarse category; its own name where it is one."""
    fine: tuple[str, ...] = ()
    """Of a coarse category, its fine phenomena."""


def slug_of(name: str) -> str:
    """A phenomenon's name as the last part of an address: anaphora-coreference."""
    return re.sub(r"[\W_]+", "-", name.casefold()).strip("-")


def find_category(task: Task, slug: str) -> Category | None:
    """The phenomenon, or else the coarse category, of that address; None where there is neither."""
    for phenomenon in task.phenomena:
        if slug_of(phenomenon.name) == slug:
            return Category("fine", phenomenon.name, phenomenon.coarse)
    for name in task.coarse():
        if slug_of(name) == slug:
            return Category("coarse", name, name, fine_of(task, name))
    return None


def table_of(task: Task, entries: Sequence[Facts], *, category: str = "", first_page: bool = True) -> Values:
    """The table by coarse category, by one category's fine phenomena, or by a column of the metadata.

    `headings` have their title, their number of examples (None while nothing is graded), and of a phenomenon
    the last part of its page's address. The references stand above the systems on the first page; they
    have no key.
    """
    level, titles = _categories(task, entries, category)
    first: Facts = {"overall": {"n": None}}
    if entries:
        first = entries[0]["diagnostic"]
    headings = [("All", first["overall"]["n"], "")]
    for title in titles:
        number = first.get(level, {}).get(title, {}).get("n")
        slug = ""
        if level in ("coarse", "fine"):
            slug = slug_of(title)
        headings.append((title, number, slug))

    lines: list[Values] = []
    if first_page:
        for reference in task.references:
            overall = bare_score(reference.scores.get(task.metrics[0].name), task.loss)
            scores = [overall] + [None] * len(titles)  # only the overall number is published
            lines.append({"name": reference.name, "source": reference.source, "scores": scores})
    for entry in entries:
        diagnostic = entry["diagnostic"]
        of_level = diagnostic.get(level, {})
        scores = [diagnostic["overall"]] + [of_level.get(title) for title in titles]
        lines.append({**entry, "scores": scores})
    return {"headings": headings, "lines": lines}


def _categories(task: Task, entries: Sequence[Facts], category: str) -> tuple[str, Sequence[str]]:
    """The key of a report's part, and the names of its categories that make the columns of `table_of`."""
    if not category:
        return "coarse", task.coarse()
    if category not in task.metadata:
        return "fine", fine_of(task, category)
    names: dict[str, None] = {}  # each once, in the order of the reports
    for entry in entries:
        names |= dict.fromkeys(entry["diagnostic"].get(category, {}))
    return category, list(names)


def diagnostics_page(benchmark: Benchmark, task: Task, category: str, page: int) -> Values:
    """The page; systems are ordered and paged by their overall number."""
    entries, pager = page_of_entries(benchmark, task, None, ROWS, page, category=category)
    return {
        **_task_context(task),
        **table_of(task, entries, category=category, first_page=pager["page"] == 1),
        "category": category,
        "phenomena": task.phenomena,
        "studies": public_studies(tasks_of(benchmark), task.name),
        **pager,
        "labels": PRIVACY[task.private],
    }


def _task_context(task: Task) -> Values:
    return {"task": task, "metric": task.metrics[0].title, "columns": task.metadata, "here": "diagnostics"}


def page_of_entries(
    benchmark: Benchmark,
    task: Task,
    part: Category | None,
    size: int | None = None,
    page: int = 1,
    **query: str,
) -> tuple[list[Values], Values]:
    """The entries of a page, the highest number first, each with its place; and what the pager shows.

    The number is that in that part, `number` of the entry; without a part, the overall number. Without a
    size, the page has all entries.
    """
    path: tuple[str, ...] = ("diagnostics", task.name, "overall")
    score = task.name
    if part is not None:
        path = ("diagnostics", task.name, part.kind, part.name)
        score = score_of_category(task.name, part.kind, part.name)
    values = _number_by_submission(benchmark, path)
    by_submission = list(values)
    order, pager = paginate(board_order(list(values.values())), size, page, **query)
    pks = [by_submission[at] for at in order]
    if part is None:
        rows = entries_with_diagnostic(benchmark, task, pks)
    else:
        rows = entries_with_number(benchmark, path, pks)
    position = {pk: at for at, pk in enumerate(pks)}
    entries = sorted(rows, key=lambda entry: position[entry["pk"]])
    ranks = read_ranks(benchmark, score, values)
    for entry in entries:
        entry["place"] = ranks.places.get(entry["pk"], no_rank(entry["apart"]))
    leaders = ranks.best_words({row.pk: row.name for row in board_entries(benchmark)})
    return entries, {**pager, "systems": len(values), "ranks": ranks, "leaders": leaders}


def _number_by_submission(benchmark: Benchmark, path: Sequence[str]) -> dict[int, float | None]:
    """The number at that path of each report, by primary key, the oldest submission first.

    None where the report suppresses it, and for entries that stand apart.
    """

    def read() -> list[tuple[int, float | None]]:
        public = Submission.objects.on_board(benchmark).order_by("submitted", "pk")
        numbers = JsonNumbers("report", tuple(path) + ("value",), tuple(path) + ("n",))
        values = []
        for pk, apart, (value, n) in public.values_list("pk", "apart", numbers):
            if n is not None:
                values.append((pk, None if apart else value))
        return values

    # Read once for each version of the board: they are in reports, kilobytes of JSON each.
    return dict(once(f"order {benchmark.pk} {benchmark.board_phase} {path}", benchmark.version, read))


def heat_page(benchmark: Benchmark, task: Task, page: int) -> Values:
    """The page: as many systems as a map has room for, the highest overall first."""
    entries, pager = page_of_entries(benchmark, task, None, PICTURED, page, view="map")
    cells = _map(task, entries)
    metric = task.metrics[0].name
    human = next((reference for reference in task.references if metric in reference.scores), None)
    human_score = ""
    if human is not None:
        human_score = percent(human.scores[metric], task.loss)
    picture = ""
    if entries:
        picture = heat_picture(task, cells._replace(systems=tuple(labels_of(entries))))
    return {
        **_task_context(task),
        "about": ABOUT,
        "picture": picture,
        "entries": entries,
        "lines": cells.lines,
        "human": human,
        "human_score": human_score,
        **pager,
        "view": "map",
    }


def heat_csv(benchmark: Benchmark, task: Task) -> str:
    """A row for each system in each category; `level` is the shade on one map of all systems."""
    entries = entries_with_diagnostic(benchmark, task)
    labels = {entry["key"]: label for label, entry in zip(labels_of(entries), entries, strict=True)}
    at = FIELDS.index("system")
    rows = []
    for record in _map(task, entries).records():
        key = str(record[at])
        row = list(record) + [key]
        row[at] = labels[key]
        rows.append(row)
    return csv_text(list(FIELDS) + ["key"], rows)


def _map(task: Task, entries: Sequence[Facts]) -> HeatMap:
    """The heat map with keys for names: an entry may have the label of another as its name."""
    return stored_heatmap(task, {entry["key"]: entry["diagnostic"] for entry in entries})


def phenomenon_page(benchmark: Benchmark, task: Task, category: Category, page: int) -> Values:
    """A phenomenon's description, examples, and the scores of systems in it, the highest first."""
    entries, pager = page_of_entries(benchmark, task, category, ROWS, page)
    bars = [entry for entry in entries if not entry["apart"]][:PICTURED]
    scores = [entry["number"] for entry in bars]
    picture = score_intervals(
        f"{category.name}: systems with the highest numbers",
        task.metrics[0].title,
        zip(labels_of(bars), scores, strict=True),
        [reverse("submission", args=[entry["key"]]) for entry in bars],
    )
    return {
        **_task_context(task),
        "phenomenon": category,
        "slug": slug_of(category.name),
        "explained": explain(category.name),
        "parts": [(name, slug_of(name), explain(name)) for name in category.fine],
        "category": slug_of(category.coarse) if category.kind == "fine" else "",
        "picture": picture,
        "lines": [(entry, entry["number"]) for entry in entries],
        "n": scores[0]["n"] if scores else None,
        **pager,
        "own": benchmark.name == "sample",
    }
