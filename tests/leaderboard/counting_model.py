"""What counts in a phase, as plainly as it can be said: a model that knows nothing of the site's code.

Times are minutes since the start. A person is "a", "b" or "c", a team a number. Scores come from an oracle:
score(answers, labels, part) for a part "all", "public" or "held back".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Entry:
    who: str
    team: int | None
    answers: int
    late: bool
    public: bool
    approved: bool
    waits: bool = True
    best_by: float | None = None
    value: float = 0.0
    key: tuple[int, str] | None = None
    kept: bool = True
    withdrawn: float | None = None
    chosen: bool = False
    failed: bool = False


@dataclass
class Model:
    score: Callable[[int, int, str], float]
    rule: str
    both: bool
    per_team: bool
    approval: bool
    hidden: bool
    opens: float = 10
    ends: float = 61
    now: float = 0
    labels: int = 0
    settled: bool = False
    last: float = 0
    personal: list[tuple[str | int, float]] = field(default_factory=list)
    """Extensions: of whom, and until when."""
    history: dict[str, list[tuple[float, int | None]]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    entries: list[Entry] = field(default_factory=list)

    def team(self, who: str) -> int | None:
        before = [team for since, team in self.history[who] if since < self.ends]
        return before[-1] if before else None

    def end_of(self, who: str) -> float:
        return max([self.ends] + [end for whose, end in self.personal if whose in (who, self.team(who))])

    def open_for(self, who: str) -> bool:
        return self.opens <= self.now < self.end_of(who)

    @property
    def shown(self) -> bool:
        return self.settled if self.hidden else self.now >= self.opens

    @property
    def part(self) -> str:
        return ("held back" if self.settled else "public") if self.both else "all"

    def follow(self, *, forced: bool = False) -> None:
        """Settle the phase once all has come and nothing waits; open it again for a later deadline."""
        part, over = self.part, max(self.ends, self.last)
        waits = any(entry.waits for entry in self.entries)
        done = self.now >= over + 10 and not waits
        self.settled = self.now >= over and (self.settled or forced or done)
        if self.part != part:
            self.grade_again()

    def grade_again(self) -> None:
        for entry in self.entries:
            entry.waits |= entry.kept and not entry.late and not entry.failed

    def upload(self, who: str, answers: int, took: float, *, public: bool) -> str:
        """ "refused", "late" or "in time"."""
        began = self.now - min(took, 10)
        if began < self.opens:
            return "refused"
        late = began >= self.end_of(who) or self.settled
        public = public or (self.rule != "every" and not late)
        self.entries.append(Entry(who, self.team(who), answers, late, public, not self.approval, not late))
        return "late" if late else "in time"

    def grade(self, entry: Entry) -> None:
        entry.waits = False
        entry.key = (self.labels, self.part)
        entry.value = self.score(entry.answers, *entry.key)
        entry.best_by = self.score(entry.answers, self.labels, "public") if self.both else entry.value

    def withdraw(self, entry: Entry) -> None:
        entry.withdrawn = self.now
        if entry.waits and entry.best_by is None:
            entry.waits, entry.failed = False, True

    def withdrawn_in_time(self, entry: Entry) -> bool:
        return entry.withdrawn is not None and entry.withdrawn < self.end_of(entry.who)

    def restore(self, entry: Entry) -> bool:
        """Whether it may be done."""
        if self.withdrawn_in_time(entry):
            if not self.open_for(entry.who):
                return False
            entry.chosen = False
        entry.withdrawn = None
        return True

    def merge(self, own: int, other: int, members: list[str]) -> None:
        """The other team's people move at once, its entries and extensions only before the deadline."""
        for who in members:
            self.history[who].append((self.now, own))
        if self.now < self.ends:
            for entry in self.entries:
                entry.team = own if entry.team == other else entry.team
            self.personal = [(own if whose == other else whose, end) for whose, end in self.personal]

    def may_choose(self, entry: Entry, *, chosen: bool) -> bool:
        if self.rule != "chosen" or entry.late or not self.open_for(entry.who):
            return False
        for one in self.entries:
            same_team = self.per_team and entry.team is not None and one.team == entry.team
            other = one is not entry and one.chosen and one.withdrawn is None
            if chosen and other and (one.who == entry.who or same_team):
                return False
        return not chosen or (entry.best_by is not None and entry.withdrawn is None)

    def board(self) -> tuple[set[int], set[int]]:
        """The entries on the board by their numbers, and those of them with a rank."""
        listed: set[int] = set()
        sets: dict[tuple[str, object], list[int]] = {}
        for number, entry in enumerate(self.entries):
            eligible = entry.public and entry.approved and not entry.late and entry.best_by is not None
            if self.shown and eligible and not self.withdrawn_in_time(entry):
                whose = ("team", entry.team) if self.per_team and entry.team else ("person", entry.who)
                sets.setdefault(whose, []).append(number)
        for numbers in sets.values():
            chosen = [number for number in numbers if self.entries[number].chosen]
            if self.rule == "every":
                listed |= {*numbers}
            elif self.rule == "chosen" and chosen:
                listed |= {*chosen}
            elif self.rule == "last":
                listed.add(numbers[-1])
            else:
                listed.add(max(numbers, key=self._goodness))
        listed = {number for number in listed if self.entries[number].withdrawn is None}
        return listed, {one for one in listed if self.entries[one].key == (self.labels, self.part)}

    def _goodness(self, number: int) -> tuple[bool, float]:
        entry = self.entries[number]
        lost = not entry.kept and entry.key is not None and entry.key[0] != self.labels
        return not lost, entry.best_by or 0.0
