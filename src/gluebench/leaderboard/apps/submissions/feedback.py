"""What a benchmark's policy shows of a result, and when.

The complete result (`Result.report`) is for organizers. This module makes its public form
(`Submission.report`), which is all that pages, exports and the API read. Rounding happens only here.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from django.db.models import Q
from django.utils import timezone

from gluebench import benchmark as records
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import Policy, sentences
from gluebench.leaderboard.apps.common.formats import BOARD
from gluebench.leaderboard.apps.common.kinds import Facts, Values
from gluebench.leaderboard.apps.phases.models import Phase, ScoredRows, at_phase, policy_at
from gluebench.leaderboard.apps.submissions.models import Result, Submission, SubmissionQuerySet
from gluebench.leaderboard.apps.submissions.queries import Status
from gluebench.scoring.feedback import rounded_report
from gluebench.scoring.report import METRICS_VERSION, Score, fingerprint, report_of

ROUNDING = "two standard errors"
"""How numbers are rounded, as a report's provenance states it."""
EXPECTED = "expected a file of this name; this benchmark takes complete submissions only"


class ScoreKey(NamedTuple):
    """What scores have to share to be compared. A board ranks those with its own key."""

    labels: str
    tasks: str
    """Fingerprint of the manifest: its tasks, their metrics and weights."""
    rows: str | None
    """The part of the rows; None for all."""
    share: float | None
    """The public share of the rows; None for all, and for results of 27 November 2026 and before."""
    metrics: int = METRICS_VERSION
    """As `report.METRICS_VERSION`."""

    def difference(self, other: "ScoreKey") -> str:
        """The first of the names in which two keys differ, empty where they are equal."""
        for name in self._fields:
            own, its = getattr(self, name), getattr(other, name)
            is_unknown = name == "share" and None in (own, its)
            if own != its and not is_unknown:
                return name
        return ""


def key_of(labels: str, provenance: Facts) -> ScoreKey:
    """The key of a result, from its columns `labels` and `report`."""
    tasks = provenance["benchmark"]["fingerprint"]
    metrics = provenance.get("metrics", 1)
    return ScoreKey(labels, tasks, provenance.get("rows"), provenance.get("share"), metrics)


def key_now(benchmark: Benchmark, phase: Phase | None) -> ScoreKey:
    """The key that a submission graded now gets. Labels that are elsewhere have their newest version."""
    board = at_phase(benchmark, phase)
    labels = board.gold_digest or _newest_labels(benchmark, phase)
    tasks = fingerprint(board.record)
    part = rows_to_grade(benchmark, phase)
    return ScoreKey(labels, tasks, part.get("rows"), part.get("share"))


def _newest_labels(benchmark: Benchmark, phase: Phase | None) -> str:
    """The version of labels that are elsewhere: the newest that these tasks were graded with, or empty."""
    tasks = phase.tasks if phase else []
    same_tasks = Q(submission__phase__tasks=tasks)
    if not tasks:
        same_tasks |= Q(submission__phase=None)
    results = Result.objects.filter(same_tasks, submission__benchmark=benchmark).exclude(labels="")
    return results.values_list("labels", flat=True).first() or ""


def set_apart(submissions: SubmissionQuerySet) -> None:
    """Take the rank of those whose scores have another key than the board, until they are graded again.

    One whose scores have the board's key once more, as of a deadline that was moved, has its rank back.
    """
    rows = submissions.exclude(scores=None).select_related("benchmark", "phase")
    results = Result.objects.filter(submission__in=rows.values("pk"), report__isnull=False).order_by("pk")
    columns = results.values_list("submission", "labels", "report__provenance")
    keys = {pk: key_of(labels, provenance) for pk, labels, provenance in columns}
    now: dict[int | None, ScoreKey] = {}
    for row in rows.only("pk", "benchmark", "phase", "apart", "scores"):
        if row.phase_id not in now:
            now[row.phase_id] = key_now(row.benchmark, row.phase)
        apart = ""
        if row.pk in keys:
            apart = keys[row.pk].difference(now[row.phase_id])
        if apart != row.apart:
            value = None
            if not apart:
                score = (row.scores or {}).get("score") or {}
                value = score.get("value")
            Submission.objects.filter(pk=row.pk).update(apart=apart, value=value)


