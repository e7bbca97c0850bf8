"""What can be wrong with a submission, problem_maker so that its author can fix it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any, Literal, NamedTuple

from gluebench.benchmark.lookup import table_beside

Severity = Literal["error", "warning", "notice"]
Verdict = Literal["valid", "incomplete", "invalid"]

SHOWN_PER_FILE = 20
"""Problems of one file that are spelled out; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem. An error makes the submission invalid; a warning or a notice does not."""

    code: str
    """Stable name, as "unknown-label": for programs, and to look up in the manual."""
    severity: Severity
    file: str
    """Name inside the submission; empty when it concerns the whole."""
    expected: str
    fix: str
    line: int | None = None
    """Physical line, counted from 1 as an editor does."""
    index: int | None = None
    value: str | None = None
    """What stood there, shortened when long."""
    repair: str = ""
    """What `fix_submission` does about it, as "commas replaced by tabs"; empty where it cannot."""
    id: str = ""
    """The id of the example, in a benchmark whose files have ids instead of indices."""

    def __str__(self) -> str:
        text = f"{self.code}:"
        if self.place:
            text = f"{self.place}: {text}"
        if self.value is not None:
            text += f" found {self.value!r};"
        return f"{text} {self.expected}. {self.fix}"

    @property
    def place(self) -> str:
        """Where it is, as "MRPC.tsv:7 (index 5)"; empty when it concerns the whole."""
        place = self.file
        if self.line is not None:
            place += f":{self.line}"
        if self.id:
            place += f" (id {self.id})"
        elif self.index is not None:
            place += f" (index {self.index})"
        return place

    def as_dict(self) -> dict[str, Any]:
        """The problem as JSON-ready values, every key present."""
        return asdict(self)


class Sentence(NamedTuple):
    """The words for a kind of problem: what was expected, what to do, and what `--fix` does."""

    expected: str
    fix: str
    repair: str = ""


def sentences(module: str) -> dict[str, Sentence]:
    """The words for each code, from the table beside the file of a module."""
    return {code: Sentence(*words) for code, words in table_beside(module).items()}


def problem_maker(module: str) -> Callable[..., Problem]:
    """A maker of problems in the words of the table beside the file of a module.

    Called with the row of the table (the code, and after a comma what distinguishes several wordings of it),
    the file and the severity; by keyword with other fields of a Problem, and what fills in the words.
    """
    table = sentences(module)

    def problem(row: str, file: str = "", severity: Severity = "error", **details: Any) -> Problem:
        fields = {name: details[name] for name in ("line", "index", "value", "id") if name in details}
        expected, fix, repair = (text.format(**details) for text in table[row])
        return Problem(row.partition(",")[0], severity, file, expected, fix, repair=repair, **fields)

    return problem


def verdict(problems: Iterable[Problem], *, missing: bool) -> Verdict:
    """`invalid` if anything is an error, else `incomplete` if a scored file is missing, else `valid`."""
    if any(problem.severity == "error" for problem in problems):
        return "invalid"
    return "incomplete" if missing else "valid"


def listed(problems: Iterable[Problem], unshown: Mapping[str, Mapping[str, int]] | None = None) -> list[str]:
    """The findings as lines: what several share stands once, and under it where they are and what is there.

    `unshown` is the number of further findings of each file, by code.
    """
    groups: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        groups.setdefault((problem.code, problem.expected, problem.fix), []).append(problem)
    rest = {}
    for file, counts in (unshown or {}).items():
        for code, count in counts.items():
            rest[file, code] = count

    lines = []
    for (code, expected, fix), group in groups.items():
        more = {}
        for problem in group:
            if problem.file not in more:
                more[problem.file] = rest.pop((problem.file, code), 0)
        if len(group) == 1 and not any(more.values()):
            lines.append(str(group[0]))
            continue
        lines.append(f"{code}: {expected}. {fix}")
        for place in _list_places(group, more):
            lines.append(f"    {place}")
    for (file, code), count in rest.items():
        lines.append(f"{file}: {code}: {count:,} more")
    return lines


def _list_places(group: Sequence[Problem], more: Mapping[str, int]) -> list[str]:
    """Where the problems of a group are, and what is there; `more` counts those that are not shown."""
    if all(problem.place == problem.file and problem.value is None for problem in group):
        return [", ".join(problem.file for problem in group)]
    places = []
    for file, count in more.items():
        here = [problem for problem in group if problem.file == file]
        for value, same in groupby(here, key=lambda problem: problem.value):
            place = _join_places(file, list(same))
            if value is not None:
                place += f": {value!r}"
            places.append(place)
        if count:
            places[-1] += f", and {count:,} more"
    return places


def _join_places(file: str, problems: Sequence[Problem]) -> str:
    """The places of several problems of one file, as "MRPC.tsv:7 to 9 (index 5 to 7)"."""
    lines = _ranges(problem.line for problem in problems)
    indices = _ranges(problem.index for problem in problems)
    ids = ", ".join(problem.id for problem in problems if problem.id)
    place = file
    if lines:
        place += f":{lines}"
    if ids:
        place += f" (id {ids})"
    elif indices:
        place += f" (index {indices})"
    return place


def _ranges(numbers: Iterable[int | None]) -> str:
    """Ascending numbers with those that follow each other drawn together: "3, 7 to 12"."""
    runs: list[list[int]] = []
    for number in numbers:
        if number is None:
            continue
        if runs and runs[-1][-1] == number - 1:
            runs[-1] = [runs[-1][0], number]
        else:
            runs.append([number])
    return ", ".join(" to ".join(map(str, run)) for run in runs)
