"""What a board is ranked by: its score, or another rule that the address or the manifest names."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gluebench.analysis.rank import rules
from gluebench.analysis.rank.rules import LOWER, Profile, fill_missing, rank_by_rule
from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import UnknownNameError
from gluebench.benchmark.records import Rule, rule_named
from gluebench.leaderboard.apps.benchmarks.models import Benchmark
from gluebench.leaderboard.apps.common.formats import percent
from gluebench.leaderboard.apps.common.kinds import Facts
from gluebench.leaderboard.apps.ranks.models import Ranking, majority_tasks
from gluebench.leaderboard.apps.ranks.places import BoardRanks, RankWithSet, latest_ranking, read_ranks

TITLES = {**rules.TITLES, "mean": "average"}
"""Titles of the rules within a sentence."""
OTHER_WEIGHTS = "rank sets are computed for the benchmark's own weights"
ABOUT = {
    "mean": "the mean of the task scores",
    "borda": "the mean of its ranks on the tasks (Borda), the lower the better",
    "median": "the median of its task scores",
    "kemeny": "its place in the order that contradicts the fewest tasks, pair by pair",
    "rank-score": (
        "1 plus the mean of its distances to the best system, in standard deviations of the task's scores "
        "(EuroEval), the lower the better"
    ),
}


class RankingOptions(NamedTuple):
    """The ranking options in the address."""

    rule: Rule | Literal[""] = ""
    """Empty if the address has none."""
    weights: str = ""
    majority: str = ""

    @property
    def effective_rule(self) -> Rule:
        """The rule."""
        return self.rule or "mean"

    @property
    def usual(self) -> bool:
        """Whether systems are ranked by their scores."""
        return self.effective_rule == "mean" and not (self.weights or self.majority)

    @property
    def title(self) -> str:
        """The heading of the numbers that they rank by, within a sentence."""
        if self.weights:
            return f"weighted {TITLES[self.effective_rule]}"
        return TITLES[self.effective_rule]


class Order(NamedTuple):
    """The places of a board's systems by the chosen rule."""

    options: RankingOptions
    ranks: BoardRanks
    notes: tuple[str, ...] = ()
    """Sentences that explain it to a reader."""
    problems: tuple[str, ...] = ()
    """What is wrong with the weights in the address."""
    another: bool = False
    """Whether systems are ordered by something other than their score."""

    @property
    def rule(self) -> Rule:
        """The rule that gave the ranks; the average where those of another are not computed."""
        if not self.another:
            return "mean"
        return self.options.effective_rule


def order_of(
    benchmark: Benchmark, options: RankingOptions, score: str, values: Mapping[int, float | None]
) -> Order:
    """The places of the rows with these values of a score, or by the rule that the options name."""
    weights, problems = parse_weights(options.weights, benchmark.record)
    ranks = read_ranks(benchmark, score, values)
    if problems:
        return Order(RankingOptions(), ranks, problems=tuple(problems))
    ranking, reason, waiting = latest_ranking(benchmark)
    if options.usual or ranking is None:
        is_told = ranking is None and not waiting and (ranks.reason or not options.usual)
        return Order(options, ranks, (reason,) if is_told else ())
    board: Facts = Ranking.objects.only("board").get(pk=ranking.pk).board or {}
    pks = [pk for pk, _ in ranking.systems]
    by_rule, notes = _places_by_rule(
        board["boards"][options.majority], pks, options, weights, benchmark.record.loss
    )
    places = {pk: by_rule[pk] for pk in values if pk in by_rule}
    missing = ranks.places.keys() - by_rule.keys()
    if missing:
        notes.append(
            f"{len(missing):,} systems whose predictions are not compared have no rank by this rule."
        )
    if len(places) < len(by_rule):
        notes.append("Ranks by this rule are those among all systems of the board.")
    return Order(options, BoardRanks(places, missing=len(missing)), tuple(notes), another=True)


