"""Rank systems over a suite: the ranks that each may truly have, and what depends on the rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from gluebench.analysis.rank.decisions import (
    Decisions,
    Floats,
    PairVariances,
    RunVariances,
    decide,
    not_different,
    p_values,
    rank_sets,
)
from gluebench.analysis.rank.influences import PartInfluences
from gluebench.analysis.rank.rules import (
    LOWER,
    TITLES,
    Missing,
    Profile,
    RuleRanking,
    Survival,
    best_words,
    board_order,
    fill_missing,
    rank_by_every_rule,
    rank_by_rule,
    rank_set_text,
    score_rows,
    survives,
)
from gluebench.analysis.rank.systems import (
    ONLY_ONE_RANKED,
    BoardPlan,
    MeasuredSystems,
    read_systems,
    require_possible,
)
from gluebench.benchmark import Task
from gluebench.benchmark.figures import DOWN, on_split, percent
from gluebench.benchmark.records import Benchmark, Rule
from gluebench.benchmark.tables import Table, TabularResult, names_and_numbers
from gluebench.data import DataError
from gluebench.scoring import Gold
from gluebench.scoring.grade import Labels, Path, Run, gold_of, systems_by_name
from gluebench.scoring.report import fields_of, provenance
from gluebench.scoring.runs import RunsTest, mean_runs
from gluebench.scoring.table import TableGold

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIELDS = ("rank", "rank_low", "rank_high", "system", "runs", "value", "withheld")
"""Columns of a ranking as one table; those of the tasks follow."""
TESTED: tuple[Rule, ...] = ("mean", "rank-score")
"""The rules by which a difference of two systems is a sum over tasks, so that it can be tested."""
UNTESTED = "no known interval of ranks by this rule holds the true rank of close systems in 95 % of test sets"
"""Why the other rules give no rank set."""
UNRANKED = "a score is missing"
"""Why a system has no rank."""
OTHER_TASKS = "the averages are over different tasks; use the rule lowest or shared for missing scores"
OTHER_RUNS = "some systems have one run and others several, so that only of these is known how runs differ"
"""Why no system has a rank set."""
PAIRS_UP_TO = 1000
"""Most ranked systems whose pairs are listed."""


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system on the board."""

    name: str
    rank: int | None
    """The observed rank, from 1; equal systems share the best one. None without a score by the rule."""
    rank_low: int | None
    """The best rank that the system may truly have."""
    rank_high: int | None
    """The worst one. All rank sets of a board hold together in 95 % of test sets."""
    indistinguishable: tuple[str, ...] | None
    """The systems that are not significantly different from it, best first; None without a rank set."""
    value: float | None
    """What it is ranked by: a mean or median score (a fraction), a mean rank, a place, or a rank score."""
    scores: Mapping[str, float | None]
    """Task to score."""
    runs: int
    """Number of runs averaged."""
    withheld: str | None
    """Why it has no rank set."""

    @property
    def text(self) -> str:
        """The observed rank and the rank set, as "3 · 1–6"; "-" without a rank."""
        if self.rank is None:
            return "-"
        if self.rank_low is None or self.rank_high is None:
            return str(self.rank)
        return f"{self.rank} · {rank_set_text(self.rank_low, self.rank_high)}"


class Pair(NamedTuple):
    """The test of two systems, one of all pairs of the board."""

    a: str
    b: str
    difference: float
    """A minus B; positive where A is ahead. A fraction, or standard deviations for rank scores."""
    p: float
    """Two-sided p-value of this pair alone."""
    adjusted: float
    """The p-value adjusted for all pairs of the board: at most .05 exactly where one counts as better."""


