"""Rank systems over a suite: rank intervals, ties, and pairs whose order depends on the rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gluebench.analysis.rank.arrays import filled_draws, values
from gluebench.analysis.rank.rules import (
    LOWER,
    TITLES,
    Missing,
    Profile,
    Standing,
    Survival,
    every_rule,
    filled,
    known,
    standing,
    survives,
)
from gluebench.analysis.rank.uncertainty import (
    Errors,
    Pair,
    Resampled,
    Systems,
    all_pairs,
    as_shown,
    groups,
    pair_errors,
    rank_ranges,
    read_systems,
    require_possible,
    resampled,
    scales,
    with_runs,
)
from gluebench.benchmark.figures import DOWN, on_split, percent
from gluebench.benchmark.records import Benchmark, Rule
from gluebench.data import DataError
from gluebench.scoring import Gold
from gluebench.scoring.grade import Labels, Path, Run, gold_of, named
from gluebench.scoring.notebook import html_table, to_frame
from gluebench.scoring.report import fields_of, provenance
from gluebench.scoring.table import TableGold
from gluebench.scoring.units.base import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIELDS = (
    "rank", "low", "high", "system", "runs", "value", "first", "group_first", "group_last", "joint_low",
    "joint_high",
)  # fmt: skip
"""Columns of a ranking as one table; those of the tasks follow."""
SHARES = (0.025, 0.975)
KEMENY_UP_TO = 8
"""Largest number of systems for which the Kemeny order of every resample is computed."""


@dataclass(frozen=True, slots=True)
class RankedSystem:
    """One system on the board."""

    name: str
    rank: int | None
    """From 1; tied systems share their best rank. None if the rule for missing scores gives no rank."""
    value: float | None
    """What it is ranked by: a mean or median score (a fraction), a mean rank, a place, or a rank score."""
    scores: Mapping[str, float | None]
    """Task to score."""
    runs: int = 1
    """Number of runs averaged."""
    low: int | None = None
    high: int | None = None
    """The 95 % interval of the rank over the resamples."""
    first: float | None = None
    """Share of the resamples in which it ranked first, alone or tied."""
    group: tuple[int, int] | None = None
    """First and last place of its group of tied systems; only for the macro-average."""
    joint: tuple[int, int] | None = None
    """Lowest and highest rank consistent with the tests of all pairs; these intervals are simultaneous."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The result of `rank`."""

    SCHEMA: ClassVar[str] = "gluebench.ranking/1"

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
    """The standard deviation of each task's scores over systems and their runs or resamples."""
    systems: tuple[RankedSystem, ...]
    """By rank; systems without a rank last."""
    pairs: tuple[Pair[str], ...]
    """Tests of all pairs of ranked systems; empty unless they are ranked by their mean."""
    rules: Mapping[str, Mapping[str, int | None]]
    """Rule to system to rank: all rules, and the mean without each task in turn."""
    survival: Survival
    """Pairs whose order is the same under all rules, and the other pairs."""
    warnings: tuple[str, ...]
    provenance: Mapping[str, Any]
    loss: bool | None = None
    """True if the scores are negated losses, else None."""
    withheld: str | None = None
    """Why no rank has an interval or a share of first places; None if they have."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values in a fixed order; numbers are fractions."""
        values = {"schema": self.SCHEMA, **fields_of(self, optional=("loss", "withheld"))}
        survival = values.pop("survival")
        return {**values, **survival}

    def __repr__(self) -> str:
        first = [system.name for system in self.systems if system.rank == 1]
        head = f"first: {', '.join(first[:3])}{', ...' * (len(first) > 3)}" if first else "none with a rank"
        what = f"{len(self.systems)} systems on {self.benchmark} {self.split}"
        return f"<Ranking of {what} by {TITLES[self.by]}, {head}>"

    def records(self) -> Iterator[dict[str, object]]:
        """A record of FIELDS for each system, with its score on each task."""
        for system in self.systems:
            group, joint = system.group or (None, None), system.joint or (None, None)
            own = (system.rank, system.low, system.high, system.name, system.runs, system.value, system.first)
            values = dict(zip(FIELDS, (*own, *group, *joint), strict=True))
            yield {**values, **{task: system.scores.get(task) for task in self.tasks}}

    def to_pandas(self) -> Any:
        """A DataFrame with a row for each system; see FIELDS. Raises ImportError without pandas."""
        return to_frame((*FIELDS, *self.tasks), self.records())

    def value_words(self, value: float | None) -> str:
        """Format the value a system is ranked by: a score times 100, a loss, a mean rank, or a place."""
        if self.by not in LOWER:
            return percent(value, self.loss)
        return "-" if value is None else f"{value:.{0 if self.by == 'kemeny' else 2}f}"

    @property
    def task_words(self) -> str:
        """The name of the only task, or the number of tasks."""
        return self.tasks[0] if len(self.tasks) == 1 else f"{len(self.tasks)} tasks"

    def _repr_html_(self) -> str:
        rows = [
            (
                system.name,
                "-" if system.rank is None else str(system.rank),
                "" if system.low is None else f"{system.low} to {system.high}",
                self.value_words(system.value),
                *(percent(system.scores.get(task), self.loss) for task in self.tasks),
            )
            for system in self.systems
        ]
        return html_table(self._title, ("system", "rank", "95 %", TITLES[self.by], *self.tasks), rows)

    @property
    def _title(self) -> str:
        down = DOWN * bool(self.loss and self.by not in LOWER)
        where = on_split(self.benchmark, self.split, self.provenance)
        return f"{where}: {self.task_words} by {TITLES[self.by]}{down}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rank of each system with its 95 % interval; a band covers tied systems.

        Needs matplotlib (gluebench[plot]); draws into `ax`, or into a new figure. Returns the Axes.
        """
        from gluebench.scoring.plots import GRID, Row, forest

        rows = []
        for system in self.systems:
            note = "not ranked: a score is missing" if system.rank is None else self.value_words(system.value)
            ends = (system.rank, system.low, system.high)
            rows.append(Row(system.name, *ends, note, filled=system.low is not None))
        interval = f"; intervals are withheld: {self.withheld}" if self.withheld else " with 95 % interval"
        ax = forest([rows], title=self._title, axis=f"rank{interval} (systems on one band are tied)", ax=ax)
        for number, (first, last) in enumerate(dict.fromkeys(filter(None, (s.group for s in self.systems)))):
            if number % 2 == 0:
                ax.axhspan(first - 1.5, last - 0.5, color=GRID, alpha=0.5, zorder=0, linewidth=0)
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
    resamples: int = 1000,
    seed: int = 0,
    benchmark: Benchmark | Path = "glue",
) -> Ranking:
    """Rank two or more systems on the scored tasks.

    `submissions` maps the name of a system to its submission, or to those of several runs, whose scores are
    averaged; these, `gold` and `benchmark` are as in `grade`. With a scored table as `gold`, a sequence of
    names of systems in it does. `by` is the rule, by default the benchmark's. `weights` maps tasks to
    weights, by default 1; a task of weight 0 is left out. On the tasks of `majority` every system's
    predictions are replaced by the most frequent gold label, as section 6 of the paper does for WNLI.
    Rank intervals come from resamples of examples and runs (docs/how-to/ranking.md). Raises SubmissionError,
    GoldError, DataError, UnknownNameError and ValueError.
    """
    systems = named(submissions)
    labels = gold_of(gold, benchmark, *systems.values())
    by = by or labels.benchmark.rank_by
    by_rule = rankings(
        systems,
        labels,
        rules=(by,),
        weights=weights,
        missing=missing,
        majority=majority,
        resamples=resamples,
        seed=seed,
    )
    return by_rule[by]


def rankings(
    submissions: Mapping[str, Run | Sequence[Run]],
    gold: Gold,
    *,
    rules: Sequence[Rule],
    weights: Mapping[str, float] | None = None,
    missing: Missing = "unranked",
    majority: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
    shown: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[Rule, Ranking]:
    """Rank by several rules, each as in `rank`, from one set of resamples.

    `shown` maps system to task to rounded score, where only rounded scores may be published. These are then
    ranked and the resamples are centered on them, so that no rank reveals what rounding hides.
    """
    benchmark = gold.benchmark
    if len(submissions) < 2:
        raise ValueError(f"found {len(submissions)} system; expected at least two to rank")
    if isinstance(gold, TableGold):
        require_possible(gold, rules, weights=weights, majority=majority)
    convention = [benchmark.task(name) for name in majority]
    weight_of = {task.name: task.weight for task in benchmark.scored if task.weight not in (0, 1)}
    weight_of |= {benchmark.task(name).name: weight for name, weight in (weights or {}).items()}
    tasks = [
        task
        for task in benchmark.scored
        if weight_of.get(task.name, task.weight)
        and all(metric.file in gold.columns for metric in task.metrics)
    ]
    if weights and not tasks:
        raise DataError("all tasks have the weight 0; expected one above 0 for at least one task")
    losses = [task.name for task in tasks if task.loss]
    if others := ", ".join(task.name for task in tasks if losses and not task.loss):
        expected = f"expected the weight 0 for these, or for {others}: --weights TASK=0"
        raise DataError([f"{', '.join(losses)}: losses cannot be ranked together with scores; {expected}"])
    systems = read_systems(submissions, gold, tasks, majority=convention)
    exact = Profile(
        systems.names,
        tuple(task.name for task in tasks),
        tuple(tuple(map(known, scores.mean(axis=0).tolist())) for scores in systems.scores),
        tuple(weight_of.get(task.name, 1.0) for task in tasks) if weight_of else None,
    )
    drawn = resampled(tasks, systems, gold, resamples=resamples, seed=seed)
    exact = replace(exact, scales=scales(systems, drawn))
    profile, known_to_all = exact, [task.name for task in convention]
    if shown is not None:
        rows = [  # `shown` has no scores of `majority` tasks; there all systems have the same
            [
                score if task in known_to_all else shown[name].get(task)
                for task, score in zip(exact.tasks, row, strict=True)
            ]
            for name, row in zip(exact.systems, exact.scores, strict=True)
        ]
        # Exact scales would reveal what the rounding of scores hides.
        rough = tuple(round(scale, 3) for scale in exact.scales or ())
        profile = replace(exact, scores=tuple(map(tuple, rows)), scales=rough)
        shift = np.array(profile.scores, float) - np.array(exact.scores, float)
        drawn = drawn._replace(runs=drawn.runs + shift[:, :, np.newaxis])
    base = {
        "benchmark": benchmark.name,
        "split": gold.role,
        "majority": tuple(known_to_all),
        "loss": any(task.loss for task in tasks) or None,
        "provenance": {**provenance(gold, resamples=resamples, seed=seed), "schema": Ranking.SCHEMA},
    }
    return {by: _ranking(profile, exact, systems, drawn, by=by, missing=missing, base=base) for by in rules}


def _ranking(
    profile: Profile,
    exact: Profile,
    systems: Systems,
    drawn: Resampled,
    *,
    by: Rule,
    missing: Missing,
    base: Mapping[str, Any],
) -> Ranking:
    """The ranking by one rule; `base` holds the fields that are the same for all.

    Tests use the `exact` scores; everything else uses the scores of the profile.
    """
    whole = filled(profile, missing)
    order = standing(whole, by)
    weight = np.array(profile.weight)
    ranked = [at for at, place in enumerate(order.ranks) if place is not None]
    withheld, placed = drawn.few or None, None
    if not withheld and by == "kemeny" and len(ranked) > KEMENY_UP_TO:
        withheld = f"those of Kemeny's order are computed for up to {KEMENY_UP_TO} systems"
    if ranked and not withheld:
        placed = ranks(values(by, filled_draws(drawn.runs, missing), weight, profile.scale)[ranked])
    pairs: tuple[Pair[int], ...] = ()
    if by == "mean" and ranked:
        exact_values = standing(filled(exact, missing), by).values
        averages = [exact_values[at] or 0.0 for at in ranked]
        pairs = all_pairs(averages, _errors(systems, drawn, weight, ranked=ranked, missing=missing))
        if profile is not exact:
            pairs = tuple(as_shown(pairs, [order.values[at] or 0.0 for at in ranked]))
    standings = every_rule(profile, missing)
    names = [profile.systems[at] for at in ranked]
    return Ranking(
        **base,
        by=by,
        missing=missing,
        tasks=whole.tasks,
        weights=whole.weights,
        scales=whole.scales,
        systems=_ranked(
            profile, order, list(map(len, systems.runs)), ranked=ranked, placed=placed, pairs=pairs
        ),
        pairs=tuple(Pair(names[a], names[b], *tested) for a, b, *tested in pairs),
        rules={name: dict(zip(profile.systems, row.ranks, strict=True)) for name, row in standings.items()},
        survival=survives(whole, standings),
        warnings=(*([order.note] if order.note else []), *systems.warnings),
        withheld=withheld,
    )


def _errors(
    systems: Systems, drawn: Resampled, weight: Floats, *, ranked: Sequence[int], missing: Missing
) -> Errors:
    """The standard errors of the differences of the ranked systems' weighted averages."""
    examples = filled_draws(drawn.examples, missing)[ranked]
    share = np.where(np.isnan(examples[:, :, 0]), 0.0, weight)
    share /= share.sum(axis=1, keepdims=True)
    errors = pair_errors(np.nan_to_num(examples) * share[:, :, np.newaxis], drawn.units)
    scores = [np.nan_to_num(systems.scores[at]) @ own for at, own in zip(ranked, share, strict=True)]
    shared = (np.nan_to_num(drawn.shared[ranked]) * share**2).sum(axis=1)
    return with_runs(errors, scores, shared)


