"""The findings of a check, as lines in the style of a compiler and as a table."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from gluebench.benchmark.figures import counted
from gluebench.cli.common.output import Output, Section, Table
from gluebench.submission import Problem, Submission
from gluebench.submission.problems import listed

COLUMNS = ("severity", "file", "line", "index", "code", "value", "expected", "fix")
_WORST_FIRST = ("error", "warning", "notice")


def marked(problems: Iterable[Problem], unshown: Mapping[str, Mapping[str, int]] | None = None) -> list[str]:
    """Errors, then warnings, then notices as lines, those of a kind together; `unshown` as in `listed`."""
    shown = list(problems)
    lines = []
    for severity in _WORST_FIRST:
        these = [problem for problem in shown if problem.severity == severity]
        codes = {problem.code for problem in these}
        more = {
            file: {code: kinds[code] for code in codes & set(kinds)}
            for file, kinds in (unshown or {}).items()
        }
        lines += [line if line.startswith(" ") else f"{severity}: {line}" for line in listed(these, more)]
    return lines


def problem_lines(submission: Submission) -> list[str]:
    """Every finding; text shared by several is printed once, above their locations."""
    return marked(submission.problems, submission.unshown)


def brief_lines(submission: Submission, options: Sequence[str] = ()) -> list[str]:
    """The findings short of an error, in brief, for a command whose main output is something else.

    A line for each kind of warning, then the verdict, the kinds of notice and the check that explains them.
    """
    lines = []
    for code, counts in _files(submission, "warning").items():
        if code != "missing-file":  # the verdict names these
            places = [f"{file} ({count:,} rows)" if count > 1 else file for file, count in counts.items()]
            lines.append(f"warning: {code}: {', '.join(filter(None, places))}")
    notices = ", ".join(_files(submission, "notice"))
    kinds = f" Notices: {notices}." if notices else ""
    words = ["gluebench", "check", submission.source, *options]
    return [*lines, f"{verdict_line(submission)}{kinds} More: {shlex.join(words)}"]


def _files(submission: Submission, severity: str) -> dict[str, Counter[str]]:
    """For each kind of finding of that severity, its files and its counts."""
    counts: dict[str, Counter[str]] = {}
    for problem in submission.problems:
        if problem.severity == severity:
            counts.setdefault(problem.code, Counter())[problem.file] += 1
    for file, kinds in submission.unshown.items():
        for code, count in kinds.items():
            if code in counts:
                counts[code][file] += count
    return counts


def as_lines(submission: Submission, *, done: list[str]) -> str:
    """What a check prints for a reader, with what options of the command do about the problems."""
    lines = [f"fixed: {step}" for step in done] + problem_lines(submission) + [verdict_line(submission)]
    repairs = [f"{problem.file}: {problem.repair}" for problem in submission.problems if problem.repair]
    if repairs:
        shown = "; ".join(repairs[:_REPAIRS]) + " and more" * (len(repairs) > _REPAIRS)
        lines.append(f"hint: --fix OUT.zip writes a copy with these repaired ({shown}).")
    codes = {problem.code for problem in submission.problems}
    lines += [f"hint: {hint}" for code, hint in _OPTIONS.items() if code in codes]
    return "".join(f"{line}\n" for line in lines)


_REPAIRS = 5
"""Repairs that a hint names."""
_OPTIONS = {
    "wrong-split": "--split dev reads predictions of the dev split.",
    "wrong-file": "--fix OUT.zip exchanges two files that have each other's number of rows.",
    "class-numbers": "--fix OUT.zip --labels WORD,WORD writes words for numbers, in the order you name.",
}


def verdict_line(submission: Submission) -> str:
    """The verdict in one sentence."""
    totals: Counter[str] = Counter(problem.severity for problem in submission.problems)
    hidden = sum(count for kinds in submission.unshown.values() for count in kinds.values())
    counts = [counted(totals[severity], severity) for severity in _WORST_FIRST if totals[severity]]
    counts += [f"{hidden:,} more not listed"] * bool(hidden)
    stated = f" ({', '.join(counts)})" if counts else ""
    verdict = f"{submission.source}: {submission.verdict.upper()}{stated}."
    if submission.verdict == "incomplete":
        names = ", ".join(f"{name}.tsv" for name in submission.missing)
        return f"{verdict} There is no macro-average without {names}."
    return verdict


def check_output(submission: Submission, *, done: list[str]) -> Output:
    """The check in the forms for programs and papers."""
    rows = [[problem.as_dict()[column] for column in COLUMNS] for problem in submission.problems]
    cells = [["" if value is None else str(value) for value in row] for row in rows]
    notes = [*(f"Fixed: {step}." for step in done), verdict_line(submission)]
    table = Table(COLUMNS, [Section(cells)], right={2, 3}, notes=notes)
    return Output(submission.as_dict() | {"fixed": done}, [table], COLUMNS, rows)
