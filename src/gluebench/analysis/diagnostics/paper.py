"""What the paper has on diagnostic sets: the columns of Table 5, and what its phenomena are about."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

from gluebench.benchmark import Task
from gluebench.data.sample import Pair, pairs
from gluebench.scoring import DiagnosticReport, Score
from gluebench.systems.reproduce.compare import ALL
from gluebench.systems.reproduce.row import rows

COLUMNS: Mapping[str, str] = {
    "All": ALL,
    "LS": "Lexical Semantics",
    "PAS": "Predicate-Argument Structure",
    "L": "Logic",
    "K": "Knowledge",
    "UQuant": "Universal",
    "MNeg": "Morphological Negation",
    "2Neg": "Double Negation",
    "Coref": "Anaphora/Coreference",
    "Restr": "Restrictivity",
    "Down": "Downward Monotone",
}
"""The paper's headings, each with what it stands for."""


class Table5(NamedTuple):
    """The table, its numbers as fractions."""

    headings: tuple[str, ...]
    """Those of the paper's that the diagnostic set has."""
    sizes: tuple[int, ...]
    """Examples that each column rests on."""
    systems: Mapping[str, tuple[Score, ...]]
    """System to a score for each heading."""
    printed: Mapping[str, Mapping[str, tuple[float | None, ...]]]
    """Section of the paper's table to its rows: title to what was printed; empty for another set than the
    paper's."""


def table5(task: Task, reports: Mapping[str, DiagnosticReport], *, beside: bool = False) -> Table5:
    """The columns of Table 5 for some systems on one diagnostic set, all of the same gold.

    `beside` adds the paper's seventeen rows, which only GLUE's own set can stand beside.
    """
    first = next(iter(reports.values()))
    headings = {heading: name for heading, name in COLUMNS.items() if _score(first, name) is not None}
    scores = {}
    for system, report in reports.items():
        of_system = [_score(report, name) for name in headings.values()]
        scores[system] = tuple(score for score in of_system if score is not None)
    sizes = tuple(score.n for score in next(iter(scores.values())))
    printed: dict[str, dict[str, tuple[float | None, ...]]] = {}
    if beside:
        for row in rows():
            columns = row.printed["table5"].columns
            values: list[float | None] = []
            for name in headings.values():
                if name in columns:
                    percent = columns[name][0]  # a column of this table has one figure
                    values.append(percent / 100)
                else:
                    values.append(None)
            printed.setdefault(row.section, {})[row.title] = tuple(values)
    return Table5(tuple(headings), sizes, scores, printed)


def human_references(task: Task) -> Iterator[tuple[str, float, str]]:
    """Name, value and source of each published reference for the whole set."""
    metric = task.metrics[0].name
    for reference in task.references:
        if metric in reference.scores:
            yield reference.name, reference.scores[metric], reference.source


def _score(report: DiagnosticReport, name: str) -> Score | None:
    if name == ALL:
        return report.overall
    return report.fine.get(name, report.coarse.get(name))


PAGE = "docs/reference/diagnostic.md"


class PhenomenonPage(NamedTuple):
    """What the manual says of one phenomenon."""

    name: str
    words: str
    link: str
    """Where the manual has it: a page and a heading of it."""
    examples: tuple[Pair, ...]
    """Pairs that were written for the `sample` benchmark, those of this phenomenon alone first."""


def explain(name: str, *, examples: int = 2) -> PhenomenonPage | None:
    """What a phenomenon of the paper is about; None for one that is not among its 33."""
    words = _descriptions().get(name)
    if words is None:
        return None
    tagged = [pair for pair in pairs() if name in pair.phenomena]
    tagged.sort(key=lambda pair: len(pair.phenomena))
    anchor = re.sub(r"[^\w\- ]", "", name).lower().replace(" ", "-")
    return PhenomenonPage(name, words, f"{PAGE}#{anchor}", tuple(tagged[:examples]))


@cache
def _descriptions() -> Mapping[str, str]:
    text = resources.files("gluebench.analysis.diagnostics").joinpath("phenomena.toml").read_text("utf-8")
    return {name: str(words) for name, words in tomllib.loads(text).items()}
