"""What a board is ranked by: the usual average with its ties and intervals, or another rule."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from gluebench.analysis.rank import rules
from gluebench.analysis.rank.rules import LOWER, Profile, standing
from gluebench.benchmark import Benchmark as Record
from gluebench.benchmark import UnknownNameError
from gluebench.benchmark.records import Rule, rule_named
from gluebench.leaderboard.benchmarks.models import Benchmark
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.ranks.models import MOST, Ranking, hidden_reason, majority_tasks

TITLES = {**rules.TITLES, "mean": "average"}
"""Titles of the rules within a sentence."""
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


class Place(NamedTuple):
    """The place of a system, ready to show."""

    rank: int | None
    value: str = ""
    """What it is ranked by, where that is not the score."""
    ends: tuple[int | None, int | None] = (None, None)
    """The ranks between which it was in 95 % of the resamples."""
    group: tuple[int, int] | None = None
    """The first and last rank that are not significantly different from it."""
    tied: bool = False

    @property
    def text(self) -> str:
        """ "1", or "1–2" for tied ranks."""
        return span(*self.group) if self.group and self.tied else str(self.rank or "")

    @property
    def interval(self) -> str:
        """Its ends as text; empty where there are none."""
        low, high = self.ends
        return "" if low is None or high is None else span(low, high, " to ")


class RankingOptions(NamedTuple):
    """The ranking options in the address."""

    rule: Rule | Literal[""] = ""
    """Empty if the address has none."""
    weights: str = ""
    majority: str = ""

    @property
    def by(self) -> Rule:
        """The rule."""
        return self.rule or "mean"

    @property
    def usual(self) -> bool:
        """Whether systems are ranked by their scores."""
        return self.by == "mean" and not (self.weights or self.majority)


class Order(NamedTuple):
    """The places of a board's systems."""

    options: RankingOptions
    places: Mapping[int, Place]
    """By primary key; empty where nothing is computed."""
    notes: tuple[str, ...]
    """Sentences that explain it to a reader."""
    problems: tuple[str, ...] = ()
    """What is wrong with the weights in the address."""
    withheld: str = ""
    """Why no rank has an interval; empty if they have."""

    @property
    def title(self) -> str:
        """The heading of the numbers that it ranks by."""
        weighted = "weighted " if self.options.weights else ""
        return f"{weighted}{TITLES[self.options.by]}"

    @property
    def rule(self) -> Rule:
        """The rule that gave the ranks; the average where no places are computed."""
        return self.options.by if self.places else "mean"

    @property
    def another(self) -> bool:
        """Whether systems are ordered by something other than their score."""
        return bool(self.places) and not self.options.usual


def order_of(benchmark: Benchmark, options: RankingOptions, ranks: Mapping[int, int | None]) -> Order:
    """The places of the systems, once computed for the present board; `ranks` are those by score."""
    weights, problems = parsed_weights(options.weights, benchmark.record)
    if problems:
        return Order(RankingOptions(), {}, (), tuple(problems))
    if reason := hidden_reason(benchmark):
        return Order(options, {}, () if options.usual else (reason,))
    complete = sum(rank is not None for rank in ranks.values())
    if complete < 2:
        return Order(options, {}, ())
    ranking = Ranking.objects.defer("pairs", "health").filter(benchmark=benchmark).first()
    if ranking is None or ranking.version != benchmark.version or ranking.board is None:
        return Order(options, {}, (_pending(ranking),))
    pks = ranking.board["pks"]
    if not ranks.keys() >= set(pks):  # the database was edited: a system left the board
        return Order(options, {}, (_pending(None),))
    # Places are ranks among the compared systems; the usual board shows those of the whole board.
    own = sorted(rank for pk in pks if (rank := ranks[pk]) is not None)
    own = own if options.usual else list(range(1, len(pks) + 1))
    places, notes = _places(ranking.board, options, weights, own, benchmark.record.loss)
    if len(pks) < complete:
        what = "Ties and intervals are computed for" if options.usual else "Ranked among themselves are"
        kept = "whose files are kept and valid by today's checks, and whose scores are shown as they are"
        notes.insert(0, f"{what} {len(pks)} systems: the first {MOST} of the board, {kept}.")
    withheld = ranking.board["boards"][options.majority]["rules"][options.by].get("withheld") or ""
    return Order(options, dict(zip(pks, places, strict=True)), tuple(notes), withheld=withheld)


