"""Two systems within each category of a diagnostic set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gluebench.analysis.columns import file_columns
from gluebench.analysis.differences import Difference
from gluebench.analysis.significance import holm
from gluebench.analysis.trials import file_trials
from gluebench.benchmark import Task
from gluebench.scoring import Gold
from gluebench.scoring.draws import generator
from gluebench.scoring.tags import OVERALL
from gluebench.submission import Submission


@dataclass(frozen=True, slots=True)
class CategoryComparison:
    """The two systems on the examples of one category."""

    kind: str
    """"coarse", "fine", or a column of the metadata ("direction", "domain")."""
    name: str
    difference: Difference
    """Of the set's first metric; `adjusted` is Holm's over the categories of the kind."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready values."""
        return {"kind": self.kind, "name": self.name, **self.difference.as_dict()}


def compare_categories(
    task: Task, a: Submission, b: Submission, gold: Gold, *, resamples: int, seed: int
) -> tuple[CategoryComparison, ...]:
    """Every category in the manifest's order; none where the set is not there, or is not divided."""
    metric = task.metrics[0]
    columns = file_columns(task.file(metric.file), a, b, gold)
    if columns is None:
        return ()
    found = []
    for category in gold.categories.get(metric.file, ()):
        if category.kind == OVERALL:
            continue
        rng = generator(seed, f"{metric.file}/{category.kind}/{category.name}")
        part = columns.subset(category.positions)
        trial = file_trials([metric], part, resamples=resamples, rng=rng)[metric.name]
        found.append(CategoryComparison(category.kind, category.name, trial.difference()))
    return tuple(_adjusted(found))


def _adjusted(found: list[CategoryComparison]) -> Iterator[CategoryComparison]:
    """Holm's adjustment within each kind: the fine phenomena are one family, the coarse ones another."""
    of_kind: Mapping[str, Iterator[float]] = {
        kind: iter(holm([each.difference.p for each in found if each.kind == kind]))
        for kind in dict.fromkeys(each.kind for each in found)
    }
    for each in found:
        adjusted = next(of_kind[each.kind])
        yield replace(each, difference=replace(each.difference, adjusted=adjusted))