def parts_of(submission: Submission) -> Values:
    """The rows to grade a submission on, as arguments of the grader, both parts of them where `also` says so.

    The best of a phase is the best on the public share, for what is graded after it is settled too.
    """
    phase = submission.phase
    rows = rows_to_grade(submission.benchmark, phase)
    if phase is None or phase.rows != ScoredRows.BOTH or not phase.is_settled:
        return rows
    if submission.policy.feedback == "ladder" and submission.public_value is not None:
        return rows  # the Ladder's value, which another grading would not give
    return {**rows, "also": "public"}


def rows_to_grade(benchmark: Benchmark, phase: Phase | None) -> Values:
    """The rows that submissions are graded on now, as arguments of the grader; empty for all rows."""
    if phase is not None:
        return dict(phase.state.get("rows", {}))
    share = benchmark.policy.public_share
    if share is None:
        return {}
    return {"rows": "held back" if benchmark.revealed else "public", "share": share}


def climbs(submission: Submission) -> bool:
    """Whether the Ladder decides what is shown; after the reveal, only for submissions made since."""
    if submission.phase is not None:
        return bool(submission.phase.state.get("ladder"))
    benchmark = submission.benchmark
    if benchmark.policy.feedback != "ladder":
        return False
    return benchmark.revealed is None or submission.submitted >= benchmark.revealed


def is_ladder(benchmark: Benchmark) -> bool:
    """Whether the board without a phase shows scores of the Ladder."""
    return benchmark.policy.feedback == "ladder" and benchmark.revealed is None


def earlier(submission: Submission) -> SubmissionQuerySet:
    """Earlier submissions by the same people: the author and, if limits are per team, the author's team.

    Of the same phase only: another may have been scored on other rows.
    """
    before = Q(submitted__lt=submission.submitted) | Q(submitted=submission.submitted, pk__lt=submission.pk)
    per_team = submission.benchmark.policy.per == "team"
    same = Submission.objects.of_same_people(submission, team=per_team)
    return same.filter(before, phase=submission.phase_id)


def next_in_turn(submission: Submission) -> int | None:
    """The oldest waiting submission of the same benchmark and people; None without the Ladder."""
    if submission.policy.feedback != "ladder":
        return None
    waiting = Submission.objects.of_same_people(submission).filter(
        status=Status.QUEUED, phase=submission.phase_id
    )
    return waiting.order_by("submitted", "pk").values_list("pk", flat=True).first()


def bests_before(submission: Submission) -> dict[str, str]:
    """Task name to the key of the earlier submission whose score is shown as the best so far."""
    before = earlier(submission).filter(status=Status.GRADED).order_by("-submitted", "-pk").first()
    if before is None:
        return {}
    result = before.results.first()
    if result is None:
        return {}
    return dict(result.best)


def files_of(keys: Mapping[str, str]) -> dict[str, Submission]:
    """Task name to the submission with that key, for submissions whose file still exists."""
    rows = Submission.objects.filter(key__in=set(keys.values())).exclude(file="")
    stored = {row.key: row for row in rows if row.file.storage.exists(str(row.file))}
    return {task: stored[key] for task, key in keys.items() if key in stored}


def show(submission: Submission) -> bool:
    """Update what is shown of a submission's latest result; return whether there is a result.

    Call it after grading and after publishing, in a transaction with the row locked. It also sets the date
    of publication of a public submission.
    """
    result = submission.results.first()
    if result is None or submission.status != Status.GRADED or not (result.shown or result.report):
        return False
    if submission.published is None and submission.public and submission.withdrawn is None:
        submission.published = timezone.now()
    values = {**values_to_show(submission, result), "published": submission.published}
    phase = submission.phase
    report = result.shown or result.report or {}
    # Not by what the phase scores now: of an entry whose file is gone, the scores stay those of other rows.
    of_public_rows = report["provenance"].get("rows") == "public" and not _has_other_tasks(submission, report)
    if phase is not None and phase.rows == ScoredRows.BOTH and of_public_rows:
        values["public_value"] = score_value(submission, report)
    Submission.objects.filter(pk=submission.pk).rewrite(**values)
    result.show(values["scores"])
    for name, value in values.items():
        setattr(submission, name, value)
    return True