def _pending(ranking: Ranking | None) -> str:
    if ranking is not None and ranking.failure and ranking.since is None:
        return f"Ties and intervals of ranks could not be computed. {ranking.failure}"
    if ranking is not None and ranking.at is not None and ranking.board is None and ranking.since is None:
        return "Ties and intervals of ranks need two systems whose files are kept."
    return (
        "Ties, intervals of ranks and other rules are being computed for the board as it is now: "
        "usually within a minute, later while submissions wait. Load the page again then."
    )


def _places(
    board: Mapping[str, Any],
    options: RankingOptions,
    weights: Mapping[str, float],
    own: Sequence[int],
    loss: bool,
) -> tuple[list[Place], list[str]]:
    results = board["boards"][options.majority]
    notes = [] if options.usual else [_ranked_by(options, weights)]
    if not weights:
        rule = results["rules"][options.by]
        return [_place(place, options, own, loss) for place in rule["places"]], [*notes, *rule["notes"]]
    weighting = tuple(weights.get(task, 1.0) for task in results["tasks"])
    scores = tuple(map(tuple, results["scores"]))
    systems, scales = tuple(board["keys"]), tuple(results["scales"])
    ranked = standing(Profile(systems, tuple(results["tasks"]), scores, weighting, scales), options.by)
    notes.append("Intervals of ranks are computed for equal weights alone.")
    both = zip(ranked.ranks, ranked.values, strict=True)
    places = [Place(rank, value_text(value, options.by, loss)) for rank, value in both]
    return places, [*notes, *([ranked.note] if ranked.note else [])]


def _place(place: Mapping[str, Any], options: RankingOptions, own: Sequence[int], loss: bool) -> Place:
    """A place by a rule; `own` are the ranks to show for the ranks from 1 on."""
    rank, low, high = (place[name] and own[place[name] - 1] for name in ("rank", "low", "high"))
    first, last = place["group"] or (0, 0)
    group = (own[first - 1], own[last - 1]) if place["group"] else None
    value = "" if options.usual else value_text(place["value"], options.by, loss)
    return Place(rank, value, (low, high), group, tied=first < last)


def withheld_words(rules: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Rules by which ranks have no intervals, in words, and why."""
    reasons: dict[str, list[str]] = {}
    for name, rule in rules.items():
        if reason := rule.get("withheld"):
            reasons.setdefault(reason, []).append(TITLES[name])
    return [
        ("every rule" if len(titles) == len(rules) else " and ".join(titles), reason)
        for reason, titles in reasons.items()
    ]


def span(low: int, high: int, between: str = "–") -> str:
    """Two ranks as one text."""
    return str(low) if low == high else f"{low}{between}{high}"


def value_text(value: float | None, by: str, loss: bool) -> str:
    """What a rule ranks by, as people read it; a Kemeny place is the rank itself."""
    if by not in LOWER:
        return percent(value, loss)
    return f"{value:.2f}" if by != "kemeny" and value is not None else ""


def _ranked_by(options: RankingOptions, weights: Mapping[str, float]) -> str:
    text = f"A system is ranked by {ABOUT[options.by]}"
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
    by, majority = query.get("by", ""), query.get("majority", "")
    return RankingOptions(
        (rule_named(by) if by != record.rank_by else None) or "",
        " ".join(query.get("weights", "")[:400].split()),
        majority if majority in majority_tasks(record) else "",
    )


def parsed_weights(text: str, record: Record) -> tuple[dict[str, float], list[str]]:
    """ "RTE:2,CoLA:0" as weights of tasks, and what is wrong with it in sentences."""
    weights: dict[str, float] = {}
    problems = []
    scored = {task.name for task in record.averaged}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = part.rpartition(":")
        try:
            task, weight = record.task(name).name, float(number)
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
