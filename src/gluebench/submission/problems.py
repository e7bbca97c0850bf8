"""What can be wrong with a submission, said so that its author can mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "notice"]
Verdict = Literal["valid", "incomplete", "invalid"]

SHOWN_PER_FILE = 20
"""Problems of one file that are spelled out; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding. An error makes the submission invalid; a warning or a notice does not."""

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

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f":{self.line}"
        found = "" if self.value is None else f" found {self.value!r};"
        index = "" if self.index is None else f" (index {self.index})"
        where = f"{place}{index}: " if place or index else ""
        return f"{where}{self.code}:{found} {self.expected}. {self.fix}"

    def as_dict(self) -> dict[str, Any]:
        """The finding as JSON-ready values, every key present."""
        return asdict(self)


def verdict(problems: Iterable[Problem], *, missing: bool) -> Verdict:
    """`invalid` if anything is an error, else `incomplete` if a scored file is missing, else `valid`."""
    if any(problem.severity == "error" for problem in problems):
        return "invalid"
    return "incomplete" if missing else "valid"