def _places_by_rule(
    results: Facts,
    pks: Sequence[int],
    options: RankingOptions,
    weights: Mapping[str, float],
    loss: bool,
) -> tuple[dict[int, RankWithSet], list[str]]:
    """The places by another rule than the usual average, and what a reader has to know of them."""
    notes = [_rule_sentence(options, weights)]
    if weights:
        weighting = tuple(weights.get(task, 1.0) for task in results["tasks"])
        systems = tuple(map(str, pks))
        scores = tuple(map(tuple, results["scores"]))
        profile = Profile(systems, tuple(results["tasks"]), scores, weighting, tuple(results["scales"]))
        ranked = rank_by_rule(fill_missing(profile, "unranked"), options.effective_rule)
        rows: list[Any] = []
        for rank, value in zip(ranked.ranks, ranked.values, strict=True):
            rows.append({"rank": rank, "value": value, "rank_low": None, "rank_high": None})
        withheld = OTHER_WEIGHTS
        if ranked.note:
            notes.append(ranked.note)
    else:
        rule = results["rules"][options.effective_rule]
        rows = rule["places"]
        withheld = rule["withheld"] or ""
        notes += rule["notes"]
    places = {}
    for pk, row in zip(pks, rows, strict=True):
        if row["rank"] is None:
            continue
        place = RankWithSet(row["rank"], row["rank_low"], row["rank_high"], by=options.title)
        if place.low is None:
            place = place._replace(withheld=withheld)
        if options.effective_rule != "mean" or weights:
            place = place._replace(value=value_text(row["value"], options.effective_rule, loss))
        places[pk] = place
    return places, notes


def withheld_words(rules: Mapping[str, Facts]) -> list[tuple[str, str]]:
    """Rules by which ranks have no rank sets, in words, and why."""
    reasons: dict[str, list[str]] = {}
    for name, rule in rules.items():
        if rule["withheld"]:
            reasons.setdefault(rule["withheld"], []).append(TITLES[name])
    lines = []
    for reason, titles in reasons.items():
        words = " and ".join(titles)
        if len(titles) == len(rules):
            words = "every rule"
        lines.append((words, reason))
    return lines


def value_text(value: float | None, by: str, loss: bool) -> str:
    """What a rule ranks by, as people read it; a Kemeny place is the rank itself."""
    if by not in LOWER:
        return percent(value, loss)
    if by == "kemeny" or value is None:
        return ""
    return f"{value:.2f}"


def _rule_sentence(options: RankingOptions, weights: Mapping[str, float]) -> str:
    text = f"A system is ranked by {ABOUT[options.effective_rule]}"
    if weights:
        given = ", ".join(f"{task} {weight:g}" for task, weight in weights.items())
        text = f"{text.replace('the mean', 'the weighted mean')}; weights: {given}, all others 1"
    if options.majority:
        text += (
            f". On {options.majority} every system is taken to answer the most frequent label, "
            "as section 6 of the GLUE paper does where no model beats that"
        )
    return text + "."


def ranking_options(query: Mapping[str, str], record: Record) -> RankingOptions:
    """Read the ranking options from the address; an unknown value counts as not given."""
    rule = None
    by = query.get("by", "")
    if by != record.rank_by:  # which needs no option
        rule = rule_named(by)
    weights = " ".join(query.get("weights", "")[:400].split())
    majority = query.get("majority", "")
    if majority not in majority_tasks(record):
        majority = ""
    return RankingOptions(rule or "", weights, majority)


def parse_weights(text: str, record: Record) -> tuple[dict[str, float], list[str]]:
    """ "RTE:2,CoLA:0" as weights of tasks, and what is wrong with it in sentences."""
    weights: dict[str, float] = {}
    problems = []
    scored = {task.name for task in record.averaged}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.rpartition(":")
        try:
            task = record.task(name).name
            weight = float(number)
            if task not in scored or not 0 <= weight <= 1000:
                raise ValueError
            weights[task] = weight
        except (ValueError, UnknownNameError):
            problems.append(
                f"{part!r} is not a weight: expected a task, a colon and a number from 0 to 1000, as in "
                f"{record.averaged[0].name}:2. Tasks: {', '.join(sorted(scored))}."
            )
    if not problems and scored and all(weights.get(task) == 0 for task in scored):
        problems.append("All tasks weigh 0: leave at least one with a weight above 0.")
    return weights, problems
