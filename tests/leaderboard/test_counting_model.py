"""A plain model of what counts against the real site: every act, at every moment, in any order."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest
from django.core.files.base import ContentFile
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import Phase as Stage
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from leaderboard.counting_model import Entry, Model
from leaderboard.material import MANIFEST, write_gold
from leaderboard.phased import at, of_answers

from gluebench.benchmark import load_benchmark
from gluebench.leaderboard import grader
from gluebench.leaderboard.accounts.models import Team, User, move_to
from gluebench.leaderboard.accounts.trust import delete_account
from gluebench.leaderboard.benchmarks.adding import add_benchmark
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.limits import acts as people
from gluebench.leaderboard.limits import quota
from gluebench.leaderboard.limits.phase_acts import extend, save_phase, settle_phase
from gluebench.leaderboard.limits.quota import QuotaError
from gluebench.leaderboard.phases import models as phase_models
from gluebench.leaderboard.phases import moments
from gluebench.leaderboard.phases.models import Phase
from gluebench.leaderboard.phases.table import TABLE, ActError, Moment
from gluebench.leaderboard.submissions import acts, counting, feedback, grading
from gluebench.leaderboard.submissions.models import Submission
from gluebench.leaderboard.submissions.queries import LISTED, scored
from gluebench.leaderboard.uploads.accept import accept
from gluebench.scoring import grade, read_gold
from gluebench.scoring.feedback import rounded_report
from gluebench.scoring.gold import label_key
from gluebench.scoring.split import part_of
from gluebench.submission import check

STEPS = int(os.environ.get("GLUEBENCH_MODEL_STEPS", "100000"))
"""Steps of the long run."""
PER_EXAMPLE = 50
START = at("2027-05-01 00:00")
ANSWERS = ["101101", "111111", "001100", "100011", "010011", "101110"]
"""Answers to one task, whose scores on the parts of the rows have different orders."""


@dataclass
class World:
    """What all examples share: two versions of the labels, files, and the clock."""

    golds: list[Path]
    files: list[bytes]
    folder: Path
    now: datetime = START

    @cache  # noqa: B019 - it lives as long as the tests
    def score(self, answers: int, labels: int, part: str) -> float:
        """The score as the site rounds it, of the grader alone."""
        benchmark = load_benchmark(str(MANIFEST))
        gold, file = read_gold(self.golds[labels], benchmark), self.folder / f"{answers}.zip"
        if part != "all":
            gold = part_of(gold, part, share=0.5, key=label_key(self.golds[labels]))  # type: ignore[arg-type]
        file.write_bytes(self.files[answers])
        score = rounded_report(grade(check(file, benchmark), gold), benchmark).score
        assert score is not None
        assert score.value is not None
        return score.value

    def __hash__(self) -> int:
        return id(self)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny: Any) -> World:
    tiny.settings = {"per_day": None, "at_once": None}
    tiny.save()
    other = write_gold(tmp_path / "other")
    para = "".join(f"{place}\t{label}\n" for place, label in enumerate("011110"))
    (other / "Para.tsv").write_text(f"index\tlabel\n{para}")
    # As on the site, the key that divides the rows lies beside each version of the labels.
    first = tiny.gold_path
    add_benchmark(str(MANIFEST), other)
    golds = [Path(first), Path(Benchmark.objects.get().gold_path)]
    add_benchmark(str(MANIFEST), write_gold(tmp_path / "first"))
    made = World(golds, [of_answers(answers) for answers in ANSWERS], tmp_path)
    monkeypatch.setattr(timezone, "now", lambda: made.now)
    results: dict[Any, Any] = {}

    def graded(job: dict[str, Any], **_: Any) -> Any:
        """The grader's result in this process, once for each file and job."""
        content = Path(job["submission"]).read_bytes()
        key = (content, job["gold"], job.get("rows"), job.get("also"))
        if key not in results:
            results[key] = grader._result(job)
        return results[key]

    monkeypatch.setattr(grading, "run_grader", graded)
    return made


