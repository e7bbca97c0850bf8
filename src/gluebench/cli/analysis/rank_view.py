"""A ranking as tables: the board, what depends on the rule, and all pairs."""

from collections.abc import Iterator, Mapping, Sequence

from gluebench.analysis.rank import Ranking
from gluebench.analysis.rank.ranking import FIELDS
from gluebench.analysis.rank.rules import LOWER, MISSING, TITLES, Cost, pareto_front
from gluebench.benchmark import Benchmark
from gluebench.benchmark.figures import DOWN, on_split, points
from gluebench.cli.analysis.compare import p_cell
from gluebench.cli.common.output import Output, Section, Table

WITHHELD = "Rank intervals and shares of first places are withheld: {}."
SHOWN = 20
"""Largest number of contested pairs to list."""


def ranking_output(
    ranking: Ranking, benchmark: Benchmark, *, costs: Mapping[str, Cost] | None, matrix: bool
) -> Output:
    """The ranking in every form."""
    data = ranking.as_dict()
    fronts = None
    if costs is not None:
        costs = {entry.name: costs.get(entry.name, Cost(None, None)) for entry in ranking.systems}
        fronts = _fronts(ranking, list(costs.values()))
        for system in data["systems"]:
            system |= {**costs[system["name"]]._asdict(), "front": fronts[system["name"]]}
    tables = [_board(ranking, benchmark, costs or {}, fronts)]
    tables += [_rules(ranking)] * (len(ranking.tasks) > 1)
    if matrix and ranking.pairs:
        rows = [
            (pair.a, pair.b, points(pair.difference, ranking.loss), p_cell(pair.p), p_cell(pair.adjusted))
            for pair in ranking.pairs
        ]
        columns = ("A", "B", "A - B", "p", "p (Holm)")
        tables.append(Table(columns, [Section(rows)], "All pairs, paired by example", right={2, 3, 4}))
    return Output(data, tables, (*FIELDS, *ranking.tasks), ranking.records(), words=["", *_words(ranking)])


def _fronts(ranking: Ranking, costs: Sequence[Cost]) -> dict[str, bool | None]:
    """Whether each system is Pareto-optimal; costs without any value are ignored."""
    sign = -1 if ranking.by in LOWER else 1
    scores = [None if entry.value is None else sign * entry.value for entry in ranking.systems]
    filled = [at for at in range(2) if any(cost[at] is not None for cost in costs)]
    front = pareto_front(scores, [[cost[at] for at in filled] for cost in costs])
    return dict(zip([entry.name for entry in ranking.systems], front, strict=True))


def _board(
    ranking: Ranking,
    benchmark: Benchmark,
    costs: Mapping[str, Cost],
    fronts: Mapping[str, bool | None] | None,
) -> Table:
    of_one = ranking.by == "mean" and _is_table(ranking) and len(ranking.tasks) == 1
    by = "mean" if of_one else TITLES[ranking.by]
    value = by + DOWN * bool(ranking.loss and ranking.by not in LOWER)
    interval, first = ([], []) if ranking.withheld else (["95 %"], ["first in"])
    columns = ["rank", *interval, "system", value, *first]
    columns += ["tied"] * bool(ranking.pairs) + ["parameters", "latency", "front"] * (fronts is not None)
    rows = []
    for system in ranking.systems:
        row = ["-" if system.rank is None else str(system.rank)]
        row += ["" if system.low is None else _span(system.low, system.high or system.low)] * len(interval)
        row += [system.name, ranking.value_words(system.value)]
        row += ["" if system.first is None else f"{100 * system.first:.0f} %"] * len(first)
        row += [_span(*system.group) if system.group else ""] * bool(ranking.pairs)
        if fronts is not None:
            row += [*("-" if part is None else f"{part:,g}" for part in costs[system.name])]
            row += [{True: "yes", False: "no", None: ""}[fronts[system.name]]]
        rows.append(row)
    return Table(
        columns,
        [Section(rows)],
        title=f"{_where(ranking, benchmark)} by {by}",
        right={at for at, name in enumerate(columns) if name not in ("system", "front")},
        notes=[*_notes(ranking, benchmark)],
    )