@dataclass(frozen=True, slots=True)
class Ranking(TabularResult):
    """The result of `rank`."""

    SCHEMA: ClassVar[str] = "gluebench.ranking/2"

    benchmark: str
    split: str
    by: Rule
    missing: Missing
    majority: tuple[str, ...]
    """Tasks on which every system's predictions are replaced by the most frequent label."""
    tasks: tuple[str, ...]
    """Tasks that count toward the ranking."""
    weights: tuple[float, ...] | None
    scales: tuple[float, ...] | None
    """The standard deviation of each task's scores over systems, their runs and examples."""
    systems: tuple[RankedSystem, ...]
    """By rank; systems without a rank last."""
    may_be_best: tuple[str, ...]
    """The systems that no other is significantly better than; in 95 % of test sets they hold the best."""
    pairs: tuple[Pair, ...]
    """Tests of all pairs of ranked systems; empty without rank sets, or for more than PAIRS_UP_TO systems."""
    rules: Mapping[str, Mapping[str, int | None]]
    """Rule to system to rank: all rules, and the mean without each task in turn."""
    survival: Survival
    """Pairs whose order is the same under all rules, and the other pairs."""
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]
    loss: bool | None = None
    """True if the scores are negated losses, else None."""
    withheld: str | None = None
    """Why no system has a rank set; None if they have."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values in a fixed order; numbers are fractions."""
        values = {"schema": self.SCHEMA, **fields_of(self, optional=("loss", "withheld"))}
        survival = values.pop("survival")
        return {**values, **survival}

    def __repr__(self) -> str:
        what = f"{len(self.systems)} systems on {self.benchmark} {self.split} by {TITLES[self.by]}"
        if self.withheld:
            return f"<Ranking of {what}, no rank sets>"
        best = self.may_be_best
        if len(best) == 1:
            return f"<Ranking of {what}, best: {best[0]}>"
        return f"<Ranking of {what}, {len(best)} may be the best>"

    @property
    def best_words(self) -> str:
        """The first systems that may be the best, as a sentence; empty without rank sets."""
        ranked = sum(system.rank is not None for system in self.systems)
        untested = sum(system.rank_low is None for system in self.systems)
        return best_words(self.may_be_best, ranked, untested)

    def records(self) -> Iterator[dict[str, object]]:
        """A record of FIELDS for each system, with its score on each task."""
        for system in self.systems:
            record = {name: getattr(system, name, system.name) for name in FIELDS}
            for task in self.tasks:
                record[task] = system.scores.get(task)
            yield record

    def fields(self) -> Sequence[str]:
        """FIELDS, then the tasks."""
        return FIELDS + self.tasks

    def value_words(self, value: float | None) -> str:
        """Format the value a system is ranked by: a score times 100, a loss, a mean rank, or a place."""
        if self.by not in LOWER:
            return percent(value, self.loss)
        if value is None:
            return "-"
        return f"{value:.0f}" if self.by == "kemeny" else f"{value:.2f}"

    @property
    def task_words(self) -> str:
        """The name of the only task, or the number of tasks."""
        return self.tasks[0] if len(self.tasks) == 1 else f"{len(self.tasks)} tasks"

    def tables(self) -> list[Table]:
        """A row for each system: its rank set, what it is ranked by, and its scores."""
        rows = []
        for system in self.systems:
            scores = [percent(system.scores.get(task), self.loss) for task in self.tasks]
            rows.append((system.name, system.text, self.value_words(system.value), *scores))
        columns = names_and_numbers("system", ("rank", TITLES[self.by], *self.tasks))
        notes = [self.best_words] if self.best_words else []
        return [Table(columns, rows, title=self._title, notes=notes)]

    @property
    def _title(self) -> str:
        title = f"{on_split(self.benchmark, self.split, self.provenance)}: "
        title += f"{self.task_words} by {TITLES[self.by]}"
        if self.loss and self.by not in LOWER:
            title += DOWN
        return title

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the observed rank of each system and the ranks that it may truly have.

        Needs matplotlib (gluebench[plot]); draws into `ax`, or into a new figure. Returns the Axes.
        """
        from gluebench.scoring.plots import Row, forest

        rows = []
        for system in self.systems:
            note = self.value_words(system.value)
            if system.rank is None:
                note = "not ranked: a score is missing"
            ranks = (system.rank, system.rank_low, system.rank_high)
            rows.append(Row(system.name, *ranks, note, filled=system.rank_low is not None))
        axis = "observed rank, with the 95 % rank set"
        if self.withheld:
            axis = f"observed rank; rank sets are withheld: {self.withheld}"
        ax = forest([rows], title=self._title, axis=axis, ax=ax)
        ax.set_xlim(0.5, len(self.systems) + 0.5)
        ax.locator_params(axis="x", integer=True)
        return ax


def rank(
    submissions: Mapping[str, Run | Sequence[Run]] | Sequence[str],
    gold: Labels,
    *,
    by: Rule | None = None,
    weights: Mapping[str, float] | None = None,
    missing: Missing = "unranked",
    majority: Sequence[str] = (),
    benchmark: Benchmark | Path = "glue",
) -> Ranking:
    """Rank two or more systems on the scored tasks.

    `submissions` maps the name of a system to its submission, or to those of several runs, whose scores are
    averaged; these, `gold` and `benchmark` are as in `grade`. With a scored table as `gold`, a sequence of
    names of systems in it does. `by` is the rule, by default the benchmark's. `weights` maps tasks to
    weights, by default 1; a task of weight 0 is left out. On the tasks of `majority` every system's
    predictions are replaced by the most frequent gold label, as section 6 of the paper does for WNLI.
    The rank sets of all systems hold together in 95 % of test sets (docs/how-to/ranking.md). Raises
    SubmissionError, GoldError, DataError, UnknownNameError and ValueError.
    """
    named_systems = dict(
        sorted(systems_by_name(submissions).items())
    )  # else equal systems are in the order given
    if len(named_systems) < 2:
        raise ValueError(f"found {len(named_systems)} system; expected at least two to rank")
    labels = gold_of(gold, benchmark, *named_systems.values())
    suite = labels.benchmark
    by = by or suite.rank_by
    if isinstance(labels, TableGold):
        require_possible(labels, by, weights=weights, majority=majority)
    majority_tasks = [suite.task(name) for name in majority]
    weight_of = _weight_of(suite, weights or {})
    tasks = _tasks_that_count(labels, weight_of)
    if weights and not tasks:
        raise DataError("all tasks have the weight 0; expected one above 0 for at least one task")
    _refuse_losses_among_scores(tasks)

    plan = BoardPlan.of_tasks(tasks)
    systems = read_systems(named_systems, labels, plan, majority=majority_tasks)
    profile = Profile(
        systems=tuple(named_systems),
        tasks=tuple(task.name for task in tasks),
        scores=score_rows(np.array([of_runs.mean(axis=0) for of_runs in systems.scores])),
        weights=tuple(weight_of.get(task.name, 1.0) for task in tasks) if weight_of else None,
        scales=scales(systems.scores, plan.variances(systems.means)),
    )
    whole = fill_missing(profile, missing)
    order = rank_by_rule(whole, by)
    ranked = [at for at in board_order(order.ranks, lowest_first=True) if order.ranks[at] is not None]
    averages = np.array(order.higher_is_better(by), np.float64)[ranked]

    withheld = systems.withheld or _why_untested(whole, ranked, systems.runs, by)
    decisions = None
    if ranked and withheld is None:
        decisions = _decisions(whole, averages, by, ranked, plan, systems)
    warnings = list(systems.warnings)
    if order.note:
        warnings.insert(0, order.note)
    if len(ranked) > PAIRS_UP_TO:
        warnings.append(f"pairs are listed for up to {PAIRS_UP_TO:,} systems")
    rankings = rank_by_every_rule(profile, missing)
    ranked_systems = _ranked_systems(profile, order, systems.runs, ranked, decisions, withheld)
    return Ranking(
        benchmark=suite.name,
        split=labels.role,
        by=by,
        missing=missing,
        majority=tuple(task.name for task in majority_tasks),
        tasks=whole.tasks,
        weights=whole.weights,
        scales=whole.scales,
        systems=ranked_systems,
        may_be_best=tuple(system.name for system in ranked_systems if system.rank_low == 1),
        pairs=tuple(_pairs(ranked_systems, averages, decisions)),
        rules={name: dict(zip(profile.systems, row.ranks, strict=True)) for name, row in rankings.items()},
        survival=survives(whole, rankings),
        warnings=tuple(warnings),
        provenance={**provenance(labels), "schema": Ranking.SCHEMA},
        loss=any(task.loss for task in tasks) or None,
        withheld=withheld,
    )


def _weight_of(suite: Benchmark, weights: Mapping[str, float]) -> dict[str, float]:
    """The weight of each task that the manifest or the caller gives one; empty if none is given."""
    weight_of = {task.name: task.weight for task in suite.scored if task.weight not in (0, 1)}
    for name, weight in weights.items():
        weight_of[suite.task(name).name] = weight
    return weight_of


def _tasks_that_count(gold: Gold, weight_of: Mapping[str, float]) -> list[Task]:
    """The scored tasks with a weight above 0, and gold labels for all their metrics."""
    tasks = []
    for task in gold.benchmark.scored:
        has_gold = all(metric.file in gold.columns for metric in task.metrics)
        if has_gold and weight_of.get(task.name, task.weight):
            tasks.append(task)
    return tasks


def _refuse_losses_among_scores(tasks: Sequence[Task]) -> None:
    """Raise DataError for tasks of losses beside tasks of scores, which no average can join."""
    losses = ", ".join(task.name for task in tasks if task.loss)
    scores = ", ".join(task.name for task in tasks if not task.loss)
    if losses and scores:
        expected = f"expected the weight 0 for these, or for {scores}: --weights TASK=0"
        raise DataError([f"{losses}: losses cannot be ranked together with scores; {expected}"])


def scales(scores: Sequence[Floats], variances: Floats) -> tuple[float, ...]:
    """The standard deviation of each task's scores over all systems, each of which counts the same.

    A system with several runs, of `scores` of shape (runs, tasks), has their variance; one with a single run
    that over the choice of examples, of `variances`, shape (systems, tasks).
    """
    means = np.ma.masked_invalid([of_runs.mean(axis=0) for of_runs in scores])
    within = np.array(variances)
    for at, of_runs in enumerate(scores):
        if len(of_runs) > 1:
            within[at] = of_runs.var(axis=0)
    both = means.var(axis=0) + np.ma.masked_array(within, means.mask).mean(axis=0)
    return tuple(np.sqrt(both).filled(0.0).tolist())


def _why_untested(whole: Profile, ranked: Sequence[int], runs: Sequence[int], by: Rule) -> str | None:
    """Why the ranked systems are not tested against each other; None if they are."""
    if by not in TESTED:
        return UNTESTED
    if len(ranked) < 2:
        return ONLY_ONE_RANKED
    if any(None in whole.scores[at] for at in ranked):
        return OTHER_TASKS
    numbers_of_runs = {runs[at] for at in ranked}
    if 1 in numbers_of_runs and len(numbers_of_runs) > 1:
        return OTHER_RUNS
    return None


def _decisions(
    whole: Profile,
    averages: Floats,
    by: Rule,
    ranked: Sequence[int],
    plan: BoardPlan,
    systems: MeasuredSystems,
) -> Decisions:
    """Decide all pairs of ranked systems; `whole` has the scores that count, missing ones filled in."""
    means = np.array([of_runs.mean(axis=0) for of_runs in systems.scores])
    shares = np.array(whole.weight) / sum(whole.weight)
    if by == "rank-score":
        shares /= whole.scale
    variances = PairVariances(len(ranked))
    share_of_part: dict[str, float] = {}
    for place, task in enumerate(plan.scored):
        if task.name not in whole.tasks:
            continue
        share = float(shares[whole.tasks.index(task.name)])
        # A score that is filled in is that of the lowest system.
        lowest = int(np.nanargmin(means[:, place]))
        sources = [lowest if np.isnan(means[at, place]) else at for at in ranked]
        for weighted in plan.boards[task.name]:
            influences = [systems.means[at].influences[weighted.part] for at in sources]
            part = PartInfluences(influences, weighted.metrics)
            variances.add(part.covariances(), part.units, share)
            share_of_part[weighted.part] = share * sum(weighted.metrics)
    runs = _run_variances([systems.tests[at] for at in ranked], share_of_part)
    return decide(variances.deviates(averages, runs))


def _run_variances(
    systems: Sequence[Mapping[str, RunsTest]], shares: Mapping[str, float]
) -> RunVariances | None:
    """The variances of averages over the choice of runs; None if the systems have a single run.

    `systems` has the test of each part of the test data that a system has, and `shares` the part's share of
    the averages.
    """
    if not systems[0]:
        return None
    own = np.zeros(len(systems))
    counted = np.zeros(len(systems))
    df = np.ones(len(systems))
    for row, tests in enumerate(systems):
        weights = [shares[part] for part in tests if part in shares]
        average = mean_runs([test for part, test in tests.items() if part in shares], weights)
        # `mean_runs` takes the weights as shares of their sum.
        own[row] = average.seeds * sum(weights) ** 2
        if own[row] > 0:
            counted[row] = average.variances[0] * sum(weights) ** 2
        df[row] = len(average.runs[0]) - 1
    return RunVariances(own, counted, counted**2 / df)


def _ranked_systems(
    profile: Profile,
    order: RuleRanking,
    runs: Sequence[int],
    ranked: Sequence[int],
    decisions: Decisions | None,
    withheld: str | None,
) -> tuple[RankedSystem, ...]:
    """The systems by rank; those without a rank last."""

    def without_rank_set(at: int, withheld: str | None) -> RankedSystem:
        return RankedSystem(
            name=profile.systems[at],
            rank=order.ranks[at],
            rank_low=None,
            rank_high=None,
            indistinguishable=None,
            value=order.values[at],
            scores=dict(zip(profile.tasks, profile.scores[at], strict=True)),
            runs=runs[at],
            withheld=withheld,
        )

    systems = [without_rank_set(at, withheld) for at in ranked]
    if decisions is not None:
        lowest, highest = rank_sets(decisions.better)
        names = [system.name for system in systems]
        for row, system in enumerate(systems):
            alike = tuple(names[other] for other in not_different(decisions.better, row))
            systems[row] = replace(
                system, rank_low=int(lowest[row]), rank_high=int(highest[row]), indistinguishable=alike
            )
    for at, rank in enumerate(order.ranks):
        if rank is None:
            systems.append(without_rank_set(at, UNRANKED))
    return tuple(systems)


def _pairs(systems: Sequence[RankedSystem], averages: Floats, decisions: Decisions | None) -> Iterator[Pair]:
    """Yield the tests of all pairs, in the order of the ranks."""
    if decisions is None or len(averages) > PAIRS_UP_TO:
        return
    p = p_values(decisions.z)
    alone = p.tolist()
    adjusted = decisions.adjusted(p).tolist()
    values = averages.tolist()
    for i, j in combinations(range(len(values)), 2):
        difference = values[i] - values[j]
        yield Pair(systems[i].name, systems[j].name, difference, alone[i][j], adjusted[i][j])
