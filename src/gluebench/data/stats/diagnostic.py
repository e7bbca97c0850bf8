"""Table 7 of the paper: a diagnostic set's examples and labels by coarse category."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gluebench.benchmark import Task
from gluebench.data.errors import DataError


class Category(NamedTuple):
    """One coarse category of phenomena."""

    name: str
    examples: int
    """Rows with at least one of its phenomena; one with several counts once."""
    labels: Mapping[str, int] | None
    """Label word to its rows among them, in the manifest's order; None where labels are hidden."""
    printed: Mapping[str, float] = {}
    """As the paper has it: `count`, and the percentage of each label word."""

    def percentage(self, word: str) -> float | None:
        """How much of the category has the label, to the one decimal that Table 7 gives."""
        if not self.labels or not self.examples:
            return None
        return round(100 * self.labels[word] / self.examples, 1)

    @property
    def agrees(self) -> bool | None:
        """Whether count and percentages are those printed; None where nothing is printed or known."""
        if not self.printed or self.labels is None:
            return None
        own = {"count": self.examples, **{word: self.percentage(word) for word in self.labels}}
        return all(own.get(name) == figure for name, figure in self.printed.items())


def categories(
    task: Task, tags: Sequence[Sequence[str]], labels: Sequence[str] | None
) -> tuple[Category, ...]:
    """The coarse categories in the manifest's order, from each row's tags and label word.

    Raises DataError for tags that the manifest does not have.
    """
    coarse = {each.name: each.coarse for each in task.phenomena}
    unknown = Counter(tag for row in tags for tag in row if tag not in coarse)
    if unknown:
        raise DataError(
            [
                f"{task.name}: the tag {tag!r} ({count} rows) is no phenomenon of the manifest"
                for tag, count in unknown.items()
            ]
        )
    rows: dict[str, list[int]] = {name: [] for name in task.coarse()}
    for position, row in enumerate(tags):
        for name in dict.fromkeys(coarse[tag] for tag in row):
            rows[name].append(position)
    return tuple(
        Category(name, len(at), _counted(task, at, labels), task.printed.categories.get(name, {}))
        for name, at in rows.items()
    )


def _counted(task: Task, at: Sequence[int], labels: Sequence[str] | None) -> dict[str, int] | None:
    if labels is None:
        return None
    found = Counter(labels[position] for position in at)
    return {word: found[word] for word in task.words}