def values_to_show(submission: Submission, result: Result | None) -> Values:
    """Values for the columns of a submission that pages read, from one of its results."""
    policy = submission.policy
    phase = submission.phase
    nothing: Values = {"report": None, "scores": None, "value": None, "apart": ""}
    if result is None:
        return nothing
    report = result.shown or result.report
    unpublished = policy.feedback == "on-publish" and submission.published is None
    unseen = policy.feedback == "with-board" and phase is not None and not phase.is_shown
    if report is None or unpublished or unseen:
        return nothing

    apart = key_of(result.labels, report["provenance"]).difference(key_now(submission.benchmark, phase))
    if _has_other_tasks(submission, report):
        # Only the manifest that it was scored by tells how it is rounded: what is shown stays.
        return {"report": submission.report, "scores": submission.scores, "value": None, "apart": apart}
    visible = as_shown(report, submission.record, smallest=policy.smallest_category)
    scores = {name: visible[name] for name in BOARD}
    value = None
    if not apart and visible["score"]:
        value = visible["score"].get("value")
    return {"report": visible, "scores": scores, "value": value, "apart": apart}


def _has_other_tasks(submission: Submission, report: Facts) -> bool:
    """Whether the tasks of its phase, or how they are scored, changed since a report was made."""
    scored_by: str = report["provenance"]["benchmark"]["fingerprint"]
    return scored_by != fingerprint(submission.record)


def score_value(submission: Submission, report: Facts) -> float | None:
    """The score of a report as the policy rounds it; None for an incomplete one."""
    smallest = submission.policy.smallest_category
    score = as_shown(report, submission.record, smallest=smallest)["score"]
    if score is None:
        return None
    value: float | None = score["value"]
    return value


def as_shown(report: Facts, benchmark: records.Benchmark, *, smallest: int) -> Values:
    """The public form of a report: rounded, with small categories of private labels suppressed."""
    rounded = rounded_report(report_of(report), benchmark)
    private = {task.name for task in benchmark.diagnostics if not task.labels_public}

    def suppress_small(score: Score) -> Score:
        if score.n >= smallest:
            return score
        return score._replace(value=None, low=None, high=None, withheld=f"fewer than {smallest} examples")

    diagnostics = dict(rounded.diagnostics)
    for name, scores in rounded.diagnostics.items():
        if scores and name in private:
            diagnostics[name] = scores.with_categories(suppress_small)
    provenance = dict(rounded.provenance)
    if not all(task.labels_public for task in benchmark.tasks):
        provenance["rounding"] = ROUNDING
    shown = replace(rounded, provenance=provenance, diagnostics=diagnostics).as_dict()
    if "classes" not in report:  # of an earlier version, which shows what it was stored with
        del shown["classes"]
    return shown


def explain_policy(benchmark: Benchmark, phase: Phase | None = None) -> list[str]:
    """The policy in sentences, for people who are about to submit."""
    has_private_labels = any(not task.labels_public for task in at_phase(benchmark, phase).record.diagnostics)
    revealed = benchmark.revealed is not None
    return sentences(policy_at(benchmark, phase), revealed=revealed, categories=has_private_labels)


def apply_policy(submission: Submission, result: Facts) -> Facts:
    """The grader's result; without its report if the policy refuses a file that was not accepted before."""
    check = as_policy(submission.benchmark, submission.policy, result["check"])
    is_refused = check is not result["check"]
    was_accepted = submission.finished is not None and submission.verdict != "invalid"
    if is_refused and not was_accepted:
        return {**result, "check": check, "report": None}
    return result


def as_policy(benchmark: Benchmark, policy: Policy, check: Facts) -> Facts:
    """The check of a submission under the policy: incomplete becomes invalid if the policy refuses it."""
    if policy.incomplete != "refused" or check["verdict"] != "incomplete":
        return check
    missing_files = {benchmark.record.file(name).path for name in check["missing"]}
    problems = []
    for problem in check["problems"]:
        if problem["code"] == "missing-file" and problem["file"] in missing_files:
            problem = {**problem, "severity": "error", "expected": EXPECTED}
        problems.append(problem)
    return {**check, "verdict": "invalid", "problems": problems}
