"""What the validator found, as a page shows it: worst first, each mistake said once with its places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

_WORST_FIRST = ("error", "warning", "notice")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a mistake is, and the value there."""

    line: int | None
    index: int | None
    value: str | None

    def __str__(self) -> str:
        numbers = (("line", self.line), ("index", self.index))
        return ", ".join(f"{name} {number}" for name, number in numbers if number is not None)


class Finding(NamedTuple):
    """One mistake in one file, with its places."""

    severity: str
    code: str
    file: str
    expected: str
    fix: str
    places: tuple[Place, ...]
    more: int
    """Places that were counted and not kept."""

    @property
    def value(self) -> str | None:
        """The value, where it is the same in all places."""
        values = {place.value for place in self.places}
        return values.pop() if len(values) == 1 else None

    @property
    def single(self) -> Place | None:
        """The one place, where there is only one."""
        return self.places[0] if len(self.places) == 1 and not self.more else None

    @property
    def located(self) -> bool:
        """Whether its places name more than the whole file."""
        return any(place != Place(None, None, None) for place in self.places)


class Findings(NamedTuple):
    """All findings of a check."""

    verdict: str
    missing: tuple[str, ...]
    items: tuple[Finding, ...]
    uncited: tuple[tuple[str, str, int], ...]
    """File, code and number of mistakes of which none was kept."""

    @property
    def tally(self) -> str:
        """ "2 errors, 1 notice"; empty where there is nothing to say."""
        counts = Counter[str]()
        for item in self.items:
            counts[item.severity] += len(item.places) + item.more
        shown = [(name, counts[name]) for name in _WORST_FIRST if counts[name]]
        return ", ".join(f"{number:,} {name}{'s' * (number > 1)}" for name, number in shown)


def findings_of(check: Mapping[str, Any]) -> Findings:
    """A check, as `gluebench.submission.Submission.as_dict` gives it, ready to show."""
    groups: dict[tuple[str, ...], list[Place]] = {}
    for problem in check["problems"]:
        key = tuple(problem[name] for name in ("severity", "code", "file", "expected", "fix"))
        groups.setdefault(key, []).append(Place(problem["line"], problem["index"], problem["value"]))
    unshown = {(file, code): n for file, counts in check["unshown"].items() for code, n in counts.items()}
    items = [_finding(key, places, unshown) for key, places in groups.items()]
    items.sort(key=lambda item: _WORST_FIRST.index(item.severity))
    uncited = tuple((file, code, number) for (file, code), number in unshown.items())
    return Findings(check["verdict"], tuple(check["missing"]), tuple(items), uncited)


def _finding(key: tuple[str, ...], places: list[Place], unshown: dict[tuple[str, str], int]) -> Finding:
    severity, code, file, expected, fix = key
    text = expected if expected.startswith("expected") else f"expected {expected}"
    return Finding(severity, code, file, text, fix, tuple(places), unshown.pop((file, code), 0))
