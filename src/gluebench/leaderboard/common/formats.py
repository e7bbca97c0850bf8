"""How numbers are written: fractions become one decimal of a hundred, as in the paper's tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

ABSENT = "–"
LETTERS = 34
"""Of a system's name in a picture."""


def percent(value: float | None) -> str:
    """0.6394 as "63.9"; a dash where there is nothing."""
    if value is None:
        return ABSENT
    text = f"{100 * value:.1f}"
    return "0.0" if text == "-0.0" else text.replace("-", "−")


def score_text(score: Mapping[str, Any] | None) -> str:
    """The value of a report's number."""
    return percent(score["value"] if score else None)


def interval_text(score: Mapping[str, Any] | None) -> str:
    """The 95 % interval of a report's number, "61.2 to 65.0"; empty where there is none."""
    if not score or score["low"] is None or score["high"] is None:
        return ""
    return f"{percent(score['low'])} to {percent(score['high'])}"


EVEN = 0.1
"""Sides of an interval that differ by no more than this part are shown as one, the wider."""


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
    """A name for each system in a picture or a title; its model leads where others are called alike."""

    def short(name: str, letters: int = LETTERS // 2) -> str:
        return name if len(name) <= letters else f"{name[: letters - 1]}…"

    names = [short(entry["name"], LETTERS) for entry in entries]
    for what in ("model", "key"):  # until each is the only one of its kind
        counts = Counter(names)
        for at, (name, entry) in enumerate(zip(names, entries, strict=True)):
            if counts[name] > 1:
                both = (
                    (short(entry["model"]), short(name)) if what == "model" else (short(name), entry["key"])
                )
                names[at] = ", ".join(both)
    return names


def hundred(value: float | None) -> Any:
    """A fraction as charts show it, of a hundred."""
    return None if value is None else 100 * value


def score_bars(title: str, metric: str, scores: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    """A chart of labels with their scores and intervals; empty where none has a value."""
    from gluebench.analysis.charts import Bar, bar_chart  # not for the command line, which counts alone

    bars = [
        Bar(label, *(hundred(score[end]) for end in ("value", "low", "high")))
        for label, score in scores
        if score["value"] is not None
    ]
    return bar_chart(title, bars, axis=f"{metric} × 100, with 95 % intervals") if bars else ""
