"""Phases of a benchmark: when they take submissions, by which policy, what counts, and what a board shows."""

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import QuerySet
from django.dispatch import receiver
from django.utils import timezone

from gluebench.leaderboard.apps.accounts.models import Team, User
from gluebench.leaderboard.apps.benchmarks.contents import part_of
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.benchmarks.policy import Policy, policy_of
from gluebench.leaderboard.apps.common.signals import account_deleted, account_exported
from gluebench.leaderboard.apps.common.text import plain
from gluebench.leaderboard.apps.phases.times import MINUTE, local_text

UPLOAD_TIME = timedelta(minutes=10)
"""How long after the deadline an upload that began before it may end, and still counts."""
OVERRIDDEN = (
    *("per_day", "per_month", "total", "at_once", "invalid_per_day"),
    *("incomplete", "feedback", "approval"),
)
"""The settings of the benchmark's policy that a phase may override."""
GRADED_BY = ("rows", "tasks", "tasks_of", "ladder")
"""The names in a phase's `state` that decide how its submissions are graded."""


class ScoredRows(models.TextChoices):
    """The test rows that submissions of a phase are scored on."""

    ALL = "all", "all rows"
    PUBLIC = "public", "the public share of the rows"
    HELD_BACK = "held back", "the rows that are not in the public share"
    BOTH = "both", "the public share and, once the phase is closed, the other rows instead"


class PhaseVisibility(models.TextChoices):
    """When the board shows a phase."""

    ALWAYS = "always", "from its start"
    CLOSED = "closed", "with the systems' names from its start, with scores once it is closed"
    DATE = "date", "from the date below on"
    ASIDE = "aside", "from its start, beside the board of the phase before it"


class CountingRule(models.TextChoices):
    """Which of the submissions of one person or team the board shows."""

    EVERY = "every", "every one that its author publishes"
    BEST = "best", "the best one"
    LAST = "last", "the last one"
    CHOSEN = "chosen", "those that its author chooses"


class LatePolicy(models.TextChoices):
    """What happens to a file that comes after the deadline and before another phase opens."""

    KEPT = "kept", "kept and marked late, not graded"
    GRADED = "graded", "kept, marked late, and graded for its author"
    REFUSED = "refused", "refused"


