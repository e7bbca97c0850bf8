"""How scores and intervals are written for readers: times 100 with one decimal, as in the paper's tables.

A loss is kept negated, so that higher is better everywhere, and is written as it is: "0.531" for -0.531.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

DOWN = " ↓"
"""The end of a loss's heading."""


def percent(value: float | None, loss: bool | None = False) -> str:
    """A fraction as a percentage with one decimal, a negated loss as the loss; "-" for None."""
    if loss and value is not None:
        value = -value
    return points(value, loss)


def points(value: float | None, loss: bool | None = False) -> str:
    """A difference or deviation in points, or in units of the loss; a positive difference is better."""
    if value is None:
        return "-"
    # Adding 0.0 makes -0.0 a plain zero.
    if loss:
        return f"{round(value, 3) + 0.0:.3f}"
    return f"{round(100 * value, 1) + 0.0:.1f}"


def interval(low: float | None, high: float | None, loss: bool | None = False) -> str:
    """The interval with a space before it, to append to its value; empty if an end is None."""
    if low is None or high is None:
        return ""
    if loss:  # negating turns the ends around
        return between(-high, -low, loss)
    return between(low, high, loss)


def with_interval(
    value: float | None,
    low: float | None,
    high: float | None,
    loss: bool | None = False,
    withheld: str | None = None,
) -> str:
    """A value with its interval, "84.8 [83.0, 86.4]", or with the reason why that is withheld."""
    text = percent(value, loss) + interval(low, high, loss)
    return f"{text} ({withheld})" if withheld else text


def p_text(p: float | None) -> str:
    """A p-value with three decimals, ".034", "< .001" or "1"; "-" without a test."""
    if p is None:
        return "-"
    if p < 0.001:
        return "< .001"
    return f"{p:.3f}".removeprefix("0") if p < 0.9995 else "1"


def between(low: float | None, high: float | None, loss: bool | None = False) -> str:
    """The interval of a difference, written as by `interval`."""
    if low is None or high is None:
        return ""
    return f" [{points(low, loss)}, {points(high, loss)}]"


def unit(loss: bool | None) -> str:
    """What follows the heading of scores: " × 100", or nothing after that of a loss."""
    return "" if loss else " × 100"


def axis(loss: bool | None) -> str:
    """The heading of a chart's scores."""
    return "loss ↓, lower is better," if loss else "score × 100"


def list_words(names: Sequence[str]) -> str:
    """The names as a list in a sentence: "A, B and C"."""
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def counted(number: int, noun: str) -> str:
    """A number of things: "1 row", "1,204 rows"."""
    if number == 1:
        return f"1 {noun}"
    return f"{number:,} {noun}s"


def without(names: Sequence[str]) -> str:
    """The end of a chart's title: the tasks that it leaves out, since it shows either losses or scores."""
    if not names:
        return ""
    return f"; without {', '.join(names)}, on another scale"


def heading(title: str) -> str:
    """The heading of a loss: "RMSE ↓" for "−RMSE", the heading of the negated loss."""
    return title.removesuffix(DOWN).removeprefix("−").removeprefix("-") + DOWN


def on_split(name: str, split: str, about: Container[str]) -> str:
    """How a title names a benchmark, from the provenance of a result; a scored table has no splits."""
    if "uncertainty" in about:
        return name
    return f"{name}, {split} split"


def ends(low: float | None, high: float | None, withheld: str | None, *, loss: bool | None = False) -> str:
    """The interval in a cell of its own, or why there is none."""
    limits = interval(low, high, loss).strip()
    if limits or not withheld:
        return limits
    return f"({withheld})"