WHO = st.sampled_from("aaabbc")
ROW = st.integers(0, 30)
TOOK = st.sampled_from([0, 0, 4, 9, 30])
"""Minutes that an upload takes."""


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
    given: ClassVar[dict[str, Any]] = {}
    """Rules that are not drawn."""
    steps = 0

    def __init__(self) -> None:
        super().__init__()
        self.block = transaction.atomic()
        self.block.__enter__()

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.block.__exit__(None, None, None)

    @initialize(
        counting=st.sampled_from(["every", "best", "best", "last", "chosen"]),
        both=st.booleans(),
        per_team=st.booleans(),
        approval=st.sampled_from([False, False, True]),
        hidden=st.booleans(),
        minutes=st.sampled_from([0, 12, 12, 12]),
    )
    def begin(self, minutes: int, **rules: Any) -> None:
        rules |= self.given
        self.world.now = START
        self.model = Model(self.world.score, rules.pop("counting"), **rules)
        self.model.history = {who: [] for who in "abc"}
        Benchmark.objects.update(
            settings={"per_day": None, "at_once": None, "approval": self.model.approval}
            | ({"per": "team"} if self.model.per_team else {})
        )
        rows = {"rows": "both", "share": 0.5} if self.model.both else {}
        times = {"opens": self.moment(10), "closes": self.moment(60)}
        shown = "closed" if self.model.hidden else "always"
        save_phase(
            Phase(
                benchmark=Benchmark.objects.get(),
                name="Test",
                counting=self.model.rule,
                shown=shown,
                **times,
                **rows,
            )
        )
        self.users = {who: User.objects.create_user(f"{who}@example.org") for who in "abc"}
        self.pks: list[int] = []
        self.before: tuple[bool, bool, set[int]] | None = None
        self.teams: list[int] = []
        self.time_passes(minutes)

    def moment(self, minutes: float) -> datetime:
        return START + timedelta(minutes=minutes)

    @property
    def phase(self) -> Phase:
        return Phase.objects.select_related("benchmark").get()

    def user(self, who: str) -> User:
        return User.objects.get(pk=self.users[who].pk)

    def row(self, number: int) -> tuple[Entry, Submission]:
        number %= len(self.pks)
        return self.model.entries[number], Submission.objects.get(pk=self.pks[number])

    def has_rows(self) -> bool:
        return bool(self.pks)

    def counting(self) -> tuple[bool, bool, set[int]]:
        counts = Submission.objects.filter(phase=self.phase, counts=True)
        return self.model.settled, self.model.shown, set(counts.values_list("pk", flat=True))

    def author_acts(self, who: str) -> None:
        """From the author's deadline on, the act may not change what counts."""
        self.before = None if self.model.open_for(who) else self.counting()

    @invariant()
    def the_board_is_the_same(self) -> None:
        if not hasattr(self, "model"):
            return
        type(self).steps += 1
        grading.phases_due()
        self.model.follow()
        now = self.counting()
        if self.before is not None and self.before[:2] == now[:2]:
            assert self.before == now
        self.before = None
        listed, ranked = self.model.board()
        rows = Submission.objects.filter(LISTED, phase=self.phase)
        values = {self.pks.index(pk): value for pk, value in rows.values_list("pk", "value")}
        assert set(values) == listed
        assert {number for number, value in values.items() if value is not None} == ranked
        assert all(values[number] == self.model.entries[number].value for number in ranked)

    # ------------------------------------------------------------------ time and the site

    @rule(minutes=st.sampled_from([0.5, 5, 9.5, 10, 30]))
    def time_passes(self, minutes: float) -> None:
        self.model.now += minutes
        self.world.now = self.moment(self.model.now)

    @rule(complete=st.booleans())
    def time_passes_to_the_end(self, *, complete: bool) -> None:
        """To a second before the deadline, or to when nothing more can come."""
        over = max(self.model.ends, self.model.last)
        to = over + 10 if complete else self.model.ends - 1 / 60
        self.model.now = max(to, self.model.now)
        self.world.now = self.moment(self.model.now)

    @rule(number=ROW, times=st.sampled_from([1, 1, 1, 9]))
    def the_worker_grades(self, number: int, times: int) -> None:
        for _ in range(times):
            waiting = [place for place, entry in enumerate(self.model.entries) if entry.waits]
            if not waiting:
                return
            place = waiting[number % len(waiting)]
            self.model.grade(self.model.entries[place])
            assert grading.grade(self.pks[place])
            self.model.follow()

    def a_file_expires(self, number: int) -> None:
        entry, row = self.row(number)
        if not entry.waits:
            entry.kept = False
            acts.forget_files(Submission.objects.filter(pk=row.pk))

    # ------------------------------------------------------------------ authors

    @rule(
        who=WHO,
        answers=st.sampled_from(range(len(ANSWERS))),
        took=st.sampled_from([0, 0, 4, 9, 30]),
        public=st.booleans(),
    )
    def uploads(self, who: str, answers: int, took: float, *, public: bool) -> None:
        if who in self.model.gone or len(self.pks) > 8:
            return
        row = Submission(owner=self.user(who), benchmark=Benchmark.objects.get(), name="System", model="m")
        row.public, row.began = public, self.world.now - timedelta(minutes=took)
        outcome = self.model.upload(who, answers, took, public=public)
        try:
            accept(row, ContentFile(self.world.files[answers], name="a.zip"))
        except QuotaError:
            assert outcome == "refused"
        else:
            assert outcome == ("late" if row.late else "in time")
            self.pks.append(row.pk)

    @rule(number=ROW, public=st.booleans())
    @precondition(has_rows)
    def publishes(self, number: int, *, public: bool) -> None:
        entry, row = self.row(number)
        self.author_acts(entry.who)
        ruled = self.model.rule != "every" and not entry.late
        allowed = self.model.open_for(entry.who) and (public or not ruled)
        if entry.public != public:
            assert refused(lambda: acts.publish(row, public=public)) is not allowed
            entry.public = public if allowed else entry.public

    def withdraws(self, number: int) -> None:
        entry, row = self.row(number)
        self.author_acts(entry.who)
        if entry.withdrawn is None:
            self.model.withdraw(entry)
            acts.withdraw(row)

    def restores(self, number: int) -> None:
        entry, row = self.row(number)
        self.author_acts(entry.who)
        if entry.withdrawn is not None and not entry.failed:
            assert refused(lambda: acts.restore(row)) is not self.model.restore(entry)

    @rule(number=ROW, chosen=st.booleans())
    @precondition(has_rows)
    def chooses(self, number: int, *, chosen: bool) -> None:
        entry, row = self.row(number)
        self.author_acts(entry.who)
        allowed = self.model.may_choose(entry, chosen=chosen)
        assert refused(lambda: acts.choose(row, row.owner, chosen=chosen)) is not allowed
        entry.chosen = chosen if allowed else entry.chosen

    def edits(self, number: int) -> None:
        entry, row = self.row(number)
        self.author_acts(entry.who)
        acts.edit(row, row.owner, {"description": f"At {self.model.now}"})

    def deletes_the_account(self, who: str) -> None:
        mine = [entry for entry in self.model.entries if entry.who == who]
        self.author_acts(who)
        if len(self.model.gone) == 0 and not any(entry.waits for entry in mine):
            self.model.gone.add(who)
            self.moves(who, None)
            for entry in mine:
                entry.kept = False
            delete_account(self.user(who))

    @rule(number=ROW)
    @precondition(has_rows)
    def withdraws_or_restores(self, number: int) -> None:
        entry, _ = self.row(number)
        (self.withdraws if entry.withdrawn is None else self.restores)(number)

    # ------------------------------------------------------------------ teams

    @rule(kind=st.sampled_from(["found", "join", "join", "leave", "merge"]), who=WHO, number=ROW)
    def changes_teams(self, kind: str, who: str, number: int) -> None:
        if kind == "found":
            self.founds_a_team(who)
        elif kind == "join":
            self.joins(who, number)
        elif kind == "leave":
            self.leaves(who)
        else:
            self.merge()

    def founds_a_team(self, who: str) -> None:
        if who not in self.model.gone and len(self.teams) < 2 and self.present_team(who) is None:
            team = people.create_team(self.user(who), f"Team {len(self.teams)}")
            self.teams.append(team.pk)
            self.moves(who, team.pk)

    def joins(self, who: str, number: int) -> None:
        self.author_acts(who)
        teams = self.present_teams()
        if teams and who not in self.model.gone and self.present_team(who) is None:
            team = Team.objects.get(pk=teams[number % len(teams)])
            people.join_team(self.user(who), team.code)
            self.moves(who, team.pk)

    def leaves(self, who: str) -> None:
        self.author_acts(who)
        if self.present_team(who) is not None:
            people.leave_team(self.user(who))
            self.moves(who, None)

    def merge(self) -> None:
        members = {team: [who for who in "abc" if self.present_team(who) == team] for team in self.teams}
        if len(members) == 2 and all(members.values()):
            self.before = None if self.model.now < self.model.ends else self.counting()
            other, own = self.teams
            people.propose_merge(self.user(members[other][0]), Team.objects.get(pk=own).code)
            people.merge(self.user(members[own][0]), other, accepted=True)
            self.model.merge(own, other, members[other])

    def present_team(self, who: str) -> int | None:
        return self.model.history[who][-1][1] if self.model.history[who] else None

    def moves(self, who: str, team: int | None) -> None:
        self.model.history[who].append((self.model.now, team))

    def present_teams(self) -> list[int]:
        return [team for team in self.teams if Team.objects.filter(pk=team).exists()]

    # ------------------------------------------------------------------ organizers

    @rule(kind=st.sampled_from(["expire", "edit", "delete", "labels", "regrade"]), who=WHO, number=ROW)
    @precondition(has_rows)
    def something_rare(self, kind: str, who: str, number: int) -> None:
        if kind == "expire":
            self.a_file_expires(number)
        elif kind == "edit":
            self.edits(number)
        elif kind == "delete":
            self.deletes_the_account(who)
        elif kind == "labels":
            self.changes_the_labels()
        else:
            self.grades_again()

    @rule(number=ROW, approved=st.booleans())
    @precondition(has_rows)
    def decides(self, number: int, *, approved: bool) -> None:
        entry, row = self.row(number)
        entry.approved = approved
        if approved:
            acts.approve(row, row.owner)
        else:
            acts.decline(row, row.owner, "It was trained on the test set.")

    @rule(who=st.sampled_from(["a", "b", "c", 0, 1]), minutes=st.sampled_from([3, 20, 90]))
    def extends(self, who: str | int, minutes: int) -> None:
        whose: Any = None
        if isinstance(who, str) and who not in self.model.gone:
            whose = self.user(who)
        elif isinstance(who, int) and who < len(teams := self.present_teams()):
            whose = Team.objects.get(pk=teams[who])
        if whose is not None:
            end = max(int(self.model.now), self.model.ends) + minutes
            self.model.personal.append((who if isinstance(who, str) else whose.pk, end))
            self.model.last = max(self.model.last, end)
            closes = self.moment(end - 1)
            extend(self.phase, closes=closes, who=whose, actor=None, reason="Ill.")

    @rule(minutes=st.sampled_from([-20, 3, 20, 90]))
    def moves_the_deadline(self, minutes: int) -> None:
        self.model.ends = max(12, max(int(self.model.now), self.model.ends if minutes > 0 else 0) + minutes)
        row = self.phase
        row.closes = self.moment(self.model.ends - 1)
        save_phase(row)

    @rule(counting=st.sampled_from(["every", "best", "last", "chosen"]))
    def changes_the_rule(self, counting: str) -> None:
        self.model.rule = counting
        row = self.phase
        row.counting = counting
        save_phase(row)

    def changes_the_labels(self) -> None:
        self.model.labels = 1 - self.model.labels
        self.model.grade_again()
        add_benchmark(str(MANIFEST), self.world.golds[self.model.labels])

    def grades_again(self) -> None:
        self.model.grade_again()
        grading.regrade(Benchmark.objects.get(), "It was asked for.")

    @rule()
    def shows_the_results(self) -> None:
        over = max(self.model.ends, self.model.last)
        allowed = self.model.now >= over + 10 and not self.model.settled
        assert refused(lambda: settle_phase(self.phase, None, "The workers are down.")) is not allowed
        if allowed:
            self.model.follow(forced=True)


