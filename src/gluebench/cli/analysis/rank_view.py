"""A ranking as tables: the board, what depends on the rule, and all pairs."""

from collections.abc import Iterator, Mapping, Sequence

from gluebench.analysis.rank import Ranking
from gluebench.analysis.rank.ranking import FIELDS
from gluebench.analysis.rank.rules import LOWER, MISSING, TITLES, Cost, pareto_front
from gluebench.benchmark import Benchmark
from gluebench.benchmark.figures import DOWN, on_split, p_text, points
from gluebench.benchmark.tables import Column, Table, names_and_numbers, numeric
from gluebench.cli.common.output import Output

WITHHELD = "Rank sets are withheld: {}."
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
            system |= costs[system["name"]]._asdict()
            system["front"] = fronts[system["name"]]
    tables = [_board(ranking, benchmark, costs or {}, fronts)]
    if len(ranking.tasks) > 1:
        tables += _rules(ranking)
    if matrix and ranking.pairs:
        tables.append(_matrix(ranking))
    fields = list(FIELDS)
    fields += ranking.tasks
    words = [""]
    words += _conclusions(ranking)
    return Output(data, tables, fields, ranking.records(), words=words)


def _matrix(ranking: Ranking) -> Table:
    columns = (
        "A",
        "B",
        numeric("A - B", lambda difference: points(difference, ranking.loss)),
        numeric("p", p_text),
        numeric("p, all pairs", p_text),
    )
    title = "All pairs: p of the pair alone, and adjusted for all pairs"
    return Table(columns, ranking.pairs, title=title)


def _fronts(ranking: Ranking, costs: Sequence[Cost]) -> dict[str, bool | None]:
    """Whether each system is Pareto-optimal; costs without any value are ignored."""
    sign = -1 if ranking.by in LOWER else 1
    scores = [None if entry.value is None else sign * entry.value for entry in ranking.systems]
    has_parameters = any(cost.parameters is not None for cost in costs)
    has_latency = any(cost.latency is not None for cost in costs)
    known_costs = []
    for cost in costs:
        known: list[float | None] = []
        if has_parameters:
            known.append(cost.parameters)
        if has_latency:
            known.append(cost.latency)
        known_costs.append(known)
    front = pareto_front(scores, known_costs)
    return dict(zip([entry.name for entry in ranking.systems], front, strict=True))


def _board(
    ranking: Ranking,
    benchmark: Benchmark,
    costs: Mapping[str, Cost],
    fronts: Mapping[str, bool | None] | None,
) -> Table:
    of_one = ranking.by == "mean" and _is_table(ranking) and len(ranking.tasks) == 1
    by = "mean" if of_one else TITLES[ranking.by]
    value = by
    if ranking.loss and ranking.by not in LOWER:
        value = by + DOWN
    columns: list[Column | str] = ["rank", "system", numeric(value, ranking.value_words)]
    if fronts is not None:
        columns += [
            numeric("parameters", _cost_cell),
            numeric("latency", _cost_cell),
            Column("front", show=_front_cell),
        ]
    rows = []
    for system in ranking.systems:
        row: list[object] = [system.text, system.name, system.value]
        if fronts is not None:
            row += costs[system.name]
            row.append(fronts[system.name])
        rows.append(row)
    return Table(
        columns,
        rows,
        title=f"{_where(ranking, benchmark)} by {by}",
        notes=_notes(ranking, benchmark),
    )


def _cost_cell(cost: float | None) -> str:
    return "-" if cost is None else f"{cost:,g}"


def _front_cell(is_optimal: bool | None) -> str:
    return {True: "yes", False: "no", None: ""}[is_optimal]


def _is_table(ranking: Ranking) -> bool:
    """Whether a scored table takes the place of a benchmark, which has no splits."""
    return "uncertainty" in ranking.provenance


def _where(ranking: Ranking, benchmark: Benchmark) -> str:
    """The benchmark or table and its tasks; of a table of one task, how many rows it has."""
    name = on_split(benchmark.title, ranking.split, ranking.provenance)
    where = f"{name}: {ranking.task_words}"
    if _is_table(ranking) and len(ranking.tasks) == 1:
        where += f" ({benchmark.tasks[0].splits['test'].size:,})"
    return where


def _notes(ranking: Ranking, benchmark: Benchmark) -> Iterator[str]:
    if ranking.withheld:
        yield WITHHELD.format(ranking.withheld)
    left_out = [task.name for task in benchmark.averaged if task.name not in ranking.tasks]
    if left_out:
        yield f"Left out: {', '.join(left_out)}. This is not the benchmark's macro-average."
    if ranking.weights is not None:
        pairs = zip(ranking.tasks, ranking.weights, strict=True)
        weights = ", ".join(f"{task} {weight:g}" for task, weight in pairs)
        yield f"Weights: {weights}."
    runs = ", ".join(f"{system.name} {system.runs}" for system in ranking.systems if system.runs > 1)
    if runs:
        yield f"Means over runs: {runs}."
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
    if not ranking.withheld:
        yield (
            "Rank: the observed one · the rank set, which are the ranks that the system may truly have. All "
            "rank sets hold together in 95 % of test sets."
        )


WITHOUT = "mean without "
"""What the names of the rules begin with that leave out a task."""


def _rules(ranking: Ranking) -> list[Table]:
    """Ranks under each rule, and by the macro-average without each task: systems down, the others across."""
    rules = [rule for rule in ranking.rules if not rule.startswith(WITHOUT)]
    left_out = [rule for rule in ranking.rules if rule.startswith(WITHOUT)]
    rule_titles = [TITLES.get(rule, rule) for rule in rules]
    tasks = [rule.removeprefix(WITHOUT) for rule in left_out]
    return [
        _ranks(ranking, rules, rule_titles, "Rank under each rule"),
        _ranks(ranking, left_out, tasks, "Rank by the macro-average without one task"),
    ]


def _ranks(ranking: Ranking, rules: Sequence[str], titles: Sequence[str], title: str) -> Table:
    rows = []
    for system in ranking.systems:
        ranks = [ranking.rules[rule][system.name] for rule in rules]
        rows.append([system.name] + [str(rank or "-") for rank in ranks])
    return Table(names_and_numbers("system", titles), rows, title=title)


def _conclusions(ranking: Ranking) -> Iterator[str]:
    """How many orders of two systems hold under every rule, and what contests the others."""
    scope = ranking.provenance.get("uncertainty")
    if scope:
        yield scope
    if ranking.best_words:
        yield ranking.best_words
    contested = ranking.survival.contested
    counts = ranking.survival.counts
    count = counts["holds"] + counts["contested"]
    if not count or len(ranking.tasks) == 1:
        return
    yield f"{counts['holds']:,} of {count:,} orders of two systems hold under every rule."
    for verdict in contested[:SHOWN]:
        if len(verdict.unless) == len(ranking.rules):
            yield f"{verdict.ahead} and {verdict.behind} are equal under every rule."
            continue
        rules = [TITLES.get(rule, rule.replace("mean", "macro-average")) for rule in verdict.unless]
        yield f"{verdict.ahead} is ahead of {verdict.behind}, but not by {', '.join(rules)}."
    if counts["contested"] > SHOWN:
        yield f"{counts['contested'] - SHOWN:,} more are contested; --json has them all."
