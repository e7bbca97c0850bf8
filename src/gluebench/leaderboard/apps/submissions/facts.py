"""Values of submissions for pages, JSON views and exports: a board's rows, and one submission in detail."""

import zipfile
from collections import Counter
from collections.abc import Sequence
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from gluebench.benchmark import Task
from gluebench.leaderboard.apps.accounts.models import User
from gluebench.leaderboard.apps.accounts.trust import json_text
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.fields import FIELDS, LISTED, as_json
from gluebench.leaderboard.apps.common.formats import score_text
from gluebench.leaderboard.apps.common.kinds import Values
from gluebench.leaderboard.apps.phases.moments import require
from gluebench.leaderboard.apps.submissions.anonymity import mask_names
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import UNSCORED, JsonNumbers, is_being_regraded, is_listed
from gluebench.leaderboard.apps.submissions.report import classes_of, diagnosis_of
from gluebench.leaderboard.apps.submissions.reproducing import with_names
from gluebench.leaderboard.serving.health import stall_reason

COLUMNS = ["pk", "owner", "group"]  # for the site alone
COLUMNS += ["key", "kind", "verified", "reproduced", "submitted", "published", "scores", "apart"]
COLUMNS += [field.name for field in LISTED]
EXPORTED = ["key"] + list(FIELDS) + ["kind", "verified", "public", "approved", "published", "withdrawn"]
EXPORTED += ["filename", "sha256", "size", "status", "submitted", "finished", "why"]
EXPORTED += ["began", "late", "chosen", "verdict", "problems", "report", "failure"]
"""`report` is the part that its author may see; full gradings are the organizer's."""
EDITS = 50
"""How many edits are shown, the newest first, so that no page grows without end."""
GRADINGS = 5
"""Gradings that a page shows, the newest first."""
HEADLINE = ("name", "model", "team", "link", "description")
"""Fields that a submission's pages show above the list of the others."""


def entries_of(benchmark: Benchmark, pks: Sequence[int] | None = None) -> list[Values]:
    """The public submissions, or those of them with these keys, oldest first.

    `earlier` says how many submissions of the same person or team came before, private and withdrawn ones
    too: the best of many submissions has an inflated score.
    """
    rows = _public(benchmark, COLUMNS, pks)
    owners = {row["owner"] for row in rows}
    teams = {row["group"] for row in rows} - {None}
    same_people = Q(owner__in=owners) | Q(group__in=teams)
    counted = benchmark.submissions.filter(same_people).exclude(UNSCORED).order_by("submitted", "pk")

    of_owner = Counter[int]()
    of_team = Counter[int]()
    of_both = Counter[tuple[int, int]]()
    earlier = {}
    for pk, owner, team in counted.values_list("pk", "owner", "group"):
        earlier[pk] = of_owner[owner]
        of_owner[owner] += 1
        if team is not None:  # those of the person, and those of the team's other members
            earlier[pk] += of_team[team] - of_both[owner, team]
            of_team[team] += 1
            of_both[owner, team] += 1
    for row in rows:
        row["earlier"] = earlier.get(row["pk"], 0)
    return rows


def comparable_entries(benchmark: Benchmark, columns: Sequence[str]) -> list[Values]:
    """These columns of the public submissions whose scores may be compared, oldest first.

    They have the labels, rows and metrics of the board.
    """
    rows = _public(benchmark, ["pk", "apart"] + list(columns), None)
    return [row for row in rows if not row["apart"]]


def entries_with_diagnostic(
    benchmark: Benchmark, task: Task, pks: Sequence[int] | None = None
) -> list[Values]:
    """The public submissions with their report on a diagnostic set, under "diagnostic"."""
    rows = _public(benchmark, ("pk", "key", "name", "model", "regime", "apart", "report__diagnostics"), pks)
    for row in rows:
        row["diagnostic"] = (row["report__diagnostics"] or {}).get(task.name)
    return [row for row in rows if row["diagnostic"]]


def entries_with_number(
    benchmark: Benchmark, path: Sequence[str], pks: Sequence[int] | None = None
) -> list[Values]:
    """The public submissions whose report has a number there, with it under "number"."""
    numbers = JsonNumbers("report", path, tuple(path) + ("n",))  # two, as it takes no fewer
    rows = _public(benchmark, ("pk", "key", "name", "model", "regime", "apart"), pks, number=numbers)
    for row in rows:
        row["number"] = row["number"][0]
    return [row for row in rows if row["number"]]


def _public(
    benchmark: Benchmark, columns: Sequence[str], pks: Sequence[int] | None, **more: Any
) -> list[Values]:
    public = Submission.objects.on_board(benchmark).order_by("submitted", "pk")
    if pks is not None:
        public = public.filter(pk__in=pks)
    return mask_names(benchmark, public.values(*columns, **more))


def with_systems(benchmarks: QuerySet[Benchmark]) -> QuerySet[Benchmark]:
    """Benchmarks, each with `systems`: how many submissions its board shows."""
    phase = Q(submissions__phase=F("board_phase")) | Q(submissions__phase=None, board_phase=None)
    return benchmarks.annotate(systems=Count("submissions", filter=is_listed("submissions__") & phase))


def count_regrading(benchmark: Benchmark) -> int:
    """How many of the public submissions are being graded again, and have their former scores until then."""
    return Submission.objects.on_board(benchmark).filter(is_being_regraded()).count()


def earlier_than(submission: Submission) -> int:
    """How many submissions of the same person or team came before this one, as `entries_of` counts them."""
    before = Submission.objects.of_same_people(submission).filter(submitted__lt=submission.submitted)
    return before.exclude(UNSCORED).count()


