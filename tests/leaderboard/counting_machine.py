"""Acts on a real site and on the plain model of what counts, drawn at random: after each, both must agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import permutations
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeVar

from allauth.account.models import EmailAddress
from django.core.cache import caches
from django.core.files.base import ContentFile
from django.db import transaction
from django.test import Client
from hypothesis import HealthCheck, settings
from hypothesis import Phase as Stage
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from leaderboard.counting_model import Entry, Model
from leaderboard.material import GOLD, MANIFEST, zip_bytes
from leaderboard.phased import BOARD, at, of_answers

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard.apps.accounts.models import Team, User
from gluebench.leaderboard.apps.accounts.trust import delete_account
from gluebench.leaderboard.apps.benchmarks.adding import add_benchmark
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.limits import acts as limits
from gluebench.leaderboard.apps.limits.models import version_of
from gluebench.leaderboard.apps.limits.phase_acts import extend, save_phase, settle_phase
from gluebench.leaderboard.apps.limits.quota import QuotaError
from gluebench.leaderboard.apps.limits.registration import (
    approve,
    block,
    end_invitation,
    invite,
    refuse,
    register,
    registration_of,
    unblock,
)
from gluebench.leaderboard.apps.phases.models import Phase
from gluebench.leaderboard.apps.phases.table import ActError
from gluebench.leaderboard.apps.results.acts import announce, take_back
from gluebench.leaderboard.apps.submissions import acts, grading
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import LISTED
from gluebench.leaderboard.apps.uploads.accept import accept
from gluebench.scoring import grade, read_gold
from gluebench.scoring.feedback import rounded_report
from gluebench.scoring.gold import label_key
from gluebench.scoring.split import part_of
from gluebench.submission import check

Method = TypeVar("Method", bound=Callable[..., None])
LONG, SHORT = 50, 20
"""Steps of an example with all acts, and with few."""
MOST_ROWS = 9
"""Submissions of an example."""
START = at("2027-05-01 00:00")
ANSWERS = ["101101", "111111", "001100", "100011", "010011", "101110"]
"""Answers to one task, whose scores on the parts of the rows have different orders."""
INVALID = len(ANSWERS)
FILES = [*map(of_answers, ANSWERS), zip_bytes({**GOLD, "Para": "10110"})]
"""The files that are sent; the last is not valid."""
PEOPLE = "abc"
CONFIRMED = "ab"
"""Those with a confirmed address."""
PART = ["Para"]
"""The tasks of a phase with a part of them."""
MOMENTS = ["open", "extended", "grace", "after", "revealed", "archived"]
SENT = {
    "who": st.sampled_from("aaabbc"),
    "answers": st.sampled_from([*range(INVALID), INVALID]),
    "public": st.sampled_from([True, True, False]),
    "graded": st.sampled_from([True, True, False]),
}
"""A submission: of whom, which file, and whether a worker grades it at once."""
PLACE = st.integers(0, 30)
"""Which of the submissions, of those that wait, or of the teams."""


ACTS: dict[str, Drawn] = {}
"""The acts that are drawn, by the names of the machine's methods."""


class Drawn(NamedTuple):
    """How an act is drawn."""

    values: st.SearchStrategy[dict[str, Any]]
    """Of the arguments of its method."""
    possible: Callable[[Any], object]
    """Whether a machine can do it as things are."""
    weight: int


def act(
    possible: Callable[[Any], object] = lambda machine: True, *, weight: int = 1, **values: Any
) -> Callable[[Method], Method]:
    """Let the machine draw a method as an act, with its arguments."""

    def drawn(method: Method) -> Method:
        ACTS[method.__name__] = Drawn(st.fixed_dictionaries(values), possible, weight)
        return method

    return drawn


