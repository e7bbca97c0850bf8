"""A ranking as tables: the board, what depends on the rule, and all pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from gluebench.analysis.rank import Ranking
from gluebench.analysis.rank.ranking import FIELDS, VALUES
from gluebench.analysis.rank.rules import MISSING, Cost, Verdict, pareto_front
from gluebench.benchmark import Benchmark
from gluebench.cli.analysis.compare import p_cell
from gluebench.cli.common.output import Output, Records, Section, Table, percent

SHOWN = 20
"""Contested pairs that are spelt out."""


def ranking_output(
    ranking: Ranking, benchmark: Benchmark, *, costs: Mapping[str, Cost] | None, matrix: bool
) -> Output:
    """The ranking in every form."""
    fronts = None if costs is None else _fronts(ranking, costs)
    tables = [_board(ranking, benchmark, costs or {}, fronts=fronts), _rules(ranking)]
    if matrix and ranking.pairs:
        tables.append(_pairs(ranking))
    data = ranking.as_dict()
    if costs is not None and fronts is not None:
        for system in data["systems"]:
            cost = costs.get(system["name"], Cost(None, None))
            system |= {**cost._asdict(), "front": fronts[system["name"]]}
    records = Records.of((*FIELDS, *ranking.tasks), ranking.records())
    return Output(data, tuple(tables), records, words=("", *_words(ranking)))


def _fronts(ranking: Ranking, costs: Mapping[str, Cost]) -> dict[str, bool | None]:
    lower = ranking.by in ("borda", "kemeny")
    scores = [
        None if entry.value is None else -entry.value if lower else entry.value for entry in ranking.systems
    ]
    names = [entry.name for entry in ranking.systems]
    rows = [tuple(costs.get(name, Cost(None, None))) for name in names]
    named = [at for at in range(2) if any(row[at] is not None for row in rows)]  # a column nobody filled in
    front = pareto_front(scores, [[row[at] for at in named] for row in rows])
    return dict(zip(names, front, strict=True))


def _board(
    ranking: Ranking,
    benchmark: Benchmark,
    costs: Mapping[str, Cost],
    *,
    fronts: Mapping[str, bool | None] | None,
) -> Table:
    columns = ["rank", "95 %", "system", VALUES[ranking.by], "first in"]
    columns += ["tied"] * bool(ranking.pairs) + ["parameters", "latency", "front"] * (fronts is not None)
    rows = []
    for system in ranking.systems:
        row = [
            "-" if system.rank is None else str(system.rank),
            "" if system.low is None else _span(system.low, system.high or system.low),
            system.name,
            ranking.value_words(system.value),
            "" if system.first is None else f"{100 * system.first:.0f} %",
        ]
        row += [_span(*system.group) if system.group else ""] * bool(ranking.pairs)
        if fronts is not None:
            cost = costs.get(system.name, Cost(None, None))
            row += [*("-" if part is None else f"{part:,g}" for part in cost)]
            row += [{True: "yes", False: "no", None: ""}[fronts[system.name]]]
        rows.append(tuple(row))
    return Table(
        columns=tuple(columns),
        sections=(Section(tuple(rows)),),
        title=f"{benchmark.title}, {ranking.split} split: {len(ranking.tasks)} tasks by {VALUES[ranking.by]}",
        right=frozenset(at for at, name in enumerate(columns) if name not in ("system", "front")),
        notes=tuple(_notes(ranking, benchmark)),
    )


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}-{high}"


def _notes(ranking: Ranking, benchmark: Benchmark) -> Iterator[str]:
    left_out = [task.name for task in benchmark.scored if task.name not in ranking.tasks]
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
    if any(system.group and system.group[0] < system.group[1] for system in ranking.systems):
        yield "Tied: among these places the order may be chance, by the tests of all pairs after Holm."


def _rules(ranking: Ranking) -> Table:
    """Ranks under each rule, systems down and the four rules and the tasks left out across."""
    rules = list(ranking.rules)
    titles = [VALUES.get(rule, rule.replace("mean without ", "- ")) for rule in rules]
    rows = tuple(
        (system.name, *(str(ranking.rules[rule][system.name] or "-") for rule in rules))
        for system in ranking.systems
    )
    return Table(
        columns=("system", *titles),
        sections=(Section(rows),),
        title="Rank under each rule; a dash before a task is the macro-average without it",
        right=frozenset(range(1, len(rules) + 1)),
    )


def _pairs(ranking: Ranking) -> Table:
    rows = tuple(
        (pair.a, pair.b, percent(pair.difference), p_cell(pair.p), p_cell(pair.adjusted))
        for pair in ranking.pairs
    )
    return Table(
        columns=("A", "B", "A - B", "p", "p (Holm)"),
        sections=(Section(rows),),
        title="All pairs, paired by example",
        right=frozenset({2, 3, 4}),
    )


def _words(ranking: Ranking) -> Iterator[str]:
    holds, contested = ranking.survival.holds, ranking.survival.contested
    count = len(holds) + len(contested)
    if not count:
        return
    yield f"{len(holds)} of {count} orders of two systems hold under every rule."
    for verdict in contested[:SHOWN]:
        yield _contested(verdict)
    if len(contested) > SHOWN:
        yield f"{len(contested) - SHOWN} more are contested; --json has them all."


def _contested(verdict: Verdict) -> str:
    rules = [VALUES.get(rule, rule.replace("mean", "macro-average")) for rule in verdict.unless]
    return f"{verdict.ahead} is ahead of {verdict.behind}, but not by {', '.join(rules)}."
