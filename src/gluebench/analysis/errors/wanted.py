"""Which cases are looked for."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from gluebench.analysis.errors.cases import Answer, Case

Show = Literal["wrong", "all-wrong", "only", "disagree", "right", "all"]
"""Wrong for at least one system, for every one, for the first alone; answered differently; right for all."""


class Wanted(NamedTuple):
    """All of it must hold."""

    show: Show = "wrong"
    gold: Answer | None = None
    """The label it has."""
    answer: Answer | None = None
    """What at least one system answered."""
    phenomena: frozenset[str] = frozenset()
    """One of these is among its tags."""
    shortest: int = 0
    longest: int | None = None
    """Words of all inputs together."""
    least: float = 0.0
    most: float = 1.0
    """Overlap of the two inputs; an example of another number of inputs has none, and passes 0 to 1 alone."""
    pattern: re.Pattern[str] | None = None
    """Found in one of the inputs."""

    def __call__(self, case: Case) -> bool:
        """Whether the case is looked for."""
        return self._outcome(case) and self._labels(case) and self._measures(case) and self._text(case)

    def _outcome(self, case: Case) -> bool:
        wrong = case.wrong
        outcomes: dict[Show, bool] = {
            "wrong": any(wrong),
            "all-wrong": all(wrong),
            "only": wrong[:1] == (True,) and not any(wrong[1:]),
            "disagree": case.disagreed,
            "right": not any(wrong),
            "all": True,
        }
        return outcomes[self.show]

    def _labels(self, case: Case) -> bool:
        return (
            (self.gold is None or case.gold == self.gold)
            and (self.answer is None or self.answer in case.answers)
            and (not self.phenomena or not self.phenomena.isdisjoint(case.phenomena))
        )

    def _measures(self, case: Case) -> bool:
        if case.length < self.shortest or (self.longest is not None and case.length > self.longest):
            return False
        if case.overlap is None:
            return (self.least, self.most) == (0.0, 1.0)
        return self.least <= case.overlap <= self.most

    def _text(self, case: Case) -> bool:
        return self.pattern is None or any(map(self.pattern.search, case.inputs.values()))
