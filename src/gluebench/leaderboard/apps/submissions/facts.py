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
from gluebench.leaderboard.apps.submissions.anonymity import masked
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import UNSCORED, Numbers, again, listed
from gluebench.leaderboard.apps.submissions.report import classes_of, diagnosis_of
from gluebench.leaderboard.apps.submissions.reproducing import with_names
from gluebench.leaderboard.serving.health import stalled

COLUMNS = (
    *("pk", "owner", "group"),  # for the site alone
    *("key", "kind", "verified", "reproduced", "submitted", "published", "scores", "apart"),
    *(field.name for field in LISTED),
)
EXPORTED = (
    *("key", *FIELDS, "kind", "verified", "public", "approved"),
    *("published", "withdrawn", "filename", "sha256", "size", "status", "submitted", "finished", "why"),
    *("began", "late", "chosen"),
    *("verdict", "problems", "report", "failure"),
)
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
    teams = {row["group"] for row in rows} - {None}
    same = Q(owner__in={row["owner"] for row in rows}) | Q(group__in=teams)
    counted = benchmark.submissions.filter(same).exclude(UNSCORED).order_by("submitted", "pk")
    sent, before = Counter[Any](), {}
    for pk, owner, group in counted.values_list("pk", "owner", "group"):
        # Those of the person plus those of the team, minus those of both.
        before[pk] = sent[owner, None] + (sent[None, group] - sent[owner, group] if group else 0)
        sent.update({(owner, None), (None, group), (owner, group)})
    return [{**row, "earlier": before.get(row["pk"], 0)} for row in rows]


def compared_entries(benchmark: Benchmark, columns: Sequence[str]) -> list[Values]:
    """These columns of the public submissions whose scores may be compared, oldest first.

    They have the labels, rows and metrics of the board.
    """
    rows = _public(benchmark, ["pk", "apart"] + list(columns), None)
    return [row for row in rows if not row["apart"]]


def diagnosed(benchmark: Benchmark, task: Task, pks: Sequence[int] | None = None) -> list[Values]:
    """The public submissions with their report on a diagnostic set, under "diagnostic"."""
    rows = _public(benchmark, ("pk", "key", "name", "model", "regime", "apart", "report__diagnostics"), pks)
    for row in rows:
        row["diagnostic"] = (row["report__diagnostics"] or {}).get(task.name)
    return [row for row in rows if row["diagnostic"]]


def scored_at(benchmark: Benchmark, path: Sequence[str], pks: Sequence[int] | None = None) -> list[Values]:
    """The public submissions whose report has a number there, with it under "number"."""
    number = Numbers("report", path, (*path, "n"))
    rows = _public(benchmark, ("pk", "key", "name", "model", "regime", "apart"), pks, number=number)
    return [{**row, "number": row["number"][0]} for row in rows if row["number"][0]]


def _public(
    benchmark: Benchmark, columns: Sequence[str], pks: Sequence[int] | None, **more: Any
) -> list[Values]:
    public = Submission.objects.on_board(benchmark).order_by("submitted", "pk")
    chosen = public if pks is None else public.filter(pk__in=pks)
    return masked(benchmark, chosen.values(*columns, **more))


def with_systems(benchmarks: QuerySet[Benchmark]) -> QuerySet[Benchmark]:
    """Benchmarks, each with `systems`: how many submissions its board shows."""
    phase = Q(submissions__phase=F("board_phase")) | Q(submissions__phase=None, board_phase=None)
    return benchmarks.annotate(systems=Count("submissions", filter=listed("submissions__") & phase))


def graded_again(benchmark: Benchmark) -> int:
    """How many of the public submissions are being graded again, and have their former scores until then."""
    return Submission.objects.on_board(benchmark).filter(again()).count()


def earlier_than(submission: Submission) -> int:
    """How many submissions of the same person or team came before this one, as `entries_of` counts them."""
    before = Submission.objects.of_same_people(submission).filter(submitted__lt=submission.submitted)
    return before.exclude(UNSCORED).count()