def run(world: World, steps: int, stages: list[Stage] | None = None, *, same: bool = False) -> int:
    """Run at least so many steps, the `same` each time or random ones; return how many acts were compared."""
    Counting.world, Counting.steps = world, 0
    run_state_machine_as_test(
        Counting,
        settings=settings(
            max_examples=max(1, steps // PER_EXAMPLE),
            stateful_step_count=PER_EXAMPLE,
            deadline=None,
            database=None,
            derandomize=same,
            phases=stages or [Stage.generate, Stage.shrink],
            suppress_health_check=[*HealthCheck],
        ),
    )
    return Counting.steps


def test_the_site_counts_as_the_model_says(world: World) -> None:
    assert run(world, 400, same=True) > 200


@pytest.mark.slow
def test_the_site_counts_as_the_model_says_for_long(world: World) -> None:
    print(run(world, STEPS))


Change = Callable[[pytest.MonkeyPatch], None]


def without(act: str) -> Change:
    """No deadline for an act of authors."""
    asked = acts._require

    def change(patch: pytest.MonkeyPatch) -> None:
        free = TABLE[act].cells[Moment.OPEN]._replace(outcome="keeps")
        patch.setattr(acts, "_require", lambda name, row: free if name == act else asked(name, row))

    return change


def chosen_among(**conditions: bool) -> Change:
    """The rule chooses among more than a board may show."""
    wider = Q(late=False, **conditions) & scored()
    return lambda patch: patch.setattr(counting, "eligible", lambda: wider)


def with_teams_of_today(patch: pytest.MonkeyPatch) -> None:
    for module in (phase_models, quota):
        patch.setattr(module, "team_in", lambda phase, user, team: team)


def with_a_merge_of_all(patch: pytest.MonkeyPatch) -> None:
    def take_in(own: Team, other: Team) -> None:
        for person in other.members.all():
            move_to(person, own)
        Submission.objects.filter(group=other).update(group=own)
        other.delete()

    patch.setattr(people, "_take_in", take_in)


def with_the_own_deadline(patch: pytest.MonkeyPatch) -> None:
    def ends_for(phase: Phase, user: int, team: int | None) -> datetime | None:
        whose = Q(user=user) | Q(team=phase_models.team_in(phase, user, team), team__isnull=False)
        own = phase.extensions.filter(whose).order_by("closes").last()
        return own.closes + timedelta(minutes=1) if own else phase.ends

    for module in (phase_models, counting, acts, moments):
        patch.setattr(module, "ends_for", ends_for)


def with_choices_that_return(patch: pytest.MonkeyPatch) -> None:
    restored = acts.restore

    def restore(row: Submission) -> Submission:
        restored(row)
        Submission.objects.filter(pk=row.pk).update(chosen=row.chosen)
        counting.recount(Phase.objects.get())
        return row

    patch.setattr(acts, "restore", restore)


def without_time_for_uploads(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Phase, "complete", property(lambda row: row.over))


def without_waiting(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grading, "waiting_in", lambda phase: Submission.objects.none())


def with_any_key(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(feedback.ScoreKey, "difference", lambda one, other: "")


def without_counting_after_a_merge(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(people, "recount", lambda phase: None)


def with_one_part(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(feedback, "parts_of", lambda row: feedback.graded_rows(row.benchmark, row.phase))


BOTH, TEAMS = {"both": True, "counting": "best"}, {"per_team": True, "counting": "best"}
FIXES: dict[str, tuple[Change, dict[str, Any]]] = {
    "both parts of what is graded late": (with_one_part, BOTH | {"hidden": False}),
    "ten minutes for uploads": (without_time_for_uploads, BOTH),
    "an empty queue": (without_waiting, BOTH),
    "a deadline for undoing withdrawals": (without("restore"), {}),
    "a deadline for publishing": (without("publish"), {"counting": "every"}),
    "a deadline for making private": (without("unpublish"), {"counting": "every"}),
    "what counts cannot be hidden": (without("hide"), {}),
    "an undone withdrawal is no choice": (with_choices_that_return, {"counting": "chosen", "hidden": False}),
    "approved ones alone": (chosen_among(public=True), {"approval": True, "hidden": False}),
    "public ones alone": (chosen_among(approved=True), {"counting": "every", "hidden": False}),
    "one key": (with_any_key, BOTH | {"hidden": False}),
    "teams of the deadline": (with_teams_of_today, {}),
    "merging moves nothing later": (with_a_merge_of_all, TEAMS | {"hidden": False}),
    "merging counts again": (without_counting_after_a_merge, TEAMS | {"hidden": False}),
    "the later of two deadlines": (with_the_own_deadline, {}),
}
"""What keeps the site as the model says: how to take it out, and the rules under which it shows."""


@pytest.mark.slow
@pytest.mark.parametrize("fix", FIXES)
def test_the_model_finds_what_is_wrong_without_a_fix(
    fix: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, given = FIXES[fix]
    change(monkeypatch)
    monkeypatch.setattr(Counting, "given", given)
    with pytest.raises((AssertionError, ActError)):
        run(world, 20_000, [Stage.generate])
    print(f"{fix}: after {Counting.steps} steps")
