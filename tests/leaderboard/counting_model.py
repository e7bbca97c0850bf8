"""What counts in a phase, as plainly as it can be said: a model that knows nothing of the site's code.

Times are minutes since the start. A person is "a", "b" or "c", a team a number. Scores come from an oracle:
score(answers, labels, part) for labels as `Model.labels` and a part "all", "public" or "held back"; None for
a file that is not valid.
"""

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
    waits: bool
    graded: bool = False
    best_by: float | None = None
    value: float | None = None
    key: tuple[tuple[str, int], str] = (("", 0), "")
    kept: bool = True
    withdrawn: float | None = None
    chosen: bool = False
    failed: bool = False
    replaced: bool = False


@dataclass
class Model:
    score: Callable[[int, tuple[str, int], str], float | None]
    rule: str
    both: bool
    per_team: bool
    approval: bool
    hidden: bool
    late_files: str
    most: int
    otherwise: str
    opens: float = 10
    ends: float = 61
    now: float = 0
    data: str = "all"
    """The phase's tasks: "all" or a "part" of the benchmark's, or an "other" benchmark's."""
    versions: dict[str, int] = field(default_factory=lambda: {"own": 0, "other": 0})
    """The labels of the two benchmarks."""
    registration: str = "open"
    standing: dict[str, str] = field(default_factory=dict)
    """Of who is "waiting", "accepted", "refused" or "blocked"."""
    invitations: int = 0
    """How many people the link still lets in."""
    settled: bool = False
    archived: bool = False
    last: float = 0
    personal: list[tuple[str | int, float]] = field(default_factory=list)
    """Extensions: of whom, and until when."""
    history: dict[str, list[tuple[float, int | None]]] = field(default_factory=dict)
    """Since when a person is in which team."""
    merged: set[int] = field(default_factory=set)
    """Teams that merged with another; those that have something in an ended phase stay, without a link."""
    entries: list[Entry] = field(default_factory=list)

    def team(self, who: str) -> int | None:
        before = [team for since, team in self.history[who] if since < self.ends]
        return before[-1] if before else None

    def unit(self, entry: Entry) -> str | int:
        """Whose entry it is: the sender's, or of a team that has several members at the deadline."""
        if not self.per_team or entry.team is None:
            return entry.who
        members = [who for who in self.history if self.team(who) == entry.team]
        return entry.team if len(members) > 1 else entry.who

    def end_of(self, who: str | None) -> float:
        """When the phase closes for a person; for None, for everybody."""
        own = [end for whose, end in self.personal if who and whose in (who, self.team(who))]
        return max([self.ends] + (own if who else [self.last]))

    def moment(self, who: str | None) -> str:
        end = self.end_of(who)
        if self.now < self.opens:
            return "before"
        if self.now < end:
            return "open" if self.now < self.ends else "extended"
        if self.settled:
            return "archived" if self.archived else "revealed"
        return "grace" if self.now < end + 10 and not self.archived else "after"

    def open_for(self, who: str) -> bool:
        return self.moment(who) in ("open", "extended")

    @property
    def shown(self) -> bool:
        return self.settled if self.hidden else self.now >= self.opens

    @property
    def part(self) -> str:
        return ("held back" if self.settled else "public") if self.both else "all"

    @property
    def labels(self) -> tuple[str, int]:
        """What a score is of, besides the part of the rows."""
        return self.data, self.versions["other" if self.data == "other" else "own"]

    def may_send(self, who: str) -> bool:
        standing = self.standing.get(who)
        return standing == "accepted" or (self.registration == "open" and standing != "blocked")

    def register(self, who: str, *, confirmed: bool, invited: bool) -> bool:
        """Whether it is taken; `confirmed`: the person has shown an address of the right domain."""
        standing = self.standing.get(who)
        if standing == "accepted":
            return True
        if standing == "blocked" or (invited and not self.invitations):
            return False
        if invited:
            self.invitations -= 1
        elif self.registration != "open" and standing == "refused":
            return False
        elif self.registration == "approval":
            self.standing[who] = "waiting"
            return True
        elif self.registration == "invitation" or (self.registration == "domain" and not confirmed):
            return False
        self.standing[who] = "accepted"
        return True

    def block(self, who: str, *, entries: bool) -> None:
        self.standing[who] = "blocked"
        for entry in self.entries:
            entry.approved &= not (entries and entry.who == who)

    def follow(self, *, forced: bool = False) -> None:
        """Settle the phase once all has come and nothing waits; open it again for a later deadline."""
        part, over = self.part, self.end_of(None)
        waits = any(entry.waits and not entry.late for entry in self.entries)
        done = (self.archived or self.now >= over + 10) and not waits
        self.settled = self.now >= over and (self.settled or forced or done)
        if self.part != part:
            self.grade_again()

    def grade_again(self) -> None:
        for entry in self.entries:
            entry.waits |= entry.kept and entry.graded

    def upload(self, who: str, answers: int, took: float, *, public: bool) -> str:
        """ "refused", "late" or "in time"."""
        began = self.now - min(took, 10)
        late = began >= self.end_of(who) or self.settled
        is_closed = began < self.opens or self.archived or (late and self.late_files == "refused")
        if is_closed or not self.may_send(who):
            return "refused"
        kept = late and self.late_files == "kept"
        public |= self.rule != "every" and not kept
        self.entries.append(Entry(who, self.team(who), answers, late, public, not self.approval, not kept))
        return "late" if late else "in time"

    def grade(self, entry: Entry) -> None:
        entry.waits, entry.graded, entry.key = False, True, (self.labels, self.part)
        entry.value = self.score(entry.answers, *entry.key)
        entry.best_by = self.score(entry.answers, self.labels, "public" if self.both else "all")

    def withdraw(self, entry: Entry) -> None:
        entry.withdrawn = self.now
        if entry.waits and not entry.graded:
            entry.waits, entry.failed = False, True

    def withdrawn_in_time(self, entry: Entry) -> bool:
        return entry.withdrawn is not None and entry.withdrawn < self.end_of(entry.who)

    def may_choose(self, entry: Entry, *, chosen: bool) -> bool:
        if self.rule != "chosen" or entry.late or not self.open_for(entry.who):
            return False
        others = 0
        for one in self.entries:
            same_team = self.per_team and entry.team is not None and one.team == entry.team
            if one is not entry and one.chosen and one.withdrawn is None:
                others += one.who == entry.who or same_team
        scored = entry.best_by is not None and entry.withdrawn is None
        return not chosen or (scored and others < self.most)

    def merge(self, own: int, other: int, members: list[str]) -> None:
        """The other team's people move at once, its entries and extensions only before the deadline."""
        self.merged.add(other)
        for who in members:
            self.history[who].append((self.now, own))
        if self.now < self.ends:
            for entry in self.entries:
                entry.team = own if entry.team == other else entry.team
            self.personal = [(own if whose == other else whose, end) for whose, end in self.personal]

    def announce(self) -> None:
        """Make the results final: nothing more comes, and all is shown."""
        self.archived = True
        self.follow()
        if self.now >= self.opens:
            if self.end_of(None) > self.now:
                self.ends, self.last, self.personal = max(self.opens + 1, self.now), 0, []
            self.hidden &= self.shown

    def board(self) -> tuple[set[int], set[int]]:
        """The entries on the board by their numbers, and those of them with a rank."""
        listed: set[int] = set()
        sets: dict[object, list[int]] = {}
        for number, entry in enumerate(self.entries):
            eligible = entry.public and entry.approved and not entry.late and entry.best_by is not None
            if self.shown and eligible and not self.withdrawn_in_time(entry):
                sets.setdefault(self.unit(entry), []).append(number)
        for numbers in sets.values():
            chosen = [number for number in numbers if self.entries[number].chosen]
            rule = self.otherwise if self.rule == "chosen" else self.rule
            if self.rule == "chosen" and chosen:
                listed |= {*chosen}
            elif rule == "every":
                listed |= {*numbers}
            else:
                listed.add(numbers[-1] if rule == "last" else max(numbers, key=self._goodness))
        listed = {number for number in listed if self.entries[number].withdrawn is None}
        return listed, {one for one in listed if self.entries[one].key == (self.labels, self.part)}

    def _goodness(self, number: int) -> tuple[bool, float]:
        entry = self.entries[number]
        return entry.kept or entry.key[0] == self.labels, entry.best_by or 0.0