def listed_facts(submission: Submission, *, private: bool) -> list[Values]:
    """The fields that its author filled in, as text; `private` ones too, for its author and organizers."""
    return [
        {"label": field.label, "text": field.shown(value), "is_address": field.kind == "address"}
        for field in FIELDS.values()
        if field.name not in HEADLINE and (private or not field.private)
        if (value := getattr(submission, field.name)) not in (None, "") or field.kind == "count"
    ]


def edits_of(submission: Submission) -> list[Values]:
    """The edits, newest first, each with its fields' names and texts; the texts are not for all readers."""

    def text(name: str, value: Any) -> str:
        return "nothing" if value is None or value == "" else FIELDS[name].shown(value)

    return [
        {
            "at": revision.at,
            "changes": [
                (FIELDS[name].label.lower(), *(text(name, value) for value in pair))
                for name, pair in revision.changes.items()
            ],
        }
        for revision in submission.revisions.all()[:EDITS]
    ]


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
        if (scores := report["tasks"].get(task.name)) is not None:
            metrics = scores["metrics"]
            ordered = {metric.name: metrics[metric.name] for metric in task.metrics if metric.name in metrics}
            tasks[task.name] = {**scores, "metrics": ordered}
    classes = classes_of(report, submission.record.tasks)
    return {**report, "tasks": tasks, "classes": classes}


def facts_in_brief(submission: Submission) -> Values:
    """The public fields that a submission's author filled in, and its status."""
    return {
        "key": submission.key,
        "benchmark": submission.benchmark.name,
        **_stated(submission, private=False),
        **_values(submission, "kind", "verified", "status", "public"),
        "submitted": submission.submitted.isoformat(timespec="seconds"),
        "phase": submission.phase and submission.phase.name,
        "late": submission.late,
    }


def public_facts(submission: Submission) -> Values:
    """The facts for everyone who may see a submission."""
    return {
        **facts_in_brief(submission),
        "report": report_of(submission),
        "diagnosis": diagnosis_of(submission),
        "reproduced": with_names(submission),
        "edits": [
            {"at": edit.at.isoformat(timespec="seconds"), "fields": sorted(edit.changes)}
            for edit in submission.revisions.all()[:EDITS]
        ],
    }


def private_in_brief(submission: Submission) -> Values:
    """The additional facts for its author, without the problems of the file."""
    return {
        **_stated(submission, private=True),
        **_values(submission, "standing", "declined", "filename", "sha256", "verdict", "failure"),
    }


def author_facts(submission: Submission) -> Values:
    """All facts for its author."""
    private = {**private_in_brief(submission), "check": submission.problems or None}
    return public_facts(submission) | private


def _values(submission: Submission, *names: str) -> Values:
    return {name: getattr(submission, name) for name in names}


def _stated(submission: Submission, *, private: bool) -> Values:
    fields = [field for field in FIELDS.values() if field.private == private]
    return as_json(lambda name: getattr(submission, name), fields)


def standing(submission: Submission) -> Values:
    """Its status, its position in the queue, why it is not graded although it waits, what it can change."""
    counts = submission.is_open and not submission.late and submission.reproduces_id is None
    return {
        "status": submission.status,
        "label": submission.get_status_display(),
        "position": submission.queue_position() if submission.is_open else 0,
        "stalled": stalled(submission.benchmark) if submission.is_open else "",
        "effect": require("queue", submission.phase).reason if counts and submission.phase else "",
        "final": not submission.is_open,
    }


def export_submissions(*, user: User, archive: zipfile.ZipFile, **_: Any) -> Values:
    """Write `submissions.json` and the submitted files."""
    submissions = Submission.objects.owned_by(user).select_related("benchmark", "group")
    rows = [
        {
            **_values(row, *EXPORTED),
            "benchmark": row.benchmark.name,
            "group": row.group.name if row.group else None,
            "edits": list(row.revisions.values("at", "changes")),
        }
        for row in submissions
    ]
    archive.writestr("submissions.json", json_text(rows))
    for submission in submissions.exclude(file=""):
        with (
            submission.file.open("rb") as source,
            archive.open(f"files/{submission.key}.zip", "w", force_zip64=True) as target,
        ):
            for piece in source.chunks():
                target.write(piece)
    return {}
