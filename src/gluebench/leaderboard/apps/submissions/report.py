"""Tables of a submission's page: the report, the confusion tables and the problems of the check."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from gluebench.analysis.diagnostics.counts import Confusion
from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.figures import DOWN, counted, unit
from gluebench.benchmark.lookup import table_beside
from gluebench.leaderboard.apps.common.formats import percent
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.submission import Problem
from gluebench.submission.forms import cell_form

Table = Values
"""Values for a template; the function that makes it shows its keys."""
Cells = list[tuple[int, bool]]
"""Counts of a confusion table, each with whether it is on the diagonal."""
BY_CATEGORY = 4
"""Most labels for which a row has room for a category's whole confusion table."""


_SHARES = table_beside(__file__)
"""Share of the pairs in both directions to its title, and what it is a share of."""
FROM_ZERO: Table = {"start": 0, "view": "0 0 1 1", "title": "0 to 100"}
BOTH_SIGNS: Table = {"start": -1, "view": "-1 0 2 1", "title": "−100 to 100"}
"""Scales of a table's small charts: where it starts, the SVG view box, and its range in words."""


def report_tables(benchmark: Benchmark, report: Facts) -> Table:
    """The report in the order of the manifest: every metric, every phenomenon, each with its interval."""
    tasks: list[Table] = []
    parts_by_kind: dict[bool, list[Table]] = {}
    for task in benchmark.scored:
        scores = report["tasks"].get(task.name) or {"score": None, "metrics": {}}
        parts = [_measure(metric.title, scores["metrics"].get(metric.name)) for metric in task.metrics]
        parts_by_kind.setdefault(task.loss, []).extend(parts)
        heading = "Task score"
        if task.loss:
            heading += DOWN
        whole = _measure(heading, scores["score"])
        tasks.append(
            {"name": task.name, "title": task.title, "whole": whole, "parts": parts, "loss": task.loss}
        )
    sets = [_section(task, report["diagnostics"].get(task.name)) for task in benchmark.diagnostics]

    # The charts of all scores have one axis, and those of all losses another.
    axes = {is_loss: _axis(parts) for is_loss, parts in parts_by_kind.items()}
    for rows in tasks:
        rows["axis"] = axes[rows["loss"]]
    titles = " or ".join(axis["title"] for axis in axes.values())
    return {"score": report["score"], "tasks": tasks, "axes": titles, "diagnostics": sets}


def _axis(measures: Iterable[Table]) -> Table:
    scores = [measure["score"] for measure in measures if measure["score"]]
    lowest = min((score["low"] for score in scores if score["low"] is not None), default=0)
    if scores and scores[0].get("loss"):
        low = min(-0.1, lowest)
        return {"start": low, "view": f"{low:.4f} 0 {-low:.4f} 1", "title": f"{-low:.1f} to 0"}
    if lowest < 0:
        return BOTH_SIGNS
    return FROM_ZERO


def _measure(title: str, score: Facts | None) -> Table:
    """One number; its note says why something is withheld, or how much was covered."""
    if score is None:
        return {"title": title, "score": None, "note": "not in this submission"}
    note = score.get("withheld") or ""
    if "covered" in score:
        note = f"{note} of {percent(score['covered'])} % of the examples".strip()
    return {"title": title, "score": score, "note": note}


def _section(task: Task, scores: Facts | None) -> Table:
    """A diagnostic set; without an overall number it was not in the submission."""
    metric = task.metrics[0]
    human = next((row for row in task.references if metric.name in row.scores), None)
    note = ""
    if human is not None:
        note = f"{human.name}: {percent(human.scores[metric.name], metric.loss)} ({human.source})"
    section = {
        "name": task.name,
        "title": task.title,
        "metric": f"{metric.title}{unit(metric.loss)}",
        "human": note,
    }
    if scores is None:
        return section
    overall = _measure("All", scores["overall"])
    coarse = scores["coarse"]
    groups = []
    for name in task.coarse():
        if name in coarse:
            groups.append(_group(name, scores["fine"], fine_of(task, name), _measure(name, coarse[name])))
    for column in task.metadata:
        if column in scores:
            groups.append(_group(column.capitalize(), scores[column], scores[column]))

    measures = []
    for group in groups:
        measures.append(group["whole"] or overall)
        measures += group["parts"]
    return {**section, "overall": overall, "categories": groups, "axis": _axis(measures)}