class Phase(models.Model):
    """A stretch of time with rules of its own. Phases of a benchmark do not overlap."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="phases")
    name = models.CharField(max_length=60, validators=[plain])
    opens = models.DateTimeField()
    closes = models.DateTimeField(null=True, blank=True)
    """Its last minute, which belongs to it; null for a phase that stays open."""
    last = models.DateTimeField(null=True, editable=False)
    """The latest deadline of anybody, where one person or team has an extension."""
    zone = models.CharField(max_length=64, default="UTC")
    """The zone that its times are stated in."""
    settings = models.JSONField(default=dict, blank=True)
    """The policy's settings that differ from the benchmark's."""
    rows = models.CharField(max_length=12, choices=ScoredRows, default=ScoredRows.ALL)
    share = models.FloatField(null=True, blank=True)
    """The public share of the rows; the same in all phases that have one."""
    shown = models.CharField(max_length=8, choices=PhaseVisibility, default=PhaseVisibility.ALWAYS)
    shown_from = models.DateTimeField(null=True, blank=True)
    counting = models.CharField(max_length=8, choices=CountingRule, default=CountingRule.EVERY)
    most = models.PositiveSmallIntegerField(default=1, validators=[MinValueValidator(1)])
    """How many a person or team may choose."""
    otherwise = models.CharField(
        max_length=8,
        choices=[(rule.value, rule.label) for rule in (CountingRule.BEST, CountingRule.LAST)],
        default=CountingRule.BEST,
    )
    """What counts of those who chose none."""
    late = models.CharField(max_length=8, choices=LatePolicy, default=LatePolicy.KEPT)
    tasks = models.JSONField(default=list, blank=True)
    """Names of the tasks that its submissions have, in their order on the board; empty for all."""
    tasks_of = models.ForeignKey(
        Benchmark, models.PROTECT, null=True, blank=True, related_name="phases_elsewhere"
    )
    """The benchmark whose tasks, test rows and labels it uses; null for its own."""
    state = models.JSONField(default=dict, editable=False)
    """What its results are in line with; see `state_at`."""

    class Meta:
        ordering = ["opens", "pk"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "name"], name="one_phase_per_name")]

    def __str__(self) -> str:
        return self.name

    @property
    def ends(self) -> datetime | None:
        """The first moment at which it is closed to all without an extension of their own."""
        return self.closes and self.closes + MINUTE

    @property
    def over(self) -> datetime | None:
        """The first moment at which it is closed to everybody."""
        return self.closes and max(self.closes, self.last or self.closes) + MINUTE

    @property
    def complete(self) -> datetime | None:
        """When the last upload that may count has ended: from then on it is settled, once nothing waits."""
        return self.over and self.over + UPLOAD_TIME

    @property
    def shows(self) -> datetime | None:
        """When the board shows its scores at the earliest; None where it is to close first and stays open."""
        if self.shown == PhaseVisibility.DATE:
            return self.shown_from
        return self.complete if self.shown == PhaseVisibility.CLOSED else self.opens

    @property
    def is_shown(self) -> bool:
        """Whether the board shows its scores, as far as its results were brought in line with that."""
        return bool(self.state.get("shown"))

    @property
    def is_settled(self) -> bool:
        """Whether what counts is settled: nothing more can come, and all that came was graded by then."""
        return bool(self.state.get("settled"))

    @property
    def span(self) -> str:
        """Its name and its times, in a sentence."""
        until = f" to {self.text_of(self.closes)}" if self.closes else ", and stays open"
        return f"{self}: from {self.text_of(self.opens)}{until}."

    def standing(self, now: datetime | None = None) -> str:
        """ "to come", "open" or "closed"."""
        moment = now or timezone.now()
        if moment < self.opens:
            return "to come"
        return "open" if self.ends is None or moment < self.ends else "closed"

    def text_of(self, moment: datetime) -> str:
        """A moment in words, in this phase's zone and in UTC."""
        return local_text(moment, self.zone)

    def state_at(self, now: datetime, *, waits: bool = False) -> dict[str, Any]:
        """What its results depend on at a moment, besides the files, the labels and the manifest.

        `waits`: files that may count are not graded yet. Once settled, it stays so unless its end is moved.
        A change of one of `GRADED_BY` means another grading, all else another form of what is shown.
        """
        policy = policy_at(self.benchmark, self)
        over = self.over is not None and now >= self.over
        last_has_come = over and (now >= (self.complete or now) or not self.benchmark.open)
        settled = over and (self.is_settled or (last_has_come and not waits))
        shown = self.shows is not None and (now >= self.shows or self.shown == PhaseVisibility.CLOSED)
        if self.over is not None and self.shows is not None and self.shows >= self.over:
            shown = shown and settled  # results announced in the grace are settled before `complete`
        part = {"all": "", "both": "held back" if settled else "public"}.get(self.rows, self.rows)
        state = {
            "settled": settled,
            "rows": {"rows": part, "share": self.share} if part else {},
            "ladder": policy.feedback == "ladder" and not (self.rows == ScoredRows.BOTH and settled),
            "shown": shown,
            "feedback": [policy.feedback, policy.smallest_category],
            "counting": [self.counting, self.most, self.otherwise, policy.per],
            "ends": self.ends.timestamp() if self.ends else None,
        }
        # Left out where they are empty, as in the states that earlier versions stored.
        if self.tasks:
            state["tasks"] = self.tasks
        if self.tasks_of_id:
            state["tasks_of"] = self.tasks_of_id
        return state


class Extension(models.Model):
    """A later deadline of a phase, for one person, one team, or all."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="extensions")
    user = models.ForeignKey(User, null=True, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, null=True, on_delete=models.CASCADE, related_name="+")
    before = models.DateTimeField()
    """The deadline until then."""
    closes = models.DateTimeField()
    reason = models.CharField(max_length=400)
    by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created", "-pk"]

    def __str__(self) -> str:
        return f"{self.phase}: {self.closes:%Y-%m-%d %H:%M}"

    @property
    def for_all(self) -> bool:
        """Whether it is for everybody."""
        return self.user_id is None and self.team_id is None


class Release(models.TextChoices):
    """When a file of a phase may be downloaded."""

    OPENS = "opens", "when the phase opens"
    RESULTS = "results", "once the phase is closed and its results are shown"
    TIME = "time", "at the time below"


class PhaseFile(models.Model):
    """A file to download from a moment of a phase on: test inputs when it opens, labels with its results."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="phase_files")
    phase = models.ForeignKey(Phase, models.CASCADE, related_name="files")
    path = models.CharField(max_length=200)
    """Its address below the Data page, which no other file of the benchmark has."""
    release = models.CharField(max_length=8, choices=Release)
    moment = models.DateTimeField(null=True)
    """For a release at a time of its own."""
    file = models.CharField(max_length=200)
    """Its name in the storage "data", which no other row has."""
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)

    class Meta:
        ordering = ["phase__opens", "path"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "path"], name="one_phase_file_per_path")]

    def __str__(self) -> str:
        return self.path

    @property
    def due(self) -> datetime | None:
        """When it is released; None if that depends on the results."""
        return {Release.OPENS.value: self.phase.opens, Release.TIME.value: self.moment}.get(self.release)

    def is_released(self, now: datetime | None = None) -> bool:
        """Whether everybody may download it; results are those that the phase was brought in line with."""
        if self.release == Release.RESULTS:
            return self.phase.is_settled and self.phase.is_shown
        return self.due is not None and self.due <= (now or timezone.now())

    @property
    def release_text(self) -> str:
        """When it is released, as the end of a sentence."""
        return f"on {self.phase.text_of(self.due)}" if self.due else f"with the results of {self.phase}"