def _ranked(
    profile: Profile,
    order: Standing,
    runs: Sequence[int],
    *,
    ranked: Sequence[int],
    placed: Ints | None,
    pairs: Sequence[Pair[int]],
) -> tuple[RankedSystem, ...]:
    """The systems by rank; those without a rank last."""
    position_of = {system: position for position, system in enumerate(ranked)}
    descending = sorted(range(len(order.ranks)), key=lambda at: (at not in position_of, order.ranks[at] or 0))
    tied = groups([position_of[system] for system in descending[: len(ranked)]], pairs)
    ranges = rank_ranges(range(len(ranked)), pairs)
    records = []
    for system in descending:
        position = position_of.get(system)
        scores = dict(zip(profile.tasks, profile.scores[system], strict=True))
        name, value = profile.systems[system], order.values[system]
        record = RankedSystem(name, order.ranks[system], value, scores, runs[system])
        if placed is not None and position is not None:
            places = placed[position]
            low = int(np.quantile(places, SHARES[0], method="lower"))
            high = int(np.quantile(places, SHARES[1], method="higher"))
            record = replace(record, low=low, high=high, first=float(np.mean(places == 1)))
        if pairs and position is not None:
            record = replace(record, group=tied[position], joint=ranges[position])
        records.append(record)
    return tuple(records)


def ranks(values: Floats) -> Ints:
    """(ranked systems, resamples): one more than the number of higher values."""
    return np.array([1 + (values > row).sum(axis=0) for row in values])
