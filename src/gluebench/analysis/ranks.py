"""Many systems ranked over a suite: how sure each rank is, who is tied, and what depends on the rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from gluebench.analysis.aggregate import Missing, Profile, Rule, every_rule, filled, standing, survives
from gluebench.analysis.joint.pairwise import Pair, all_pairs, groups, told_ranks
from gluebench.analysis.joint.rules import KEMENY_UP_TO, filled_draws, ranks, values
from gluebench.analysis.joint.suite import suite_draws
from gluebench.analysis.majority import with_majority
from gluebench.analysis.rank_records import PairRecord, RankedSystem, Ranking
from gluebench.benchmark import Benchmark, Role, Task
from gluebench.scoring import Gold, grade
from gluebench.scoring.draws import Floats, Ints
from gluebench.scoring.provenance import provenance
from gluebench.submission import Submission
from gluebench.submission.values import submission_of

SHARES = (0.025, 0.975)


def rank(
    submissions: Mapping[str, Submission | Mapping[str, object]],
    gold: Gold,
    *,
    by: Rule = "mean",
    weights: Mapping[str, float] | None = None,
    missing: Missing = "unranked",
    majority: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
    approximate: bool = False,
) -> Ranking:
    """Rank two or more systems, given by name, on the scored tasks.

    `weights` are of tasks, those not named counting 1; a task that weighs 0 is left out. On the tasks of
    `majority` every system is taken to answer the most frequent gold label, as section 6 of the paper does
    for WNLI. Rank intervals come from resamples that are the same for all systems. With `approximate` the
    resamples of large test files are drawn from their normal limit (docs/ranking.md). Raises SubmissionError,
    GoldError, DataError, UnknownNameError and ValueError.
    """
    found = rankings(
        submissions,
        gold,
        rules=(by,),
        weights=weights,
        missing=missing,
        majority=majority,
        resamples=resamples,
        seed=seed,
        approximate=approximate,
    )
    return found[by]


def rankings(
    submissions: Mapping[str, Submission | Mapping[str, object]],
    gold: Gold,
    *,
    rules: Sequence[Rule],
    weights: Mapping[str, float] | None = None,
    missing: Missing = "unranked",
    majority: Sequence[str] = (),
    resamples: int = 1000,
    seed: int = 0,
    approximate: bool = False,
) -> dict[Rule, Ranking]:
    """As `rank` by each of these rules, all from the same resamples, which are drawn once."""
    benchmark = gold.benchmark
    if len(submissions) < 2:
        raise ValueError(f"found {len(submissions)} system; expected at least two to rank")
    given = [_submission(each, benchmark, gold.role) for each in submissions.values()]
    reports = [grade(each, gold, resamples=0) for each in given]
    convention = [benchmark.task(name) for name in majority]
    if convention:
        given = [with_majority(each, convention, gold) for each in given]
        reports = [grade(each, gold, resamples=0) for each in given]
    weigh = {benchmark.task(name).name: weight for name, weight in (weights or {}).items()}
    tasks = _counted(benchmark, weigh, gold)
    scores = tuple(tuple(_value(report.tasks[task.name].score) for task in tasks) for report in reports)
    profile = Profile(
        tuple(submissions),
        tuple(task.name for task in tasks),
        scores,
        tuple(weigh.get(task.name, 1.0) for task in tasks) if weigh else None,
    )
    drawn = suite_draws(tasks, given, gold, resamples=resamples, seed=seed, approximate=approximate)
    warnings = sorted(
        {
            f"{name}: {warning}"
            for name, report in zip(submissions, reports, strict=True)
            for warning in report.warnings
        }
    )
    source = {**provenance(gold, resamples=resamples, seed=seed), "schema": Ranking.SCHEMA}
    return {
        by: replace(
            found,
            benchmark=benchmark.name,
            split=gold.role,
            majority=tuple(task.name for task in convention),
            warnings=(*found.warnings, *warnings),
            provenance={**source, "approximate": approximate},
        )
        for by in rules
        for found in [_ranking(profile, drawn, by=by, missing=missing)]
    }


def _submission(given: Submission | Mapping[str, object], benchmark: Benchmark, role: Role) -> Submission:
    return given if isinstance(given, Submission) else submission_of(given, benchmark, role=role)


def _counted(benchmark: Benchmark, weights: Mapping[str, float], gold: Gold) -> list[Task]:
    """The scored tasks of which there are labels, but for those that weigh nothing."""
    return [
        task
        for task in benchmark.scored
        if weights.get(task.name, 1.0) != 0 and all(metric.file in gold.columns for metric in task.metrics)
    ]


def _value(score: object) -> float | None:
    value = getattr(score, "value", None)
    return None if value is None else float(value)


def _ranking(profile: Profile, drawn: Floats, *, by: Rule, missing: Missing) -> Ranking:
    """Everything but where it comes from."""
    whole = filled(profile, missing)
    order = standing(whole, by)
    weight = np.array(profile.weight)
    if missing == "shared":
        weight = weight[[task in whole.tasks for task in profile.tasks]]
    complete = filled_draws(drawn, missing)
    ranked = [at for at, each in enumerate(order.ranks) if each is not None]
    warnings = [order.note] if order.note else []
    placed: Ints | None = None
    if by == "kemeny" and len(ranked) > KEMENY_UP_TO:
        warnings.append(f"Rank intervals of the Kemeny order are given for up to {KEMENY_UP_TO} systems.")
    elif ranked:
        placed = ranks(values(by, complete, weight)[ranked])
    pairs: tuple[Pair, ...] = ()
    if by == "mean":
        averages = [order.values[at] or 0.0 for at in ranked]
        pairs = all_pairs(averages, values("mean", complete, weight)[ranked]) if ranked else ()
    standings = every_rule(profile, missing)
    systems = _systems(profile, order.values, order.ranks, ranked=ranked, placed=placed, pairs=pairs)
    names = [profile.systems[at] for at in ranked]
    return Ranking(
        benchmark="",
        split="test",
        by=by,
        missing=missing,
        majority=(),
        tasks=whole.tasks,
        weights=whole.weights,
        systems=systems,
        pairs=tuple(
            PairRecord(names[pair.a], names[pair.b], pair.difference, pair.p, pair.adjusted) for pair in pairs
        ),
        rules={name: dict(zip(profile.systems, each.ranks, strict=True)) for name, each in standings.items()},
        survival=survives(whole, standings),
        warnings=tuple(warnings),
        provenance={},
    )


def _systems(
    profile: Profile,
    found: Sequence[float | None],
    order: Sequence[int | None],
    *,
    ranked: Sequence[int],
    placed: Ints | None,
    pairs: Sequence[Pair],
) -> tuple[RankedSystem, ...]:
    """From the top; those without a rank last."""
    at_rank = {system: position for position, system in enumerate(ranked)}
    descending = sorted(range(len(ranked)), key=lambda position: order[ranked[position]] or 0)
    tied = {position: group for group in groups(descending, pairs) for position in group.systems}
    told = told_ranks(range(len(ranked)), pairs)

    def record(system: int) -> RankedSystem:
        name, scores = profile.systems[system], dict(zip(profile.tasks, profile.scores[system], strict=True))
        position = at_rank.get(system)
        if position is None:
            return RankedSystem(name, None, None, scores)
        low, high, first = _interval(placed[position]) if placed is not None else (None, None, None)
        group = tied[position] if pairs else None
        return RankedSystem(
            name,
            order[system],
            found[system],
            scores,
            low=low,
            high=high,
            first=first,
            group=(group.first, group.last) if group else None,
            told=told[position] if pairs else None,
        )

    unranked = [system for system in range(len(profile.systems)) if system not in at_rank]
    return tuple(record(system) for system in [*(ranked[position] for position in descending), *unranked])


def _interval(places: Ints) -> tuple[int, int, float]:
    """The ranks that hold 95 % of the resamples between them, and how often it came first."""
    low = int(np.quantile(places, SHARES[0], method="lower"))
    high = int(np.quantile(places, SHARES[1], method="higher"))
    return low, high, float(np.mean(places == 1))
