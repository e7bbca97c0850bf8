"""Whether the original site would take a submission: stricter than we are, about form only."""

from __future__ import annotations

from dataclasses import replace

from gluebench.submission.problems import Problem
from gluebench.submission.submission import Submission

_REFUSED = {
    "missing-file": "The original site refuses a submission without all test files; add it.",
    "file-name": "The original site wants the exact file name.",
    "wrapper-folder": "The original site wants the files at the top of the zip, as `zip -j` puts them.",
    "header-name": "The original site wants exactly this header.",
    "byte-order-mark": "The original site wants exactly this header, without a byte order mark before it.",
    "outside-range": "The original site refuses the file: clip the score to the range.",
}


def official(submission: Submission) -> Submission:
    """The same submission judged as the original site would: what it refuses becomes an error.

    It wants a zip of all test files under their exact names, with the exact header, and STS-B in [0, 5]
    (what its users were refused for, since its own code was never published).
    """
    problems = [_judged(problem) for problem in submission.problems]
    if not submission.source.casefold().endswith(".zip"):
        expected = "expected a zip of all test files"
        fix = "Write one with `gluebench check SUBMISSION --fix OUT.zip`."
        problems.append(Problem("not-a-zip", "error", "", expected, fix))
    refused = any(problem.severity == "error" for problem in problems)
    return replace(submission, problems=tuple(problems), verdict="invalid" if refused else "valid")


def _judged(problem: Problem) -> Problem:
    if problem.code in _REFUSED:
        return replace(problem, severity="error", fix=_REFUSED[problem.code])
    return problem
