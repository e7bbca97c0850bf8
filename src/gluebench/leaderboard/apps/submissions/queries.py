"""Statuses of submissions, conditions on them, and queries. `models.py` has the tables."""

import json
import time
from collections.abc import Container, Iterator, Sequence
from typing import Any, Self, TypeVar

from django.conf import settings
from django.db import connection, models
from django.db.models import F, Func, JSONField, Max, Min, Q, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Extract, Now

from gluebench.leaderboard.apps.accounts.models import teams_of
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.fields import REGIMES

Row = TypeVar("Row", bound=models.Model)


class Status(models.TextChoices):
    """Status of a submission. The last four are final."""

    QUEUED = "queued", "Waiting"
    RUNNING = "running", "Being graded"
    GRADED = "graded", "Graded"
    INVALID = "invalid", "Not valid"
    FAILED = "failed", "Failed"
    KEPT = "kept", "Kept, not graded"


class Regime(models.TextChoices):
    """How a system was trained, as Table 4 of the paper groups them."""

    SINGLE = "single-task", REGIMES["single-task"]
    MULTI = "multi-task", REGIMES["multi-task"]
    FROZEN = "frozen", REGIMES["frozen"]
    OTHER = "other", REGIMES["other"]


class Kind(models.TextChoices):
    """What an entry of the board is. Only organizers set another kind than a system."""

    SYSTEM = "system", "System"
    BASELINE = "baseline", "Baseline"
    HUMAN = "human", "Human"


class Visibility(models.TextChoices):
    """Visibility of a submission, in the words of the pages."""

    LISTED = "listed", "On the board"
    UNGRADED = "ungraded", "On the board once it is graded"
    UNSCORED = "unscored", "Not on the board"
    WAITING = "waiting", "Waits for approval"
    DECLINED = "declined", "Kept off the board"
    PRIVATE = "private", "Private"
    REPRODUCTION = "reproduction", "A reproduction"
    WITHDRAWN = "withdrawn", "Withdrawn"
    LATE = "late", "Late: it does not count"
    HIDDEN = "hidden", "On the board once the board shows its phase"
    ANOTHER = "another", "Not on the board: another of its author or team counts"


OPEN = (Status.QUEUED, Status.RUNNING)
UNSCORED = Q(status__in=(Status.INVALID, Status.FAILED, Status.KEPT))
"""Condition for submissions that reveal nothing about the labels."""


def is_being_regraded(way: str = "") -> Q:
    """Condition for submissions graded again, which keep their scores until then; `way` as in `is_listed`."""
    return Q((f"{way}status__in", OPEN), (f"{way}scores__isnull", False))


def is_eligible(way: str = "") -> Q:
    """Condition for what may count: the rule of its phase chooses among these. `way` as in `is_listed`."""
    return Q((f"{way}public", True), (f"{way}approved", True), (f"{way}late", False)) & is_scored(way)


def is_listed(way: str = "") -> Q:
    """Condition for what boards show: it may count, it does, and it is not withdrawn.

    From another table, `way` is the lookup prefix "submissions__".
    """
    return is_eligible(way) & Q((f"{way}counts", True), (f"{way}withdrawn__isnull", True))


def is_scored(way: str = "") -> Q:
    """Condition for those that have scores; `way` as in `is_listed`."""
    return Q((f"{way}status", Status.GRADED)) | is_being_regraded(way)


LISTED = is_listed()


def _is_managed_by(user: Any) -> Q:
    teams = teams_of(user)
    for_teams = Q(pk=None)
    for benchmark, team in teams.items():
        if benchmark is None:
            for_teams |= Q(group=team) & ~Q(benchmark__in=set(teams) - {None})
        else:
            for_teams |= Q(group=team, benchmark=benchmark)
    return Q(owner=user) | for_teams & Q(reproduces=None, benchmark__settings__per="team")


