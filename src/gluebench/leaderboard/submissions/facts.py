"""What readers and authors see of a submission: fields, edits, gradings; as JSON; in an account's export."""

from __future__ import annotations

import zipfile
from typing import Any, NamedTuple

from gluebench.leaderboard.accounts.models import User
from gluebench.leaderboard.accounts.trust import json_text
from gluebench.leaderboard.common.formats import score_text
from gluebench.leaderboard.fields import FIELDS, as_json
from gluebench.leaderboard.submissions.mistakes import diagnosis_of
from gluebench.leaderboard.submissions.models import Submission

EXPORTED = (
    *("key", *FIELDS, "kind", "verified", "public", "approved"),
    *("published", "withdrawn", "filename", "sha256", "size", "status", "submitted", "finished", "why"),
    *("verdict", "problems", "report", "failure"),
)
"""`report` is the part that its author may see; full gradings are the organizer's."""


def facts_in_brief(submission: Submission) -> dict[str, Any]:
    """What its author says of a submission, and where it stands."""
    return {
        "key": submission.key,
        "benchmark": submission.benchmark.name,
        **_stated(submission, private=False),
        **_values(submission, "kind", "verified", "status", "public"),
        "submitted": submission.submitted.isoformat(timespec="seconds"),
    }


def _values(submission: Submission, *names: str) -> dict[str, Any]:
    return {name: getattr(submission, name) for name in names}


def _stated(submission: Submission, *, private: bool) -> dict[str, Any]:
    fields = [field for field in FIELDS.values() if field.private == private]
    return as_json(lambda name: getattr(submission, name), fields)


class Fact(NamedTuple):
    """One line of the list on a submission's page."""

    label: str
    text: str
    is_address: bool


EDITS = 50
"""How many edits are shown, the newest first, so that no page grows without end."""
GRADINGS = 5
"""Gradings that a page shows, the newest first."""
HEADLINE = ("name", "model", "team", "link", "description")
"""What its pages show above the list."""


def listed_facts(submission: Submission, *, private: bool) -> list[Fact]:
    """The list on its pages: what its author said, as text; `private` is for its author and organizers."""
    return [
        Fact(field.label, field.shown(value), field.kind == "address")
        for field in FIELDS.values()
        if field.name not in HEADLINE and (private or not field.private)
        if (value := getattr(submission, field.name)) not in (None, "") or field.kind == "count"
    ]


def edits_of(submission: Submission) -> list[dict[str, Any]]:
    """The edits, newest first, each with its fields' names and texts; the texts are not for all readers."""
    return [
        {
            "at": revision.at,
            "changes": [
                (FIELDS[name].label.lower(), *(_text(name, value) for value in pair))
                for name, pair in revision.changes.items()
                if name in FIELDS  # not of an earlier version
            ],
        }
        for revision in submission.revisions.all()[:EDITS]
    ]


def _text(name: str, value: Any) -> str:
    return "nothing" if value is None or value == "" else FIELDS[name].shown(value)


def history_of(submission: Submission) -> dict[str, Any] | None:
    """Its gradings as they were shown, the newest first; None while there are not two to compare."""
    results = submission.results.filter(scores__isnull=False)
    columns = ("created", "why", "package", "scores", "report__provenance")
    rows = list(results.values(*columns)[:GRADINGS])
    if len(rows) < 2:
        return None
    scores = [row["scores"] for row in rows]
    lines = [("Score", [score_text(result["score"]) for result in scores])]
    for task in submission.benchmark.record.scored:
        of_task = [(result["tasks"].get(task.name) or {}).get("score") for result in scores]
        lines.append((task.name, list(map(score_text, of_task))))
    return {"gradings": rows, "lines": lines, "more": results.count() - len(rows)}


def report_of(submission: Submission) -> dict[str, Any] | None:
    """The report as it was made, in the manifest's order of tasks and metrics: PostgreSQL keeps none."""
    report: dict[str, Any] | None = submission.report
    if report is None:
        return None
    tasks = {}
    for task in submission.benchmark.record.scored:
        if (scores := report["tasks"].get(task.name)) is not None:
            metrics = scores["metrics"]
            ordered = {metric.name: metrics[metric.name] for metric in task.metrics if metric.name in metrics}
            tasks[task.name] = {**scores, "metrics": ordered}
    return {**report, "tasks": tasks}


def public_facts(submission: Submission) -> dict[str, Any]:
    """What anybody who may see a submission may know of it."""
    return {
        **facts_in_brief(submission),
        "report": report_of(submission),
        "diagnosis": diagnosis_of(submission),
        "edits": [
            {"at": edit.at.isoformat(timespec="seconds"), "fields": sorted(edit.changes)}
            for edit in submission.revisions.all()[:EDITS]
        ],
    }


def private_in_brief(submission: Submission) -> dict[str, Any]:
    """What only its author sees besides, without the findings on the file."""
    return {
        **_stated(submission, private=True),
        **_values(submission, "standing", "declined", "filename", "sha256", "verdict", "failure"),
    }


def private_facts(submission: Submission) -> dict[str, Any]:
    """What only its author sees besides."""
    return {**private_in_brief(submission), "check": submission.problems or None}


def standing(submission: Submission) -> dict[str, Any]:
    """Where it stands in the queue."""
    return {
        "status": submission.status,
        "label": submission.get_status_display(),
        "position": submission.queue_position() if submission.is_open else 0,
        "final": not submission.is_open,
    }


def export_submissions(*, user: User, archive: zipfile.ZipFile, **_: Any) -> dict[str, Any]:
    """Write `submissions.json` and the submitted files."""
    submissions = Submission.objects.owned_by(user).select_related("benchmark", "group")
    archive.writestr("submissions.json", json_text([_exported(row) for row in submissions]))
    for submission in submissions.exclude(file=""):
        with (
            submission.file.open("rb") as source,
            archive.open(f"files/{submission.key}.zip", "w", force_zip64=True) as target,
        ):
            for piece in source.chunks():
                target.write(piece)
    return {}


def _exported(submission: Submission) -> dict[str, Any]:
    return {
        **_values(submission, *EXPORTED),
        "benchmark": submission.benchmark.name,
        "group": submission.group.name if submission.group else None,
        "edits": list(submission.revisions.values("at", "changes")),
    }
