"""What a benchmark's policy lets be seen of a result, and when.

A result is kept whole (`Result.report`) for organizers; here it becomes what may be shown
(`Submission.report`), which is all that pages, exports and the API ever read. Here alone it is rounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from gluebench import benchmark as records
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.benchmarks.policy import Policy, sentences
from gluebench.leaderboard.submissions.models import Result, Status, Submission, SubmissionQuerySet
from gluebench.scoring.feedback import rounded_report
from gluebench.scoring.report import Score, report_of

BOARD = ("complete", "missing", "score", "tasks")
"""What a board shows of a report."""
ROUNDING = "two standard errors"
"""What a report's provenance says of its numbers."""
EXPECTED = "expected a file of this name; this benchmark takes complete submissions only"


def graded_rows(benchmark: Benchmark) -> dict[str, Any]:
    """The rows that a submission is graded on now, as the grader calls them; empty for all."""
    share = benchmark.policy.public_share
    if share is None:
        return {}
    return {"rows": "held back" if benchmark.revealed else "public", "share": share}


def climbs(submission: Submission) -> bool:
    """Whether the Ladder decides what is shown of it. The reveal shows all that were sent before it."""
    benchmark = submission.benchmark
    if benchmark.policy.feedback != "ladder":
        return False
    return benchmark.revealed is None or submission.submitted >= benchmark.revealed


def earlier(submission: Submission) -> SubmissionQuerySet:
    """What the same people sent before: the author and, where limits are for teams, the author's team."""
    before = Q(submitted__lt=submission.submitted) | Q(submitted=submission.submitted, pk__lt=submission.pk)
    return _of_same_people(submission, team=submission.benchmark.policy.per == "team").filter(before)


def _of_same_people(submission: Submission, *, team: bool) -> SubmissionQuerySet:
    people = Q(owner=submission.owner_id)
    if team and submission.group_id is not None:
        people |= Q(group=submission.group_id)
    return Submission.objects.filter(people, benchmark=submission.benchmark_id)


def next_in_turn(submission: Submission) -> int | None:
    """The oldest waiting submission of the same benchmark and people; None off the Ladder."""
    if submission.benchmark.policy.feedback != "ladder":
        return None
    waiting = _of_same_people(submission, team=True).filter(status=Status.QUEUED)
    return waiting.order_by("submitted", "pk").values_list("pk", flat=True).first()


def bests_before(submission: Submission) -> dict[str, str]:
    """Task to the key of the earlier submission whose score its people see as their best."""
    before = earlier(submission).filter(status=Status.GRADED).order_by("-submitted", "-pk").first()
    result = before.results.first() if before else None
    return dict(result.best) if result else {}


def files_of(keys: Mapping[str, str]) -> dict[str, Submission]:
    """Task to the submission that it names, for those whose files are still there."""
    rows = Submission.objects.filter(key__in=set(keys.values())).exclude(file="")
    stored = {row.key: row for row in rows if row.file.storage.exists(str(row.file))}
    return {task: stored[key] for task, key in keys.items() if key in stored}


def show(submission: Submission) -> bool:
    """Write what may be shown of its latest result, as it stands now; in a transaction with its row locked.

    For when it is graded and when it is published. Returns whether there is a result to show.
    """
    result = submission.results.first()
    if result is None or submission.status != Status.GRADED or not (result.shown or result.report):
        return False
    if submission.published is None and submission.public and submission.withdrawn is None:
        submission.published = timezone.now()
    values = {**shown(submission, result), "published": submission.published}
    Submission.objects.filter(pk=submission.pk).update(**values)
    result.show(values["scores"])
    for name, value in values.items():
        setattr(submission, name, value)
    return True


def shown(submission: Submission, result: Result | None) -> dict[str, Any]:
    """The row's columns that pages read, from its latest result."""
    policy = submission.benchmark.policy
    report = (result.shown or result.report) if result else None
    if report is None or (policy.feedback == "on-publish" and submission.published is None):
        return {"report": None, "scores": None, "value": None}
    shown = as_shown(report, submission.benchmark.record, smallest=policy.smallest_category)
    value = (shown["score"] or {}).get("value")
    return {"report": shown, "scores": {name: shown[name] for name in BOARD}, "value": value}


def round_earlier() -> int:
    """Round what an earlier version stored with all digits; returns how many submissions.

    Of results that are no longer the latest, only the scores could be fetched.
    """
    graded = Submission.objects.filter(status=Status.GRADED, report__isnull=False)
    pks = list(graded.filter(report__provenance__rounding__isnull=True).values_list("pk", flat=True))
    for pk in pks:
        with transaction.atomic():
            held = Submission.objects.select_for_update(of=("self",)).select_related("benchmark").get(pk=pk)
            for result in held.results.filter(scores__isnull=False):
                result.show(shown(held, result)["scores"])
            show(held)
            Benchmark.objects.filter(pk=held.benchmark_id).touch()
    return len(pks)


def as_shown(report: Mapping[str, Any], benchmark: records.Benchmark, *, smallest: int) -> dict[str, Any]:
    """A graded report as anybody may fetch it: rounded, and without small categories of hidden labels."""
    rounded = rounded_report(report_of(report), benchmark)
    private = {task.name for task in benchmark.diagnostics if not task.labels_public}

    def suppressed(score: Score) -> Score:
        if score.n >= smallest:
            return score
        return score._replace(value=None, low=None, high=None, withheld=f"fewer than {smallest} examples")

    diagnostics = {
        name: scores.with_categories(suppressed) if scores and name in private else scores
        for name, scores in rounded.diagnostics.items()
    }
    provenance = {**rounded.provenance}
    if not all(task.labels_public for task in benchmark.tasks):
        provenance["rounding"] = ROUNDING
    return rounded._replace(provenance=provenance, diagnostics=diagnostics).as_dict()


def explained(benchmark: Benchmark) -> list[str]:
    """The policy in sentences, for whoever is about to submit."""
    withheld = any(not task.labels_public for task in benchmark.record.diagnostics)
    return sentences(benchmark.policy, revealed=benchmark.revealed is not None, categories=withheld)


def judged(submission: Submission, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """The grader's result, without its report where the policy refuses a file not accepted before."""
    check = as_policy(submission.benchmark.policy, result["check"])
    taken = submission.finished is not None and submission.verdict != "invalid"
    return result if check is result["check"] or taken else {**result, "check": check, "report": None}


def as_policy(policy: Policy, check: Mapping[str, Any]) -> Mapping[str, Any]:
    """A check as the benchmark judges it: incomplete is invalid where the policy refuses it."""
    if policy.incomplete != "refused" or check["verdict"] != "incomplete":
        return check
    lacking = {f"{name}.tsv" for name in check["missing"]}
    problems = [
        {**problem, "severity": "error", "expected": EXPECTED}
        if problem["code"] == "missing-file" and problem["file"] in lacking
        else problem
        for problem in check["problems"]
    ]
    return {**check, "verdict": "invalid", "problems": problems}