def _group(title: str, scores: Facts, names: Iterable[str], whole: Table | None = None) -> Table:
    parts = [_measure(name, scores[name]) for name in names if name in scores]
    return {"title": title, "whole": whole, "parts": parts}


def fine_of(task: Task, coarse: str) -> tuple[str, ...]:
    """The fine phenomena of a coarse category."""
    return tuple(phenomenon.name for phenomenon in task.phenomena if phenomenon.coarse == coarse)


def files_to_submit(benchmark: Benchmark) -> list[Values]:
    """The files of a submission in the manifest's order, as the form describes them."""
    files = []
    for file in benchmark.files():
        task = benchmark.task(file.task)
        form = cell_form(task)
        if form:
            values = form.expected
        elif task.score_range:
            low, high = task.score_range
            values = f"a number from {low:g} to {high:g}"
        else:
            values = ", ".join(task.words)
        path = file.path
        if file.column:
            path = f"{path}, column {file.column}"
        files.append({"name": file.name, "path": path, "rows": file.size(), "values": values})
    return files


def flat(values: Facts, before: str = "") -> list[tuple[str, str]]:
    """Nested provenance as names and values to list; what is not known is left out."""
    pairs: list[tuple[str, str]] = []
    for name, value in values.items():
        label = f"{before}{name}".replace("_", " ")
        if isinstance(value, Mapping):
            pairs += flat(value, f"{label}, ")
        elif value is not None:
            pairs.append((label, str(value)))
    return pairs


def classes_of(report: Facts | None, tasks: Iterable[Task]) -> dict[str, Facts]:
    """Test-file name to class to its scores, of some tasks, in the manifest's order and then by name.

    PostgreSQL does not keep the order. Reports of earlier versions have no classes.
    """
    known = (report or {}).get("classes", {})
    ordered: dict[str, Facts] = {}
    for task in tasks:
        declared = task.words or task.vocabulary
        for file in task.files:
            if scores := known.get(file.name):
                names = [name for name in declared if name in scores]
                names += sorted(scores.keys() - declared)
                ordered[file.name] = {name: scores[name] for name in names}
    return ordered


def diagnosis_of(submission: Submission) -> Values | None:
    """Diagnostic set to its confusions and directions, of the latest grading, where its labels are public.

    None where no report is shown. Exact counts reveal labels.
    """
    if submission.report is None:
        return None
    stored = submission.results.values_list("diagnosis", flat=True).first() or {}
    public = {task.name for task in submission.record.diagnostics if task.labels_public}
    return {name: counts for name, counts in stored.items() if name in public}


def confusion_tables(record: Benchmark, diagnosis: Facts | None) -> dict[str, Table]:
    """Map each diagnostic set to its confusion tables and its results on reversed pairs.

    `diagnosis` is that of `diagnosis_of`.
    """
    tasks = {task.name: task for task in record.diagnostics}
    tables = {}
    for name, counts in (diagnosis or {}).items():
        if name in tasks:
            tables[name] = _confusions(tasks[name], counts)
    return tables


def _confusions(task: Task, counts: Facts) -> Table:
    """The whole confusion table, the same by category where a row has room, and the pairs if any."""
    tables: dict[str, dict[str, Confusion]] = {}
    for kind, named in counts["confusions"].items():
        tables[kind] = {}
        for name, table in named.items():
            # In the manifest's order of labels: PostgreSQL does not keep the order of JSON keys.
            ordered = {label: table[label] for label in task.words if label in table}
            tables[kind][name] = Confusion.of(ordered)

    rows: list[tuple[Any, ...]] = []
    lines: list[tuple[str, str, Cells]] = []
    whole = tables.get("overall", {}).get("")
    if whole is not None:
        rows = list(zip(whole.labels, whole.counts, whole.classes, strict=True))
        if len(whole.labels) <= BY_CATEGORY:
            lines = list(_confusion_lines(task, tables))
    directions = counts["directions"] or {}
    return {
        "matrix": whole,
        "rows": rows,
        "lines": lines,
        "pairs": list(_shares(directions)),
        "unpaired": directions.get("unpaired", 0),
    }


