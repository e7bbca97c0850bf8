"""Models of computed rankings and comparisons, and the systems that may be compared."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import models
from django.db.models import F

from gluebench.benchmark import Benchmark as Record
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.page_cache import once
from gluebench.leaderboard.apps.phases.models import Phase, on_board, phase_on_board
from gluebench.leaderboard.apps.submissions import feedback
from gluebench.leaderboard.apps.submissions.counting import teams_of_several
from gluebench.leaderboard.apps.submissions.models import Submission
from gluebench.leaderboard.apps.submissions.queries import Kind, people_of
from gluebench.version import __version__

MAJORITY = "Majority class"
"""The published reference that lets a board take a task to be answered with its most frequent label."""


class Ranking(models.Model):
    """The last computed ranks of one board: of a phase of a benchmark, or of its systems without a phase."""

    benchmark = models.ForeignKey(Benchmark, models.CASCADE, related_name="rankings")
    phase = models.ForeignKey(Phase, models.CASCADE, null=True, related_name="+")
    version = models.PositiveBigIntegerField(default=0)
    """The version of the board that it is for; a board of another version does not show it."""
    stamp = models.CharField(max_length=64, blank=True)
    """Digest of its inputs: it is not computed again for the same systems and labels."""
    since = models.DateTimeField(null=True)
    """Since when it is out of date; null when it is up to date."""
    asked = models.DateTimeField(null=True)
    """When it was last enqueued; null when no worker is computing it."""
    at = models.DateTimeField(null=True)
    """When it was computed."""
    failure = models.CharField(max_length=200, blank=True)
    """Why there is none for this stamp."""
    systems = models.JSONField(default=list)
    """Primary key and key of each system that was ranked, by position; empty for fewer than two."""
    board = models.JSONField(null=True)
    """`boards` and `shares` as `board.rank_all` gives them; null for fewer than two systems."""
    pairs = models.JSONField(null=True)
    """What holds under every rule, for all pairs."""
    health = models.JSONField(null=True)
    """As `analysis.health.health` gives it, with rows of labels in doubt: for organizers alone."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "phase"], name="one_ranking_per_phase"),
            models.UniqueConstraint(
                fields=["benchmark"], condition=models.Q(phase=None), name="one_ranking_without_phase"
            ),
        ]


class Decisions(models.Model):
    """Which pairs of systems differ significantly by one score; all ranks by that score come from here."""

    ranking = models.ForeignKey(Ranking, models.CASCADE, related_name="decisions")
    score = models.CharField(max_length=400)
    """What is ranked: empty for the average, else a task, a metric, a diagnostic set or a phenomenon."""
    counts = models.JSONField()
    """For each of `Ranking.systems`: how many are better and how many worse; or why it was not tested."""
    better = models.TextField()
    """The decisions, packed: see `analysis.rank.packed`."""
    p_values = models.TextField(blank=True)
    """Adjusted and plain p-values of the average's pairs, packed; empty on a board of too many systems."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["ranking", "score"], name="one_per_score")]


class Pair(models.Model):
    """Two systems compared on the same examples."""

    a = models.ForeignKey(Submission, models.CASCADE, related_name="+")
    """The older one."""
    b = models.ForeignKey(Submission, models.CASCADE, related_name="+")
    stamp = models.CharField(max_length=64)
    """Digest of the gradings and labels that it was computed from."""
    asked = models.DateTimeField()
    at = models.DateTimeField(null=True)
    """When it was computed; null while it waits."""
    failure = models.CharField(max_length=200, blank=True)
    found = models.JSONField(null=True)
    """The comparison of `gluebench.comparison/1` as it may be shown."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["a", "b"], name="one_per_pair")]


def systems_by_rank(benchmark: Benchmark, *deferred: str) -> list[Submission]:
    """The systems of the board whose files are kept, best first, incomplete ones last.

    Those that were scored on other rows or labels are left out, and those under the Ladder: what it shows of
    them is not their own score. `deferred` are columns that are not needed.
    """
    rows = Submission.objects.on_board(benchmark).filter(scores__isnull=False, apart="").exclude(file="")
    rows = rows.select_related("benchmark", "phase").defer("report", "problems", *deferred)
    ordered = rows.order_by(F("value").desc(nulls_last=True), "submitted", "pk")
    return [row for row in ordered if not feedback.climbs(row)]


def leaders(systems: Sequence[Submission]) -> list[str]:
    """The keys of the best system of each team or person, in the order given, without the rows of people.

    The systems are of one board.
    """
    rows = [row for row in systems if row.kind != Kind.HUMAN]
    if not rows:
        return []
    groups = [row.group_id for row in rows]
    teams = teams_of_several(groups, rows[0].benchmark_id, rows[0].phase)
    keys = []
    seen = set()
    for row in rows:
        people = people_of(row.owner_id, row.group_id, teams)
        if people not in seen:
            seen.add(people)
            keys.append(row.key)
    return keys


def reason_not_compared(benchmark: Benchmark) -> str:
    """Why the site does not compare this benchmark's systems; empty if it does."""
    if not benchmark.gold:
        return "The labels are on the organizer's own machine, so this site compares no systems."
    phase = phase_on_board(benchmark)
    if phase is None:
        is_ladder = feedback.is_ladder(benchmark)
    else:
        is_ladder = bool(phase.state.get("ladder"))
    if not is_ladder:
        return ""
    return (
        "This benchmark shows a score only when it clearly beats the best of the same people. What it shows "
        "is not each system's own score, and comparing systems would reveal the rows that are held back."
    )


def comparable(submission: Submission) -> bool:
    """Whether it is on the board with the score that its predictions have."""
    kept = bool(submission.file) and not submission.apart
    return submission.is_listed and kept and not feedback.climbs(submission)


def stamp_of(benchmark: Benchmark, systems: Iterable[Submission]) -> str:
    """A digest of what a result is computed from."""
    rows = []
    for row in systems:
        finished = row.finished.isoformat() if row.finished else ""
        rows.append([row.key, row.value, finished, row.kind])
    part: list[Any] | None = list(feedback.rows_to_grade(benchmark, phase_on_board(benchmark)).values())
    if not part:
        part = None  # as in the digests of stored rankings
    benchmark = on_board(benchmark)
    basis = [__version__, benchmark.gold_digest, benchmark.manifest, benchmark.policy.smallest_category]
    return hashlib.sha256(json.dumps([basis, part, rows]).encode()).hexdigest()


def is_current(ranking: Ranking, benchmark: Benchmark) -> bool:
    """Whether a ranking is that of the board as it is now, whose pages may have changed otherwise."""
    if ranking.version == benchmark.version:
        return True
    name = f"stamp {benchmark.pk} {benchmark.board_phase}"
    stamp = once(name, benchmark.version, lambda: stamp_of(benchmark, systems_by_rank(benchmark, "scores")))
    return ranking.stamp == stamp


def majority_tasks(record: Record) -> list[str]:
    """Tasks for which the most frequent label may replace all predictions, as for the paper's WNLI."""
    tasks = []
    for task in record.scored:
        references = [reference.name for reference in task.references]
        if task.words and MAJORITY in references:
            tasks.append(task.name)
    return tasks