class SubmissionQueries(models.QuerySet[Row]):
    """Queries on submissions; models.py says of which model."""

    def public(self) -> Self:
        """Those that a board shows, of any phase."""
        return self.filter(LISTED)

    def on_board(self, benchmark: Benchmark) -> Self:
        """Those on a benchmark's board, which shows one phase, or those without a phase."""
        return self.public().filter(benchmark=benchmark, phase=benchmark.board_phase)

    def visible_to(self, user: Any) -> Self:
        """Those whose page this person may see."""
        shown = LISTED & Q(benchmark__in=Benchmark.objects.visible_to(user).values("pk"))
        if not user.is_authenticated:
            return self.filter(shown)
        if user.is_superuser:
            return self.all()
        mine = _is_managed_by(user) | Q(benchmark__in=Benchmark.objects.run_by(user).values("pk"))
        return self.filter(mine | shown)

    def owned_by(self, user: Any) -> Self:
        """Those this person sent."""
        return self.filter(owner=user) if user.is_authenticated else self.none()

    def managed_by(self, user: Any) -> Self:
        """Those whose author's acts this person may do: own ones, and the team's where teams are counted."""
        return self.filter(_is_managed_by(user)) if user.is_authenticated else self.none()

    def of_same_people(self, submission: Any, *, team: bool = True) -> Self:
        """Those to the same benchmark by the same person or, with `team`, for the same team."""
        people = Q(owner=submission.owner_id)
        if team and submission.group_id is not None:
            people |= Q(group=submission.group_id)
        return self.filter(people, benchmark=submission.benchmark_id)

    def current(self) -> Self:
        """Without uploads that another one replaced."""
        return self.filter(replaced_by=None)

    def waiting(self) -> Self:
        """Those not final yet."""
        return self.filter(status__in=OPEN)

    def turns(self) -> Iterator[int]:
        """The keys of those that wait, in the order in which workers should take them; one of each person.

        Benchmarks take turns, and within a benchmark people do: first comes whoever was served longest ago.
        """
        queued = self.filter(status=Status.QUEUED)
        for benchmark in self.filter(benchmark__in=queued.values("benchmark"))._by_last_turn("benchmark"):
            here = queued.filter(benchmark=benchmark)
            theirs = self.filter(benchmark=benchmark, owner__in=here.values("owner"))
            for owner in theirs._by_last_turn("owner"):
                oldest = here.filter(owner=owner).order_by("submitted", "pk")
                yield from oldest.values_list("pk", flat=True)[:1]

    def _by_last_turn(self, field: str) -> Iterator[int]:
        oldest = Min("submitted", filter=Q(status=Status.QUEUED))
        rows = self.order_by().values(field).annotate(last=Max("begun"), oldest=oldest)
        rows = rows.order_by(F("last").asc(nulls_first=True), "oldest")
        return (row[field] for row in rows)

    def claim(self, pk: int, lease: int | None = None) -> bool:
        """Take a submission for grading; one worker of several succeeds. `lease` in seconds."""
        free = self.filter(pk=pk, status=Status.QUEUED)
        values = {"attempts": F("attempts") + 1, "begun": Now(), **lease_renewal(lease)}
        return bool(free.update(status=Status.RUNNING, **values))

    def with_lease(self, pk: int, attempt: int) -> Self:
        """The submission, if this attempt at it still holds the lease: no other worker took over."""
        return self.filter(pk=pk, status=Status.RUNNING, attempts=attempt)


def people_of(owner: int, group: int | None, teams: Container[int]) -> tuple[str, int]:
    """What is the same for submissions of one of these teams, or of one person outside of them."""
    if group is None or group not in teams:
        return ("person", owner)
    return ("team", group)


def lease_seconds() -> int:
    """Seconds without a sign of life after which a worker loses its submission."""
    return int(settings.LEASE_SECONDS)


def lease_renewal(seconds: int | None = None) -> dict[str, Any]:
    """Column values that renew a row's lease, so that no sweep takes it for so many seconds from now."""
    if seconds is None:
        seconds = lease_seconds()
    return {"lease": seconds, "renewed": clock()}


def clock() -> Combinable:
    """Now, in seconds, by one clock for all workers: the time of day on one of several machines may jump."""
    if connection.vendor == "postgresql":
        return Extract(Now(), "epoch")
    return Value(time.monotonic())


class JsonNumbers(Func):
    """The values at paths of a JSON column as a list, read by the database, which is several times faster."""

    function = "JSON_EXTRACT"
    output_field = JSONField()

    def __init__(self, column: str, *paths: Sequence[str]) -> None:
        """Two paths at least, each the names from the column's value on; none may have a quotation mark."""
        # SQLite compares names as they are stored: in ASCII, with escapes.
        quoted = []
        for path in paths:
            steps = [f".{json.dumps(name)}" for name in path]
            quoted.append(Value("$" + "".join(steps)))
        super().__init__(column, *quoted)

    def as_postgresql(self, compiler: Any, connection: Any, **_: Any) -> Any:
        """Unpack the column once: each use of a large one does it again."""
        (column, _), *paths = map(compiler.compile, self.get_source_expressions())
        parts = ", ".join(f"jsonb_path_query_first(whole, {sql}::jsonpath)" for sql, _ in paths)
        whole = f"(SELECT {column} || '{{}}'::jsonb AS whole OFFSET 0) AS unpacked"
        return f"(SELECT jsonb_build_array({parts}) FROM {whole})", [text for _, (text,) in paths]