def policy_at(benchmark: Benchmark, phase: Phase | None) -> Policy:
    """The policy in force: the benchmark's, overridden by the phase's settings."""
    if phase is None:
        return benchmark.policy
    policy = policy_of({**benchmark.settings, **phase.settings})
    return replace(policy, public_share=None, reveal=None)  # the phase says which rows count


def phase_on_board(benchmark: Benchmark) -> Phase | None:
    """The phase whose systems the benchmark's pages show; None for those without a phase."""
    number = benchmark.board_phase
    return None if number is None else Phase.objects.select_related("benchmark").filter(pk=number).first()


def at_phase(benchmark: Benchmark, phase: Phase | None) -> Benchmark:
    """The benchmark as it is in a phase: with the phase's tasks and labels, and pages that show it.

    All that checks, grades or shows submissions asks this. It may be given another phase's, too.
    """
    original = whole(benchmark)
    other = copy(original)
    other.__dict__["_whole"] = original
    other.board_phase = None if phase is None else phase.pk
    if phase is None:
        return other
    if phase.tasks_of is not None:
        other.__dict__["_tasks_of"] = phase.tasks_of
        for column in ("manifest", "parents", "gold", "gold_digest"):
            setattr(other, column, getattr(phase.tasks_of, column))
    if phase.tasks:
        part = part_of(other.manifest_texts, f"{other.name}-in-{phase.pk}", phase.tasks)
        other.manifest = part.text
        other.parents = list(part.parents)
    return other


def on_board(benchmark: Benchmark) -> Benchmark:
    """The benchmark as its pages show it: in the phase that is on its board."""
    return at_phase(benchmark, phase_on_board(benchmark))


def whole(benchmark: Benchmark) -> Benchmark:
    """The benchmark with all its tasks, whichever phase it is given in."""
    original: Benchmark = benchmark.__dict__.get("_whole", benchmark)
    return original


def tasks_of(benchmark: Benchmark) -> Benchmark:
    """The benchmark that all tasks of one in a phase belong to: another one, or itself."""
    other: Benchmark = benchmark.__dict__.get("_tasks_of", whole(benchmark))
    return other


def lenders(benchmark: Benchmark) -> QuerySet[Benchmark]:
    """The benchmarks whose tasks and labels a phase of this one may use.

    Everybody who organizes this one organizes them, and so learns nothing new of their labels; whoever sees
    this one sees them.
    """
    if not benchmark.gold:
        return Benchmark.objects.none()
    rows = Benchmark.objects.exclude(pk=benchmark.pk).exclude(gold="").order_by("name")
    if benchmark.is_public:
        rows = rows.public()
    for organizer in benchmark.organizers.all():
        rows = rows.filter(organizers=organizer)
    return rows


def next_change(phases: Sequence[Phase], now: datetime) -> int | None:
    """The next moment at which a page or a result changes, in seconds since 1970; None for none."""
    names = ("opens", "ends", "over", "complete", "shows")
    moments = {getattr(phase, name) for phase in phases for name in names}
    moments.update(PhaseFile.objects.filter(phase__in=phases).values_list("moment", flat=True))
    return min((int(moment.timestamp()) for moment in moments if moment and moment > now), default=None)


def newest_shown(phases: Sequence[Phase]) -> Phase | None:
    """The phase that the board shows: the one shown last, of those that are not shown aside."""
    shown = [phase for phase in phases if phase.is_shown]
    first = [phase for phase in shown if phase.shown != PhaseVisibility.ASIDE] or shown
    return max(first, key=lambda phase: phase.opens, default=None)


@receiver(account_exported)
def export_extensions(user: User, **_: Any) -> dict[str, Any]:
    """For the export of an account: its extensions of deadlines."""
    mine = Extension.objects.filter(user=user)
    return {"extensions": list(mine.values("phase__benchmark__name", "phase__name", "closes", "reason"))}


@receiver(account_deleted)
def blank_extensions(user: User, **_: Any) -> None:
    """Delete the reasons of a deleted account's extensions; what counts follows from their times."""
    Extension.objects.filter(user=user).update(reason="")
