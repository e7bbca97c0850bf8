"""The findings of a check, as lines in the manner of a compiler and as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from gluebench.cli.formats import Records
from gluebench.cli.output import Output
from gluebench.cli.tables import Section, Table
from gluebench.submission import Problem, Submission

COLUMNS = ("severity", "file", "line", "index", "code", "value", "expected", "fix")
_WORST_FIRST = ("error", "warning", "notice")


def worst_first(problems: Iterable[Problem]) -> list[Problem]:
    """Errors, then warnings, then notices, each in the order they were found."""
    return sorted(problems, key=lambda problem: _WORST_FIRST.index(problem.severity))


def problem_lines(submission: Submission) -> list[str]:
    """A line for each finding and for each file's findings that are only counted."""
    shown = [f"{problem.severity}: {problem}" for problem in worst_first(submission.problems)]
    return shown + list(_counted(submission))


def _counted(submission: Submission) -> Iterator[str]:
    for file, kinds in submission.unshown.items():
        counts = ", ".join(f"{count:,} {code}" for code, count in kinds.items())
        yield f"{file}: and more of the same, not listed: {counts}"


def brief_lines(submission: Submission) -> list[str]:
    """A line for each kind of finding that is no error: what a command says that has other things to say."""
    files: dict[tuple[str, str], Counter[str]] = {}
    for problem in worst_first(submission.problems):
        files.setdefault((problem.severity, problem.code), Counter())[problem.file or "the whole"] += 1
    lines = []
    for (severity, code), counts in files.items():
        places = [f"{file} ({count} times)" if count > 1 else file for file, count in counts.items()]
        lines.append(f"{severity}: {code}: {', '.join(places)}")
    return [*lines, f"These are explained by: gluebench check {submission.source}"] if lines else []


def as_lines(submission: Submission, *, done: list[str]) -> str:
    """What a check prints for a reader."""
    lines = [f"mended: {step}" for step in done] + problem_lines(submission)
    return "".join(f"{line}\n" for line in [*lines, verdict_line(submission)])


def verdict_line(submission: Submission) -> str:
    """The verdict in one sentence."""
    counts = _counts(submission)
    counted = f" ({counts})" if counts else ""
    if submission.verdict == "incomplete":
        names = ", ".join(f"{name}.tsv" for name in submission.missing)
        return f"{submission.source}: INCOMPLETE{counted}. There is no macro-average without {names}."
    return f"{submission.source}: {submission.verdict.upper()}{counted}."


def _counts(submission: Submission) -> str:
    parts = []
    for severity in _WORST_FIRST:
        number = sum(problem.severity == severity for problem in submission.problems)
        if number:
            parts.append(f"{number} {severity}{'s' * (number > 1)}")
    hidden = sum(count for kinds in submission.unshown.values() for count in kinds.values())
    return ", ".join(parts) + (f", {hidden:,} more not listed" if hidden else "")


def check_output(submission: Submission, *, done: list[str]) -> Output:
    """The check in the forms for programs and papers."""
    rows = tuple(tuple(problem.as_dict()[column] for column in COLUMNS) for problem in submission.problems)
    cells = tuple(tuple("" if value is None else str(value) for value in row) for row in rows)
    mended = tuple(f"Mended: {step}." for step in done)
    table = Table(
        COLUMNS, (Section(cells),), right=frozenset({2, 3}), notes=(*mended, verdict_line(submission))
    )
    return Output(submission.as_dict() | {"mended": done}, (table,), Records(COLUMNS, rows))