@dataclass(eq=False)
class World:
    """What all examples share: two benchmarks with two versions of their labels, and the clock."""

    golds: Mapping[str, list[Path]]
    """Two versions of the labels of the "own" benchmark, and of the "other" one."""
    other: Path
    """The manifest of the other one."""
    folder: Path
    now: datetime = START
    scores: dict[tuple[int, tuple[str, int], str], float | None] = field(default_factory=dict)

    def score(self, answers: int, labels: tuple[str, int], part: str) -> float | None:
        """The score of a file as the site rounds it, of the grader alone."""
        key = (answers, labels, part)
        if key not in self.scores:
            self.scores[key] = None if answers == INVALID else self._score(*key)
        return self.scores[key]

    def _score(self, answers: int, labels: tuple[str, int], part: str) -> float | None:
        data, version = labels
        manifest = {"all": MANIFEST, "part": self.folder / "part.toml", "other": self.other}[data]
        (self.folder / "part.toml").write_text(
            f'[benchmark]\nname = "part"\nextends = "{MANIFEST}"\ntasks = {PART}\n'
        )
        benchmark = load_benchmark(str(manifest))
        folder = self.golds["other" if data == "other" else "own"][version]
        gold = read_gold(folder, benchmark)
        if part != "all":
            gold = part_of(gold, part, share=0.5, key=label_key(folder))  # type: ignore[arg-type]
        file = self.folder / f"{answers}.zip"
        file.write_bytes(FILES[answers])
        score = rounded_report(grade(check(file, benchmark), gold), benchmark).score
        assert score is not None
        return score.value


def refused(act: Callable[[], object]) -> bool:
    """Whether the site refuses an act."""
    try:
        act()
    except (ActError, QuotaError):
        return True
    return False


