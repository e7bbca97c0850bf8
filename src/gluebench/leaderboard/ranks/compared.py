"""A comparison of two systems as a page shows it, and as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark
from gluebench.leaderboard.common.formats import interval_text, percent
from gluebench.leaderboard.ranks.tables import P, csv_text

KINDS = {"coarse": "Coarse categories", "fine": "Fine phenomena"}
NUMBERS = (
    "a",
    "b",
    "difference",
    "low",
    "high",
    "p",
    "adjusted",
    "n",
    "only_a",
    "only_b",
    "detectable",
)


class Line(NamedTuple):
    """One difference, ready to show."""

    title: str
    a: str
    b: str
    difference: str
    interval: str
    p: str
    test: str
    effect: str
    """The effect in examples."""
    detectable: str
    told: bool
    strong: bool = False
    """Whether it is a task's score, above its metrics."""


class Part(NamedTuple):
    """One table of differences."""

    title: str
    lines: tuple[Line, ...]
    words: str = ""


def parts_of(found: Mapping[str, Any], record: Benchmark) -> tuple[list[Part], list[Part]]:
    """The scored tasks, a part for each, and the diagnostic sets, each whole and by category."""
    tasks = [
        Part(name, tuple(_task(task, record, name)), task["words"]) for name, task in found["tasks"].items()
    ]
    return tasks, [part for name, task in found["diagnostics"].items() for part in _set(task, record, name)]


def whole_of(found: Mapping[str, Any]) -> Line | None:
    """The average over the tasks."""
    return line_of(f"Average of {len(found['over'])} tasks", found["overall"]) if found["overall"] else None


def _task(task: Mapping[str, Any], record: Benchmark, name: str) -> Iterator[Line]:
    titles = {metric.name: metric.title for metric in record.task(name).metrics}
    if len(task["metrics"]) > 1 and task["score"]:
        yield line_of("Task score", task["score"])._replace(strong=True)
        yield from (line_of(titles[metric], each) for metric, each in task["metrics"].items())
    elif task["score"]:
        yield line_of(titles[next(iter(task["metrics"]))], task["score"])._replace(strong=True)
    else:
        yield from (line_of(titles[metric], each) for metric, each in task["metrics"].items())


def _set(task: Mapping[str, Any], record: Benchmark, name: str) -> Iterator[Part]:
    yield Part(f"{record.task(name).title} ({name})", tuple(_task(task, record, name)), task["words"])
    categories = task.get("categories", ())
    for kind in dict.fromkeys(each["kind"] for each in categories):
        lines = tuple(line_of(each["name"], each) for each in categories if each["kind"] == kind)
        yield Part(f"{name}: {KINDS.get(kind, kind)}", lines)


def line_of(title: str, found: Mapping[str, Any]) -> Line:
    """One difference of the comparison."""
    decisive = found.get("adjusted", found["p"])
    return Line(
        title=title,
        a=percent(found["a"]),
        b=percent(found["b"]),
        difference=f"{'+' if found['difference'] > 0 else ''}{percent(found['difference'])}",
        interval=interval_text(found) or found.get("withheld") or "",
        p="same answers" if found["same"] else p_text(decisive),
        test=found["test"],
        effect=_effect(found),
        detectable=percent(found["detectable"]) if "detectable" in found else "",
        told=decisive <= P and found["difference"] != 0,
    )


def p_text(p: float) -> str:
    """A p-value as people read it."""
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 0.9995 else "1"


def _effect(found: Mapping[str, Any]) -> str:
    """ "17 more for A of 1,725 rows"; only the size where answers are numbers."""
    if "only_a" not in found:
        return ""
    net, rows = found["only_a"] - found["only_b"], f"{found['n']:,} rows"
    return f"{abs(net):,} more for {'A' if net > 0 else 'B'} of {rows}" if net else f"as many of {rows}"


def comparison_csv(found: Mapping[str, Any] | None) -> str:
    """A row for each difference; numbers are fractions."""
    return csv_text(["task", "kind", "name", "test", *NUMBERS], [] if found is None else list(_rows(found)))


def _rows(found: Mapping[str, Any]) -> Iterator[list[Any]]:
    if found["overall"]:
        yield _row("", "average", "", found["overall"])
    for name, task in [*found["tasks"].items(), *found["diagnostics"].items()]:
        if task["score"]:
            yield _row(name, "score", "", task["score"])
        yield from (_row(name, "metric", metric, each) for metric, each in task["metrics"].items())
        yield from (_row(name, each["kind"], each["name"], each) for each in task.get("categories", ()))


def _row(task: str, kind: str, name: str, found: Mapping[str, Any]) -> list[Any]:
    return [task, kind, name, found["test"], *(found.get(number) for number in NUMBERS)]