def _confusion_lines(
    task: Task, tables: Mapping[str, Mapping[str, Confusion]]
) -> Iterator[tuple[str, str, Cells]]:
    """Coarse categories, each followed by its fine ones, then the columns of the metadata."""
    coarse = tables.get("coarse", {})
    fine = tables.get("fine", {})
    for category in task.coarse():
        if category in coarse:
            yield "coarse", category, _confusion_cells(coarse[category])
        for name in fine_of(task, category):
            if name in fine:
                yield "fine", name, _confusion_cells(fine[name])
    for column in task.metadata:
        for name, table in tables.get(column, {}).items():
            yield column, name, _confusion_cells(table)


def _confusion_cells(table: Confusion) -> Cells:
    cells = []
    for gold, row in enumerate(table.counts):
        for answer, count in enumerate(row):
            cells.append((count, gold == answer))
    return cells


def _shares(directions: Facts) -> Iterator[tuple[str, str, Facts]]:
    """Yield the title of each share, what it is a share of, and its numbers."""
    for name, (title, basis) in _SHARES.items():
        share = directions.get(name)
        if share is not None and (name != "one_way" or directions["mirrored"] is not None):
            yield title.format(**directions), basis, share


SEVERITIES = ("error", "warning", "notice")
"""The worst first."""


class ProblemGroup(NamedTuple):
    """The same problem in several places of a file."""

    severity: str
    code: str
    file: str
    expected: str
    fix: str
    places: Sequence[Problem]
    """One problem for each place."""
    more: int
    """Places that were only counted."""

    @property
    def value(self) -> str | None:
        """The value, where it is the same in all places."""
        values = {place.value for place in self.places}
        if len(values) > 1:
            return None
        return values.pop()

    @property
    def single(self) -> Problem | None:
        """The one place, where there is only one."""
        if len(self.places) > 1 or self.more:
            return None
        return self.places[0]

    @property
    def has_locations(self) -> bool:
        """Whether its places say more than which file it is."""
        for place in self.places:
            if place.line is not None or place.index is not None or place.value is not None:
                return True
        return False


class CheckSummary(NamedTuple):
    """All problems of a file, the worst first."""

    verdict: str
    missing: Sequence[str]
    groups: Sequence[ProblemGroup]
    uncited: Sequence[tuple[str, str, int]]
    """File, code and number of the problems that were only counted."""

    @property
    def tally(self) -> str:
        """ "2 errors, 1 notice"; empty where there is no problem."""
        counts = Counter[str]()
        for group in self.groups:
            counts[group.severity] += len(group.places) + group.more
        shown = [counted(counts[name], name) for name in SEVERITIES if counts[name]]
        return ", ".join(shown)


def check_summary(check: Facts) -> CheckSummary:
    """A check, as `gluebench.submission.Submission.as_dict` gives it, ready to show."""
    places: dict[tuple[str, ...], list[Problem]] = {}
    for values in check["problems"]:
        problem = Problem(**values)
        key = (problem.severity, problem.code, problem.file, problem.expected, problem.fix)
        places.setdefault(key, []).append(problem)
    unshown: dict[tuple[str, str], int] = {}
    for file, counts in check["unshown"].items():
        for code, number in counts.items():
            unshown[file, code] = number

    groups = []
    for (severity, code, file, expected, fix), problems in places.items():
        if not expected.startswith("expected"):
            expected = f"expected {expected}"
        more = unshown.pop((file, code), 0)
        groups.append(ProblemGroup(severity, code, file, expected, fix, problems, more))
    groups.sort(key=lambda group: SEVERITIES.index(group.severity))
    uncited = [(file, code, number) for (file, code), number in unshown.items()]
    return CheckSummary(check["verdict"], check["missing"], groups, uncited)