class Counting(RuleBasedStateMachine):
    """Acts on the site and on the model; after each, both show the same board."""

    world: World
    given: ClassVar[Mapping[str, Any]] = {}
    """What of a beginning is not drawn."""
    acts: ClassVar[Iterable[str]] = ACTS
    """Names of the acts that are drawn."""
    steps = 0
    covered: ClassVar[Counter[tuple[str, str]]] = Counter()
    """How often each act was done at each moment."""

    def __init__(self) -> None:
        super().__init__()
        self.agrees = False
        self.block = transaction.atomic()
        self.block.__enter__()

    def teardown(self) -> None:
        try:
            if hasattr(self, "model") and self.agrees:
                self.the_page_shows_it()
        finally:
            transaction.set_rollback(True)
            self.block.__exit__(None, None, None)

    @initialize(
        rule=st.sampled_from(["every", "best", "last", "chosen"]),
        both=st.booleans(),
        per_team=st.booleans(),
        approval=st.sampled_from([False, False, True]),
        hidden=st.booleans(),
        late_files=st.sampled_from(["kept", "kept", "graded", "refused"]),
        most=st.sampled_from([1, 1, 2]),
        otherwise=st.sampled_from(["best", "last"]),
        data=st.sampled_from(["all", "all", "part", "other"]),
        registration=st.sampled_from(["open", "open", "approval", "invitation", "domain"]),
        admitted=st.sampled_from(["abc", "abc", "abc", "ab", ""]),
        minutes=st.sampled_from([0, 12, 12, 12]),
        teams=st.sampled_from(["", "a", "ab", "bc", "ca"]),
        alone=st.booleans(),
        sent=st.lists(st.fixed_dictionaries(SENT), min_size=2, max_size=4),
    )
    def begin(self, **drawn: Any) -> None:
        drawn.update(self.given)
        teams = drawn.pop("teams")
        alone = drawn.pop("alone")
        minutes = drawn.pop("minutes")
        sent = drawn.pop("sent")
        admitted = drawn.pop("admitted")
        model = Model(self.world.score, **drawn)
        model.history = {who: [] for who in PEOPLE}
        self.world.now = START
        self.model = model
        limit = {"per_day": None, "at_once": None, "approval": model.approval}
        self.teams_for = self.benchmark if alone else None  # else for all benchmarks
        if model.per_team:
            limit["per"] = "team"
        limit |= {"registration": model.registration, "domains": "example.org"}
        Benchmark.objects.filter(name="tiny").update(settings=limit)
        self.admin = User.objects.create_user("admin@example.org")
        self.users = {who: User.objects.create_user(f"{who}@example.org").pk for who in PEOPLE}
        for who in CONFIRMED:
            facts = {"email": f"{who}@example.org", "verified": True, "primary": True}
            EmailAddress.objects.create(user=self.user(who), **facts)
        phase = Phase(
            benchmark=self.benchmark,
            name="Test",
            opens=self.time(10),
            closes=self.time(60),
            shown="closed" if model.hidden else "always",
            counting=model.rule,
            late=model.late_files,
            most=model.most,
            otherwise=model.otherwise,
        )
        if model.both:
            phase.rows = "both"
            phase.share = 0.5
        self.save_with_data(phase)
        self.pks: list[int] = []
        self.teams: list[int] = []
        self.gone: set[str] = set()
        self.before: tuple[bool, bool, set[int]] | None = None
        for who in admitted:
            self.decides_on_a_person(who, "approve")
        self.goes_to(minutes)
        for who in teams:
            self.founds_a_team(who)
        if minutes:
            for one in sent:
                self.uploads(took=0, **one)

    # ------------------------------------------------------------------ what the two have

    def time(self, minutes: float) -> datetime:
        return START + timedelta(minutes=minutes)

    @property
    def benchmark(self) -> Benchmark:
        return Benchmark.objects.get(name="tiny")

    @property
    def phase(self) -> Phase:
        return Phase.objects.select_related("benchmark").get()

    def user(self, who: str) -> User:
        return User.objects.get(pk=self.users[who])

    def row(self, place: int) -> tuple[Entry, Submission]:
        place %= len(self.pks)
        return self.model.entries[place], Submission.objects.get(pk=self.pks[place])

    def has_rows(self) -> bool:
        return bool(self.pks)

    def has_waiting(self) -> bool:
        return any(entry.waits for entry in self.model.entries)

    def team_now(self, who: str) -> int | None:
        return self.model.history[who][-1][1] if self.model.history[who] else None

    def moves(self, who: str, team: int | None) -> None:
        self.model.history[who].append((self.model.now, team))

    def teams_now(self) -> list[int]:
        return list(Team.objects.filter(pk__in=self.teams).order_by("pk").values_list("pk", flat=True))

    def does(self, act: str, who: str | None) -> None:
        """Count an act, by a person or by the organizer and the site, at this moment."""
        self.covered[act, self.model.moment(who)] += 1

    def by_author(self, act: str, who: str) -> None:
        """Count an act that may change nothing of what counts from its author's deadline on."""
        self.does(act, who)
        self.before = None if self.model.open_for(who) else self.counting()

    def counting(self) -> tuple[bool, bool, set[int]]:
        counts = Submission.objects.filter(phase__name="Test", counts=True)
        return self.model.settled, self.model.shown, set(counts.values_list("pk", flat=True))

    @invariant()
    def the_board_is_the_same(self) -> None:
        if not hasattr(self, "model"):
            return
        Counting.steps += 1
        self.follow_the_clock()
        if any(entry.waits for entry in self.model.entries):
            self.does("queue", None)
        if self.before is not None:
            now = self.counting()
            assert self.before[:2] != now[:2] or self.before == now
        self.before = None
        self.agrees = False
        listed, ranked = self.model.board()
        rows = Submission.objects.filter(LISTED, phase__name="Test")
        values = {self.pks.index(pk): value for pk, value in rows.values_list("pk", "value")}
        assert set(values) == listed
        assert {place for place, value in values.items() if value is not None} == ranked
        assert all(values[place] == self.model.entries[place].value for place in ranked)
        self.agrees = True

    @rule(data=st.data())
    def somebody_acts(self, data: st.DataObject) -> None:
        """One rule for all: Hypothesis would leave out many rules of an example, and moments with them.

        Once a moment is brought about, another act follows at it.
        """
        name = "the_phase_comes_to"
        while name == "the_phase_comes_to":
            names: list[str] = []
            for possible in self.acts:
                if ACTS[possible].possible(self):
                    names += [possible] * ACTS[possible].weight
            name = data.draw(st.sampled_from(names))
            getattr(self, name)(**data.draw(ACTS[name].values))

    def the_page_shows_it(self) -> None:
        """The board's page has the entries of the model, and ranks them by its values."""
        caches["pages"].clear()
        listed, ranked = self.model.board()
        keys = dict(Submission.objects.values_list("key", "pk"))
        ranks = {}
        for row in Client().get(f"{BOARD}.json").json()["rows"]:
            ranks[self.pks.index(keys[row["key"]])] = row["rank"]
        values = {place: self.model.entries[place].value or 0.0 for place in ranked}
        expected: dict[int, int | None] = dict.fromkeys(listed)
        for place, value in values.items():
            expected[place] = 1 + sum(other > value for other in values.values())
        assert ranks == expected

    # ------------------------------------------------------------------ time and the site

    def goes_to(self, minutes: float) -> None:
        """Move the clock to a later time; the site and the model follow it there."""
        self.follow_the_clock()
        self.model.now = max(minutes, self.model.now)
        self.world.now = self.time(self.model.now)
        self.follow_the_clock()

    def follow_the_clock(self) -> None:
        grading.phases_due()
        self.model.follow()

    @act(minutes=st.sampled_from([0.5, 5, 9.5, 10, 30]))
    def time_passes(self, minutes: float) -> None:
        self.goes_to(self.model.now + minutes)

    @act(then=st.sampled_from(["last second", "over", "complete"]))
    def time_passes_to_the_end(self, then: str) -> None:
        """To a second before the deadline, to a little after it, or to when nothing more can come."""
        if then == "last second":
            self.goes_to(self.model.ends - 1 / 60)
        else:
            self.goes_to(self.model.ends if then == "over" else self.model.end_of(None) + 10)

    @act(weight=9, moment=st.sampled_from(MOMENTS), who=st.sampled_from(PEOPLE))
    def the_phase_comes_to(self, moment: str, who: str) -> None:
        """Bring a moment about: by the clock, a later deadline, gradings and an announcement."""
        model = self.model
        if model.archived and moment != "archived":
            self.takes_the_results_back()
        self.goes_to(model.opens)
        if model.now >= model.ends and moment in ("open", "extended", "grace", "after"):
            self.moves_the_deadline(20)
        if moment == "extended":
            self.extends(who, 20)
            self.goes_to(model.ends)
        elif moment != "open":
            self.goes_to(model.end_of(None))
            if moment == "after" and self.pks:
                self.grades_all_again(labels="")
            if moment != "grace":
                self.goes_to(model.end_of(None) + 10)
        if moment in ("revealed", "archived"):
            self.the_worker_grades(0, 2 * MOST_ROWS)
        if moment == "archived" and not model.archived:
            self.announces_the_results()
        self.follow_the_clock()

    @act(has_waiting, weight=2, place=PLACE, times=st.sampled_from([1, 1, MOST_ROWS]))
    def the_worker_grades(self, place: int, times: int) -> None:
        for _ in range(times):
            waiting = [number for number, entry in enumerate(self.model.entries) if entry.waits]
            if waiting:
                number = waiting[place % len(waiting)]
                entry = self.model.entries[number]
                self.does("grade", entry.who)
                self.model.grade(entry)
                assert grading.grade(self.pks[number])
                self.model.follow()

    # ------------------------------------------------------------------ authors

    @act(lambda self: len(self.pks) < MOST_ROWS, weight=2, took=st.sampled_from([0, 0, 4, 9, 30]), **SENT)
    def uploads(self, who: str, answers: int, took: float, *, public: bool, graded: bool) -> None:
        """A file whose upload took so many minutes, and which a worker has or has not graded at once."""
        if who not in self.gone:
            self.sends(who, answers, took, public=public)
            if graded and self.model.entries and self.model.entries[-1].waits:
                self.the_worker_grades(-1, 1)

    def sends(
        self, who: str, answers: int, took: float, *, public: bool, replaced: Submission | None = None
    ) -> None:
        on_time = self.model.late_files == "refused"
        name = "finish" if took else "upload on time" if on_time else "upload"
        self.does("replace" if replaced else name, who)
        row = Submission(owner=self.user(who), benchmark=self.benchmark, name="System", model="m")
        row.public = public
        row.began = self.world.now - timedelta(minutes=took)
        outcome = self.model.upload(who, answers, took, public=public)
        try:
            accept(row, ContentFile(FILES[answers], name="a.zip"), replaces=replaced)
        except (ActError, QuotaError):
            assert outcome == "refused"
        else:
            assert outcome == ("late" if row.late else "in time")
            self.pks.append(row.pk)

    def may_act(self, entry: Entry) -> bool:
        """Whether its author is not blocked."""
        return self.model.standing.get(entry.who) != "blocked"

    def author_may(self, act: str, row: Submission) -> bool:
        """Let its author do it, and return whether the site allowed it."""
        return not refused(lambda: acts.OF_AUTHORS[act](row, row.owner))

    def invalid(self) -> list[int]:
        """Those that their authors may replace."""
        return [
            number
            for number, entry in enumerate(self.model.entries)
            if entry.graded and not entry.waits and entry.answers == INVALID and entry.withdrawn is None
        ]

    @act(
        lambda self: self.invalid() and len(self.pks) < MOST_ROWS,
        place=PLACE,
        answers=st.sampled_from(range(INVALID)),
        took=st.sampled_from([0, 4, 30]),
    )
    def replaces(self, place: int, answers: int, took: float) -> None:
        """A file that was found invalid, by another."""
        entry, row = self.row(self.invalid()[place % len(self.invalid())])
        if entry.who not in self.gone:
            number = len(self.pks)
            self.sends(entry.who, answers, took, public=entry.public, replaced=row)
            if len(self.pks) > number:
                entry.public = False
                entry.withdrawn = self.model.now
                entry.replaced = True

    @act(has_rows, weight=2, place=PLACE, public=st.booleans())
    def publishes(self, place: int, *, public: bool) -> None:
        entry, row = self.row(place)
        ruled = self.model.rule != "every" and not entry.late
        allowed = self.may_act(entry) and self.model.open_for(entry.who) and (public or not ruled)
        if entry.public != public:
            self.by_author("publish" if public else "hide" if ruled else "unpublish", entry.who)
            assert self.author_may("publish" if public else "unpublish", row) is allowed
            entry.public = public if allowed else entry.public

    @act(has_rows, weight=3, place=PLACE)
    def withdraws_or_restores(self, place: int) -> None:
        entry, row = self.row(place)
        if entry.withdrawn is None:
            self.by_author("withdraw", entry.who)
            allowed = self.may_act(entry)
            assert self.author_may("withdraw", row) is allowed
            if allowed:
                self.model.withdraw(entry)
        elif entry.replaced:
            assert not self.author_may("restore", row)
        elif not entry.failed:
            in_time = self.model.withdrawn_in_time(entry)
            self.by_author("restore" if in_time else "return", entry.who)
            allowed = self.may_act(entry) and (not in_time or self.model.open_for(entry.who))
            assert self.author_may("restore", row) is allowed
            if allowed:
                entry.withdrawn = None
                entry.chosen = entry.chosen and not in_time

    @act(
        lambda self: self.pks and self.model.rule == "chosen",
        place=PLACE,
        chosen=st.sampled_from([True, True, False]),
    )
    def chooses(self, place: int, *, chosen: bool) -> None:
        entry, row = self.row(place)
        self.by_author("choose", entry.who)
        allowed = self.may_act(entry) and self.model.may_choose(entry, chosen=chosen)
        assert self.author_may("choose" if chosen else "unchoose", row) is allowed
        entry.chosen = chosen if allowed else entry.chosen

    @act(has_rows, weight=3, kind=st.sampled_from(["expire", "edit", "delete"]), place=PLACE)
    def loses_a_file(self, kind: str, place: int) -> None:
        entry, row = self.row(place)
        mine = [one for one in self.model.entries if one.who == entry.who]
        if kind == "edit":
            self.by_author("edit", entry.who)
            values = {"description": f"At {self.model.now}"}
            assert refused(lambda: acts.edit(row, row.owner, values)) is not self.may_act(entry)
        elif kind == "expire" and not entry.waits:
            self.by_author("expire_file", entry.who)
            entry.kept = False
            acts.forget_files(Submission.objects.filter(pk=row.pk))
        elif kind == "delete" and not self.gone and not any(one.waits for one in mine):
            self.by_author("delete_account", entry.who)
            self.gone.add(entry.who)
            self.moves(entry.who, None)
            for one in mine:
                one.kept = False
            self.model.standing.pop(entry.who, None)
            delete_account(row.owner)

    # ------------------------------------------------------------------ teams

    @act(who=st.sampled_from(PEOPLE))
    def founds_or_leaves_a_team(self, who: str) -> None:
        if self.team_now(who) is not None:
            self.by_author("leave", who)
            limits.leave_team(self.user(who), self.teams_for)
            self.moves(who, None)
        else:
            self.founds_a_team(who)

    def founds_a_team(self, who: str) -> None:
        if who not in self.gone and len(self.teams_now()) < 2:
            team = limits.create_team(self.user(who), f"Team {len(self.teams)}", self.teams_for)
            self.teams.append(team.pk)
            self.moves(who, team.pk)

    @act(lambda self: self.teams, who=st.sampled_from(PEOPLE), place=PLACE)
    def joins(self, who: str, place: int) -> None:
        teams = self.teams_now()
        if teams and who not in self.gone and self.team_now(who) is None:
            self.by_author("join", who)
            team = Team.objects.get(pk=teams[place % len(teams)])
            allowed = team.pk not in self.model.merged
            assert refused(lambda: limits.join_team(self.user(who), team.code)) is not allowed
            if allowed:
                self.moves(who, team.pk)

    @act(founders=st.sampled_from([*permutations(PEOPLE, 2)]))
    def merge(self, founders: tuple[str, str]) -> None:
        """Of two teams; who is in none founds one before, if there are not two yet."""
        for who in founders:
            if self.team_now(who) is None:
                self.founds_a_team(who)
        own, other = map(self.team_now, founders)
        members: dict[int | None, list[str]] = defaultdict(list)
        for who in PEOPLE:
            members[self.team_now(who)].append(who)
        if own is not None and other is not None and own != other:
            self.before = None if self.model.now < self.model.ends else self.counting()
            self.does("merge", members[own][0])
            limits.propose_merge(self.user(members[other][0]), Team.objects.get(pk=own).code)
            limits.merge(self.user(members[own][0]), other, accepted=True)
            self.model.merge(own, other, members[other])

    # ------------------------------------------------------------------ organizers

    @act(has_rows, weight=2, place=PLACE, approved=st.booleans())
    def decides(self, place: int, *, approved: bool) -> None:
        entry, row = self.row(place)
        entry.approved = approved
        self.does("approve" if approved else "reject", None)
        if approved:
            acts.approve(row, self.admin)
        else:
            acts.decline(row, self.admin, "It was trained on the test set.")

    @act(who=st.sampled_from([*PEOPLE, 0, 1]), minutes=st.sampled_from([3, 20, 90]))
    def extends(self, who: str | int, minutes: int) -> None:
        teams = self.teams_now()
        whose: Any = None
        if isinstance(who, int):
            whose = Team.objects.get(pk=teams[who % len(teams)]) if teams else None
        elif who not in self.gone:
            whose = self.user(who)
        if whose is not None:
            self.does("extend", None)
            end = max(int(self.model.now), int(self.model.ends)) + minutes
            self.model.personal.append((who if isinstance(who, str) else whose.pk, end))
            self.model.last = max(self.model.last, end)
            closes = self.time(end - 1)
            extend(self.phase, closes=closes, who=whose, actor=self.admin, reason="Ill.")

    @act(minutes=st.sampled_from([-20, 3, 20, 90]))
    def moves_the_deadline(self, minutes: int) -> None:
        self.does("move", None)
        start = int(max(self.model.now, self.model.ends if minutes > 0 else 0))
        self.model.ends = max(12, start + minutes)
        row = self.phase
        row.closes = self.time(self.model.ends - 1)
        save_phase(row, self.admin, "The site was down.")

    @act(counting=st.sampled_from(["every", "best", "last", "chosen"]))
    def changes_the_rule(self, counting: str) -> None:
        self.does("rule", None)
        self.model.rule = counting
        row = self.phase
        row.counting = counting
        save_phase(row, self.admin, "It was announced wrongly.")

    @act(has_rows, weight=2, labels=st.sampled_from(["", "own", "other"]))
    def grades_all_again(self, *, labels: str) -> None:
        """At once, or since the labels of one of the two benchmarks change."""
        self.does("labels" if labels else "regrade", None)
        if labels != "other" or self.model.data == "other":
            self.model.grade_again()
        if labels:
            version = self.model.versions[labels] = 1 - self.model.versions[labels]
            manifest = MANIFEST if labels == "own" else self.world.other
            add_benchmark(str(manifest), self.world.golds[labels][version])
        else:
            grading.regrade(self.benchmark, "It was asked for.")

    @act(weight=2, data=st.sampled_from(["all", "part", "other"]))
    def changes_the_tasks(self, data: str) -> None:
        self.does("rule", None)
        if self.model.data != data:
            self.model.data = data
            self.model.grade_again()
        self.save_with_data(self.phase)

    def save_with_data(self, phase: Phase) -> None:
        """Give the phase the tasks and labels that the model has."""
        phase.tasks = PART if self.model.data == "part" else []
        phase.tasks_of = Benchmark.objects.get(name="other") if self.model.data == "other" else None
        save_phase(phase, self.admin, "The data are known now.")

    # ------------------------------------------------------------------ participants

    @act(who=st.sampled_from(PEOPLE), invited=st.sampled_from([False, False, True]))
    def registers(self, who: str, *, invited: bool) -> None:
        if who not in self.gone:
            row = self.benchmark.invitations.last()
            code = ""
            if invited:
                code = row.code if row else "none"
            version = version_of(self.benchmark)
            taken = self.model.register(who, confirmed=who in CONFIRMED, invited=invited)
            done = not refused(lambda: register(self.benchmark, self.user(who), version=version, code=code))
            assert done is taken

    @act(uses=st.sampled_from([0, 1, 2]))
    def invites(self, uses: int) -> None:
        """By a link for so many people; the one before it ends."""
        for row in self.benchmark.invitations.all():
            end_invitation(row, self.admin)
        self.model.invitations = uses
        if uses:
            invite(self.benchmark, self.admin, label="Guests", uses=uses, days=3)

    @act(
        weight=2,
        who=st.sampled_from(PEOPLE),
        decision=st.sampled_from(["approve", "approve", "refuse", "block", "block all", "unblock"]),
    )
    def decides_on_a_person(self, who: str, decision: str) -> None:
        if who in self.gone:
            return
        model = self.model
        row = registration_of(self.benchmark, self.user(who))
        if decision == "refuse":
            allowed = model.registration != "open"
            assert refused(lambda: refuse(row, self.admin, "Unknown.")) is not allowed
            if allowed:
                model.standing[who] = "refused"
        elif decision == "unblock":
            allowed = model.standing.get(who) == "blocked"
            assert refused(lambda: unblock(row, self.admin)) is not allowed
            if allowed:
                model.standing[who] = "accepted"
        elif decision == "approve":
            approve(row, self.admin)
            model.standing[who] = "accepted"
        else:
            block(row, self.admin, "Two accounts.", entries=decision == "block all")
            model.block(who, entries=decision == "block all")

    @act(registration=st.sampled_from(["open", "approval", "invitation", "domain"]))
    def changes_who_may_take_part(self, registration: str) -> None:
        self.model.registration = registration
        limits.change_policy(self.benchmark, {"registration": registration}, actor=self.admin, reason="More.")

    @act(later=st.booleans())
    def shows_the_results(self, *, later: bool) -> None:
        """Now, or once nothing more can come."""
        if later:
            self.goes_to(self.model.end_of(None) + 10)
        self.does("settle", None)
        allowed = self.model.moment(None) == "after"
        assert refused(lambda: settle_phase(self.phase, self.admin, "The workers are down.")) is not allowed
        if allowed:
            self.model.follow(forced=True)

    @act(has_rows, surely=st.sampled_from([False, False, False, True]))
    def announces_the_results_or_takes_them_back(self, *, surely: bool) -> None:
        if self.model.archived:
            self.takes_the_results_back()
        elif surely:
            self.announces_the_results()

    def announces_the_results(self) -> None:
        self.model.announce()
        announce(self.benchmark, self.admin, labels=False)

    def takes_the_results_back(self) -> None:
        benchmark = self.benchmark
        self.model.archived = False
        take_back(benchmark, self.admin, "Too early.")
        limits.change_policy(benchmark, {}, actor=self.admin, open=True, reason="Too early.")


ALWAYS = ["uploads", "the_worker_grades", "time_passes", "time_passes_to_the_end"]


def focused(acts: str, given: Mapping[str, Any]) -> type[Counting]:
    """A machine that knows these acts alone, besides uploads, gradings and time, in phases of given rules."""
    known = ALWAYS + acts.split()
    assert {*known} <= {*ACTS}
    return type("Focused", (Counting,), {"acts": known, "given": given})


def run(
    world: World,
    steps: int,
    stages: list[Stage] | None = None,
    *,
    same: bool = False,
    machine: type[Counting] = Counting,
) -> int:
    """Run at least so many steps, the `same` each time or random ones; return how many acts were compared."""
    Counting.world = world
    Counting.steps = 0
    Counting.covered.clear()
    length = LONG if machine is Counting else SHORT
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=max(1, steps // length),
            stateful_step_count=length,
            deadline=None,
            database=None,
            derandomize=same,
            phases=stages or [Stage.generate, Stage.shrink],
            report_multiple_bugs=False,
            suppress_health_check=[*HealthCheck],
        ),
    )
    return Counting.steps
