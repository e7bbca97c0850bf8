"""Grading on an organizer's own machine, which alone has the labels: it takes work and returns results."""

import json
from base64 import b64encode
from pathlib import Path
from typing import Literal

from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Field, Router, Schema
from pydantic import TypeAdapter
from typing_extensions import TypedDict

from gluebench.analysis.diagnostics.counts import Share
from gluebench.leaderboard.apps.accounts.models import Scope
from gluebench.leaderboard.apps.api.callers import SIGNED_IN, user_with
from gluebench.leaderboard.apps.api.schemas import ExtensibleSchema, answers
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.common.problems import FieldError, ProblemError, invalid, not_found
from gluebench.leaderboard.apps.submissions import feedback, grading
from gluebench.leaderboard.apps.submissions.models import Submission, SubmissionQuerySet
from gluebench.leaderboard.apps.submissions.process import (
    GraderError,
    InterruptedGradingError,
    KilledGraderError,
    grader_limits,
)
from gluebench.leaderboard.apps.submissions.queries import lease_renewal
from gluebench.leaderboard.apps.submissions.report import check_summary, confusion_tables, report_tables
from gluebench.scoring.report import Report, report_of
from gluebench.submission.problems import Problem

router = Router(tags=["Grading"], auth=SIGNED_IN)

LEASE_SECONDS = 150
"""How long a machine may be cut off from the site before another one gets its submission."""
NO_ROLE = "You organize no benchmark {!r} whose labels are elsewhere."
LOST = "This submission is no longer yours: another machine has it, or it is done."


class WorkQuery(Schema):
    """Whose submissions a machine grades."""

    benchmark: str


class GradingOutcome(Schema):
    """How a grading ended. Without a result and an error, the machine is still at work."""

    result: Values | None = None
    """What the grader wrote."""
    error: str = Field("", max_length=200)
    temporary: bool = False
    """Whether another attempt may succeed."""


class _Check(TypedDict):
    """What the grader says of a submission, as `Submission.as_dict`."""

    benchmark: str
    split: str
    source: str
    verdict: Literal["valid", "incomplete", "invalid"]
    missing: list[str]
    problems: list[Problem]
    unshown: dict[str, dict[str, int]]


class _Directions(TypedDict):
    """Pairs in both directions, as `Directions`."""

    both: Share
    one: Share
    neither: Share
    alike: Share
    apart: Share
    one_way: Share
    mirrored: str | None
    unpaired: int


class _Diagnosis(TypedDict):
    """What the grader says of a diagnostic set, as `SystemDiagnosis.counts`."""

    confusions: dict[str, dict[str, dict[str, dict[str, int]]]]
    """By kind and category: gold label to answered label to how often."""
    directions: _Directions | None


_CHECK = TypeAdapter(_Check)
_DIAGNOSIS = TypeAdapter(dict[str, _Diagnosis] | None)
_REPORT = TypeAdapter(Report)


@router.post("", response={204: None, **answers(ExtensibleSchema, 400, 403, 422)})
def claim_next_submission(request: HttpRequest, query: WorkQuery) -> HttpResponse:
    """The next submission to grade, for a machine of the organizer; status 204 if none waits.

    `files` has names and contents in base64; `submission` and, under the Ladder, `bests` by task are numbers
    of files. `rows` and `share` say which rows count; `also` names a second part to score.
    """
    benchmark = _benchmark(request, query.benchmark)
    turns = Submission.objects.filter(benchmark=benchmark, reproduces=None).turns()
    submission = next((row for pk in turns if (row := grading.claim_submission(pk, LEASE_SECONDS))), None)
    if submission is None:
        return HttpResponse(status=204)
    given = submission.in_phase
    try:
        with grading.files_of(submission, _attempt_rows(submission)) as paths:
            sent = [paths["submission"]]
            sent += paths.get("bests", {}).values()
            numbers = {path: number for number, path in enumerate(dict.fromkeys(sent))}
            bests = None
            if "bests" in paths:
                bests = {task: numbers[path] for task, path in paths["bests"].items()}
            files = [[Path(path).name, b64encode(Path(path).read_bytes()).decode()] for path in numbers]
    except (GraderError, InterruptedGradingError) as error:
        reason = error if isinstance(error, GraderError) else InterruptedGradingError()

        def work(held: SubmissionQuerySet) -> Facts:
            raise reason

        grading.store_outcome(submission, work)
        return HttpResponse(status=204)
    return JsonResponse(
        {
            "key": submission.key,
            "attempt": submission.attempts,
            "manifest": given.manifest,
            "parents": given.parents,
            "files": files,
            "submission": 0,
            "bests": bests,
            "limits": grader_limits(),
            **feedback.parts_of(submission),
        }
    )


@router.post(
    "/{slug:key}/{int:attempt}", response={204: None, **answers(ExtensibleSchema, 400, 403, 404, 409, 422)}
)
def outcome(request: HttpRequest, key: str, attempt: int, outcome: GradingOutcome) -> HttpResponse:
    """Report how a grading ended, or that it goes on; status 409 if another machine has the submission."""
    submission = (
        Submission.objects.select_related("benchmark", "phase").filter(key=key, attempts=attempt).first()
    )
    if submission is None:
        raise not_found(f"There is no attempt {attempt} at {key}.")
    _benchmark(request, submission.benchmark.name)
    if not _attempt_rows(submission).update(**lease_renewal(LEASE_SECONDS)):
        raise ProblemError(409, "conflict", LOST)
    if outcome.error or outcome.result is not None:

        def work(held: SubmissionQuerySet) -> Facts:
            if outcome.error:
                failure = KilledGraderError if outcome.temporary else GraderError
                raise failure(outcome.error)
            return _validate_result(submission.in_phase, outcome.result or {})

        grading.store_outcome(submission, work)
    return HttpResponse(status=204)


def _benchmark(request: HttpRequest, name: str) -> Benchmark:
    user = user_with(request, Scope.GRADE)
    benchmark = Benchmark.objects.filter(name=name, gold="").first()
    if benchmark is None or not benchmark.has_organizer(user):
        raise ProblemError(403, "role", NO_ROLE.format(name))
    return benchmark


def _attempt_rows(submission: Submission) -> SubmissionQuerySet:
    return Submission.objects.with_lease(submission.pk, submission.attempts)


def _validate_result(benchmark: Benchmark, result: Facts) -> Facts:
    """A grader's result with the version of its labels. Raises ProblemError if it is not one.

    What the submission's page shows is made of it once, so that no page fails later.
    """
    record = benchmark.record
    try:
        text = json.dumps(result, allow_nan=False, ensure_ascii=False)
        text.encode()  # raises ValueError for half a surrogate
        check = result["check"]
        report = result.get("report")
        _CHECK.validate_json(json.dumps(check), strict=True)
        check_summary(check)
        _DIAGNOSIS.validate_json(json.dumps(result.get("diagnosis")), strict=True)
        confusion_tables(record, result.get("diagnosis"))
        labels = ""
        if report is not None:
            labels = _REPORT.validate_python(report_of(report), strict=True).provenance["labels"] or ""
            report_tables(record, report)
        if also := result.get("also"):
            _REPORT.validate_python(report_of(also), strict=True)
        if isinstance(labels, str) and "\\u0000" not in text:
            return {**result, "labels": labels}
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        pass  # of another version, perhaps; the message below says so
    message = "Not a result of gluebench's grader. Are both machines of one version?"
    raise invalid([FieldError(field="result", message=message)])