def author_fields(submission: Submission, *, private: bool) -> list[Values]:
    """The fields that its author filled in, as text; `private` ones too, for its author and organizers."""
    lines = []
    for field in FIELDS.values():
        if field.name in HEADLINE or (field.private and not private):
            continue
        value = getattr(submission, field.name)
        is_stated = value is not None and value != ""
        if is_stated or field.kind == "count":  # a missing number of parameters is shown too
            text = field.format_value(value)
            lines.append({"label": field.label, "text": text, "is_address": field.kind == "address"})
    return lines


def edits_of(submission: Submission) -> list[Values]:
    """The edits, newest first, each with its fields' names and texts; the texts are not for all readers."""

    def value_text(name: str, value: Any) -> str:
        if value is None or value == "":
            return "nothing"
        return FIELDS[name].format_value(value)

    edits = []
    for revision in submission.revisions.all()[:EDITS]:
        changes = []
        for name, (before, after) in revision.changes.items():
            changes.append((FIELDS[name].label.lower(), value_text(name, before), value_text(name, after)))
        edits.append({"at": revision.at, "changes": changes})
    return edits


def history_of(submission: Submission) -> Values | None:
    """Its gradings as they were shown, the newest first; None while there are not two to compare."""
    results = submission.results.filter(scores__isnull=False)
    columns = ("created", "why", "package", "scores", "report__provenance")
    rows = list(results.values(*columns)[:GRADINGS])
    if len(rows) < 2:
        return None
    scores = [row["scores"] for row in rows]
    lines = [("Score", [score_text(result["score"]) for result in scores])]
    for task in submission.record.scored:
        of_task = [(result["tasks"].get(task.name) or {}).get("score") for result in scores]
        lines.append((task.name, list(map(score_text, of_task))))
    return {"gradings": rows, "lines": lines, "more": results.count() - len(rows)}


def report_of(submission: Submission) -> Values | None:
    """The report in the manifest's order of tasks and metrics: PostgreSQL does not keep the order."""
    report: Values | None = submission.report
    if report is None:
        return None
    tasks = {}
    for task in submission.record.scored:
        scores = report["tasks"].get(task.name)
        if scores is None:
            continue
        ordered = {}
        for metric in task.metrics:
            if metric.name in scores["metrics"]:
                ordered[metric.name] = scores["metrics"][metric.name]
        tasks[task.name] = {**scores, "metrics": ordered}
    classes = classes_of(report, submission.record.tasks)
    return {**report, "tasks": tasks, "classes": classes}


def facts_in_brief(submission: Submission) -> Values:
    """The public fields that a submission's author filled in, and its status."""
    return {
        "key": submission.key,
        "benchmark": submission.benchmark.name,
        **_fields_as_json(submission, private=False),
        **_attributes_of(submission, "kind", "verified", "status", "public"),
        "submitted": submission.submitted.isoformat(timespec="seconds"),
        "phase": submission.phase and submission.phase.name,
        "late": submission.late,
    }


def public_facts(submission: Submission) -> Values:
    """The facts for everyone who may see a submission."""
    edits = []
    for edit in submission.revisions.all()[:EDITS]:
        edits.append({"at": edit.at.isoformat(timespec="seconds"), "fields": sorted(edit.changes)})
    return {
        **facts_in_brief(submission),
        "report": report_of(submission),
        "diagnosis": diagnosis_of(submission),
        "reproduced": with_names(submission),
        "edits": edits,
    }


def private_in_brief(submission: Submission) -> Values:
    """The additional facts for its author, without the problems of the file."""
    return {
        **_fields_as_json(submission, private=True),
        **_attributes_of(submission, "standing", "declined", "filename", "sha256", "verdict", "failure"),
    }


def author_facts(submission: Submission) -> Values:
    """All facts for its author."""
    private = {**private_in_brief(submission), "check": submission.problems or None}
    return public_facts(submission) | private


def _attributes_of(submission: Submission, *names: str) -> Values:
    return {name: getattr(submission, name) for name in names}


def _fields_as_json(submission: Submission, *, private: bool) -> Values:
    fields = [field for field in FIELDS.values() if field.private == private]
    return as_json(lambda name: getattr(submission, name), fields)


def queue_status(submission: Submission) -> Values:
    """Its status, its position in the queue, why it is not graded although it waits, what it can change."""
    position = 0
    why_stalled = ""
    effect = ""
    if submission.is_open:
        position = submission.queue_position()
        why_stalled = stall_reason(submission.benchmark)
        may_count = not submission.late and submission.reproduces_id is None
        if may_count and submission.phase is not None:
            effect = require("queue", submission.phase).reason
    return {
        "status": submission.status,
        "label": submission.get_status_display(),
        "position": position,
        "stalled": why_stalled,
        "effect": effect,
        "final": not submission.is_open,
    }


def export_submissions(*, user: User, archive: zipfile.ZipFile, **_: Any) -> Values:
    """Write `submissions.json` and the submitted files."""
    submissions = Submission.objects.owned_by(user).select_related("benchmark", "group")
    rows = []
    for row in submissions:
        values = _attributes_of(row, *EXPORTED)
        values["benchmark"] = row.benchmark.name
        values["group"] = row.group.name if row.group else None
        values["edits"] = list(row.revisions.values("at", "changes"))
        rows.append(values)
    archive.writestr("submissions.json", json_text(rows))
    for submission in submissions.exclude(file=""):
        with (
            submission.file.open("rb") as source,
            archive.open(f"files/{submission.key}.zip", "w", force_zip64=True) as target,
        ):
            for piece in source.chunks():
                target.write(piece)
    return {}
