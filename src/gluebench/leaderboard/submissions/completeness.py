"""What a policy makes of a submission that lacks files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gluebench.leaderboard.benchmarks.policy import Policy
from gluebench.leaderboard.submissions.models import Submission

EXPECTED = "expected a file of this name; this benchmark takes complete submissions only"


def judged(submission: Submission, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the grader said, without its report where the policy refuses it; what was taken stays taken."""
    check = as_policy(submission.benchmark.policy, result["check"])
    taken = submission.finished is not None and submission.verdict != "invalid"
    return result if check is result["check"] or taken else {**result, "check": check, "report": None}


def as_policy(policy: Policy, check: Mapping[str, Any]) -> Mapping[str, Any]:
    """The validator's findings as the benchmark judges them: incomplete is invalid where it is refused."""
    if policy.incomplete != "refused" or check["verdict"] != "incomplete":
        return check
    lacking = {f"{name}.tsv" for name in check["missing"]}
    problems = [_judged(problem, lacking) for problem in check["problems"]]
    return {**check, "verdict": "invalid", "problems": problems}


def _judged(problem: Mapping[str, Any], lacking: set[str]) -> Mapping[str, Any]:
    if problem["code"] != "missing-file" or problem["file"] not in lacking:
        return problem
    return {**problem, "severity": "error", "expected": EXPECTED}
