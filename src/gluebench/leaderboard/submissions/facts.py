"""What is told of a submission as JSON, to everybody and to its author."""

from __future__ import annotations

from typing import Any

from gluebench.leaderboard.submissions.diagnosis import diagnosis_of
from gluebench.leaderboard.submissions.edits import SHOWN
from gluebench.leaderboard.submissions.models import Submission


def facts_in_brief(submission: Submission) -> dict[str, Any]:
    """What its author says of a submission, and where it stands."""
    return {
        "key": submission.key,
        "benchmark": submission.benchmark.name,
        "name": submission.name,
        "model": submission.model,
        "team": submission.team,
        "link": submission.link,
        "paper": submission.paper,
        "code": submission.code,
        "description": submission.description,
        "regime": submission.regime,
        "training_data": submission.training_data,
        "parameters": {"total": submission.parameters, "shared": submission.shared_parameters},
        "compute": submission.compute,
        "latency_ms": submission.latency_ms,
        "kind": submission.kind,
        "verified": submission.verified,
        "submitted": submission.submitted.isoformat(timespec="seconds"),
        "status": submission.status,
        "public": submission.public,
    }


def report_of(submission: Submission) -> dict[str, Any] | None:
    """The report as it was made, in the manifest's order of tasks and metrics: PostgreSQL keeps none."""
    found: dict[str, Any] | None = submission.report
    if found is None:
        return None
    tasks = {}
    for task in submission.benchmark.record.scored:
        if (scores := found["tasks"].get(task.name)) is not None:
            metrics = scores["metrics"]
            ordered = {each.name: metrics[each.name] for each in task.metrics if each.name in metrics}
            tasks[task.name] = {**scores, "metrics": ordered}
    return {**found, "tasks": tasks}


def public_facts(submission: Submission) -> dict[str, Any]:
    """What anybody who may see a submission may know of it."""
    return {
        **facts_in_brief(submission),
        "report": report_of(submission),
        "diagnosis": diagnosis_of(submission),
        "edits": [
            {"at": each.at.isoformat(timespec="seconds"), "fields": sorted(each.changes)}
            for each in submission.revisions.all()[:SHOWN]
        ],
    }


def private_in_brief(submission: Submission) -> dict[str, Any]:
    """What only its author sees besides, without what was found in the file."""
    return {
        "standing": submission.standing,
        "declined": submission.declined,
        "filename": submission.filename,
        "sha256": submission.sha256,
        "verdict": submission.verdict,
        "failure": submission.failure,
    }


def private_facts(submission: Submission) -> dict[str, Any]:
    """What only its author sees besides."""
    return {**private_in_brief(submission), "check": submission.problems or None}
