"""Format numbers for people: fractions times 100 with one decimal, as in the paper's tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

ABSENT = "–"
ENDS = ("value", "low", "high")
"""Keys of a score: its value and the ends of its interval."""
LETTERS = 34
"""Maximum length of a system's name in a chart."""


def percent(value: float | None) -> str:
    """0.6394 as "63.9"; a dash for None."""
    if value is None:
        return ABSENT
    text = f"{100 * value:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", "−")


def score_text(score: Mapping[str, Any] | None) -> str:
    """The value of a score in a report, as `percent` writes it."""
    return percent(score["value"] if score else None)


def interval_text(score: Mapping[str, Any] | None) -> str:
    """The 95 % interval of a score in a report, "61.2 to 65.0"; empty where there is none."""
    if not score or score["low"] is None or score["high"] is None:
        return ""
    return f"{percent(score['low'])} to {percent(score['high'])}"


EVEN = 0.1
"""An interval whose sides differ by at most this share of the wider one is shown as ± the wider."""


def margin_text(score: Mapping[str, Any] | None) -> str:
    """How far the 95 % interval reaches: "±1.5", or "−1.9 +1.4" where its sides clearly differ."""
    if not score or score["low"] is None or score["high"] is None:
        return ""
    below, above = score["value"] - score["low"], score["high"] - score["value"]
    wider = max(below, above)
    if abs(below - above) <= EVEN * wider or percent(below) == percent(above):
        return f"±{percent(wider)}"
    return f"−{percent(below)} +{percent(above)}"


def kappa(value: float | None) -> str:
    """Kappa with two decimals, as the paper gives it."""
    return ABSENT if value is None else f"{value:.2f}".replace("-", "−")


def count(number: int | None) -> str:
    """A count as people read it: 12,345; 110 million where it is large."""
    if number is None:
        return "not stated"
    for size, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if number >= size:
            return f"{number / size:.3g} {word}"
    return f"{number:,}"


def labels_of(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """A unique label for each system in a chart or title: the name, with the model or key if names repeat."""

    def short(name: str, letters: int = LETTERS // 2) -> str:
        return name if len(name) <= letters else f"{name[: letters - 1]}…"

    names = [short(entry["name"], LETTERS) for entry in entries]
    for addition in ("model", "key"):  # each step changes only the names that still repeat
        counts = Counter(names)
        for position, (name, entry) in enumerate(zip(names, entries, strict=True)):
            if counts[name] > 1:
                own = short(name)
                parts = (short(entry["model"]), own) if addition == "model" else (own, entry["key"])
                names[position] = ", ".join(parts)
    return names


def hundred(value: float | None) -> Any:
    """A fraction times 100, as charts show it."""
    return None if value is None else 100 * value


def score_bars(title: str, metric: str, scores: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """A chart of labels with their scores and intervals; empty where none has a value."""
    from gluebench.analysis.charts import Bar, bar_chart  # not for the command line, which counts alone

    scored = ((label, score) for label, score in scores if score["value"] is not None)
    bars = [Bar(label, *(hundred(score[end]) for end in ENDS)) for label, score in scored]
    return bar_chart(title, bars, axis=f"{metric} × 100, with 95 % intervals") if bars else ""