def _is_table(ranking: Ranking) -> bool:
    """Whether a scored table takes the place of a benchmark, which has no splits."""
    return "uncertainty" in ranking.provenance


def _where(ranking: Ranking, benchmark: Benchmark) -> str:
    """The benchmark or table and its tasks; of a table of one task, how many rows it has."""
    one_of_table = _is_table(ranking) and len(ranking.tasks) == 1
    size = f" ({benchmark.tasks[0].splits['test'].size:,})" if one_of_table else ""
    where = on_split(benchmark.title, ranking.split, ranking.provenance)
    return f"{where}: {ranking.task_words}{size}"


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _notes(ranking: Ranking, benchmark: Benchmark) -> Iterator[str]:
    if ranking.withheld:
        yield WITHHELD.format(ranking.withheld)
    left_out = [task.name for task in benchmark.averaged if task.name not in ranking.tasks]
    if left_out:
        yield f"Left out: {', '.join(left_out)}. This is not the benchmark's macro-average."
    if ranking.weights is not None:
        weights = zip(ranking.tasks, ranking.weights, strict=True)
        yield f"Weights: {', '.join(f'{task} {weight:g}' for task, weight in weights)}."
    runs = {system.name: system.runs for system in ranking.systems if system.runs > 1}
    if runs:
        yield f"Means over runs: {', '.join(f'{name} {number}' for name, number in runs.items())}."
    for task in ranking.majority:
        yield f"{task}: every system is taken to answer the most frequent label (section 6 of the paper)."
    if any(None in system.scores.values() for system in ranking.systems):
        yield f"Missing scores: {MISSING[ranking.missing]}."
    if ranking.by == "rank-score" and ranking.scales:
        scales = [f"{task} {points(of)}" for task, of in zip(ranking.tasks, ranking.scales, strict=True)]
        yield (
            "Rank score: 1 + the mean distance to the best of these systems, in standard deviations over "
            f"systems and runs: {', '.join(scales)}."
        )
    if any(system.group and system.group[0] < system.group[1] for system in ranking.systems):
        yield "Tied: among these places the order may be chance, by the tests of all pairs after Holm."


def _rules(ranking: Ranking) -> Table:
    """Ranks under each rule, systems down and the rules and the tasks left out across."""
    titles = [TITLES.get(rule, rule.replace("mean without ", "- ")) for rule in ranking.rules]
    rows = [
        (system.name, *(str(ranks[system.name] or "-") for ranks in ranking.rules.values()))
        for system in ranking.systems
    ]
    return Table(
        ("system", *titles),
        [Section(rows)],
        title="Rank under each rule; a dash before a task is the macro-average without it",
        right=range(1, len(titles) + 1),
    )


def _words(ranking: Ranking) -> Iterator[str]:
    """How many orders of two systems hold under every rule, and what contests the others."""
    if scope := ranking.provenance.get("uncertainty"):
        yield scope
    holds, contested = ranking.survival.holds, ranking.survival.contested
    count = len(holds) + len(contested)
    if not count or len(ranking.tasks) == 1:
        return
    yield f"{len(holds)} of {count} orders of two systems hold under every rule."
    for verdict in contested[:SHOWN]:
        if len(verdict.unless) == len(ranking.rules):
            yield f"{verdict.ahead} and {verdict.behind} are equal under every rule."
            continue
        rules = [TITLES.get(rule, rule.replace("mean", "macro-average")) for rule in verdict.unless]
        yield f"{verdict.ahead} is ahead of {verdict.behind}, but not by {', '.join(rules)}."
    if len(contested) > SHOWN:
        yield f"{len(contested) - SHOWN} more are contested; --json has them all."
