"""Format numbers for people: fractions times 100 with one decimal, as in the paper's tables."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC
from typing import Any, TypeGuard

from gluebench.benchmark import figures
from gluebench.leaderboard.apps.common.kinds import Facts, Values

ABSENT = "–"
ENDS = ("value", "low", "high")
"""Keys of a score: its value and the ends of its interval."""
LETTERS = 34
"""Maximum length of a system's name in a chart."""


BOARD = ("complete", "missing", "score", "tasks")
"""The keys of a report that a board shows."""
APART = {
    "labels": "with an earlier version of the labels",
    "tasks": "by an earlier version of the tasks",
    "rows": "on other rows than the ranked systems",
    "share": "on another share of the rows than the ranked systems",
    "metrics": "by an earlier version of the metrics",
}
"""What scores of one board may differ in; see `feedback.ScoreKey`."""
NOT_RANKED = {name: f"other {name}: not ranked" for name in APART}
"""What stands for the rank of an entry whose scores differ in that from those that its board ranks."""


def portable(value: Any) -> Any:
    """A value as every database gives it back: PostgreSQL knows no -0.0 and may turn 1e16 into an integer."""
    text = json.dumps(value, default=lambda moment: moment.astimezone(UTC).isoformat())
    return json.loads(text, parse_int=float, parse_float=lambda number: float(number) + 0.0)


def percent(value: float | None, loss: bool | None = False) -> str:
    """0.6394 as "63.9", a negated loss as the loss, "0.531"; a dash for None."""
    if value is None:
        return ABSENT
    return figures.percent(value, loss).replace("-", "−")


def with_sign(value: float | None, loss: bool | None = False) -> str:
    """A difference in points, or of losses; above 0 is better: "+1.2"."""
    if value is None:
        return ABSENT
    text = figures.points(value, loss).replace("-", "−")
    return f"+{text}" if value > 0 else text


def score_text(score: Facts | None) -> str:
    """The value of a score in a report, as `percent` writes it."""
    return percent(score["value"], score.get("loss")) if score else ABSENT


def _has_interval(score: Facts | None) -> TypeGuard[Facts]:
    if not score:
        return False
    return score["low"] is not None and score["high"] is not None


def interval_text(score: Facts | None) -> str:
    """The 95 % interval of a score in a report, "61.2 to 65.0"; empty where there is none."""
    if not _has_interval(score):
        return ""
    loss = score.get("loss")
    ends = sorted((score["low"], score["high"]), reverse=bool(loss))
    return " to ".join(percent(end, loss) for end in ends)


def gap_text(difference: Facts | None) -> str:
    """The 95 % interval of a difference, as `interval_text`."""
    if not _has_interval(difference):
        return ""
    loss = difference.get("loss")
    return f"{with_sign(difference['low'], loss)} to {with_sign(difference['high'], loss)}".replace("+", "")


EVEN = 0.1
"""An interval whose sides differ by at most this share of the wider one is shown as ± the wider."""


def margin_text(score: Facts | None) -> str:
    """How far the 95 % interval reaches: "±1.5", or "−1.9 +1.4" where its sides clearly differ."""
    if not _has_interval(score):
        return ""
    loss = score.get("loss")
    below = score["value"] - score["low"]
    above = score["high"] - score["value"]
    if loss:  # its value is shown with the other sign
        below, above = above, below
    wider = max(below, above)
    below_text = figures.points(below, loss)
    above_text = figures.points(above, loss)
    if abs(below - above) <= EVEN * wider or below_text == above_text:
        return f"±{figures.points(wider, loss)}"
    return f"−{below_text} +{above_text}"


def kappa(value: float | None) -> str:
    """Kappa with two decimals, as the paper gives it."""
    if value is None:
        return ABSENT
    return f"{value:.2f}".replace("-", "−")


def count(number: int | None) -> str:
    """A count as people read it: 12,345; 110 million where it is large."""
    if number is None:
        return "not stated"
    for size, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if number >= size:
            return f"{number / size:.3g} {word}"
    return f"{number:,}"


def labels_of(entries: Sequence[Facts]) -> list[str]:
    """A unique label for each system in a chart or title: the name, with the model or key if names repeat.

    A long name loses its middle: names of one team often differ at their ends.
    """

    def short(name: str, letters: int = LETTERS // 2) -> str:
        end = letters // 3
        return name if len(name) <= letters else f"{name[: letters - end - 1]}…{name[-end:]}"

    names = [short(entry["name"], LETTERS) for entry in entries]
    for addition in ("model", "key"):  # each step changes only the names that still repeat
        counts = Counter(names)
        for position, (name, entry) in enumerate(zip(names, entries, strict=True)):
            if counts[name] > 1:
                own = short(name)
                if addition == "model":
                    names[position] = f"{short(entry['model'])}, {own}"
                else:
                    names[position] = f"{own}, {entry['key']}"
    return names


def bare_score(value: float | None, loss: bool) -> Values:
    """A published number as the score of a report, without an interval."""
    return {"value": value, "low": None, "high": None, "loss": loss}


def display_interval(score: Facts) -> list[Any]:
    """Its value and the ends of its interval as charts show them: times 100, or the loss."""
    factor = -1 if score.get("loss") else 100
    return [None if score[end] is None else factor * score[end] for end in ENDS]


def score_intervals(
    title: str, metric: str, scores: Iterable[tuple[str, Facts]], links: Sequence[str] = ()
) -> str:
    """A chart of labels with their scores and intervals; `links` lead from them. Empty without a value."""
    # Not for the command line, which counts alone.
    from gluebench.analysis.charts import ChartPoint, interval_chart

    rows = []
    loss = None
    for at, (label, score) in enumerate(scores):
        if score["value"] is not None:
            loss = score.get("loss")
            value, low, high = display_interval(score)
            rows.append(ChartPoint(label, value, low, high, links[at] if links else ""))
    if not rows:
        return ""
    heading = figures.heading(metric) if loss else metric
    return interval_chart(title, rows, axis=f"{heading}{figures.unit(loss)}, with 95 % intervals")
