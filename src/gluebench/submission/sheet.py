"""A wrong file as rows that can be rewritten, and the mistakes that were recognized in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gluebench.submission.layouts import Cells
from gluebench.submission.problems import Problem, worded
from gluebench.submission.rows import Choices, Layout
from gluebench.submission.tables import allowed_values, of_truth

_PLACES = 3
"""Lines of a mistake that are named."""
_problem = worded(__file__)


@dataclass
class Sheet:
    """A parsed file: rows of index and value, which the steps rewrite in turn."""

    name: str
    layout: Layout
    choices: Choices
    cells: Cells
    mistakes: list[Problem] = field(default_factory=list)
    order: tuple[str, ...] = ()
    """Label words in the order of the probabilities, if the file says it."""

    def tell(
        self,
        code: str,
        *,
        what: str = "",
        value: str | None = None,
        line: int | None = None,
        where: str = "",
        repair: str = "",
    ) -> None:
        """Record a mistake, once for both columns."""
        if any(mistake.code == code for mistake in self.mistakes):
            return
        shown = value and value[:60]
        key = "id" if self.layout.ids else "index"
        details = {"words": allowed_values(self.layout), "column": self.layout.value, "key": key}
        problem = _problem(code, self.name, what=what, value=shown, line=line, **details)
        expected = f"{problem.expected} ({where})" if where else problem.expected
        fix = of_truth(value or "", self.layout.words) or problem.fix
        self.mistakes.append(replace(problem, expected=expected, fix=fix, repair=repair or problem.repair))

    def tell_cells(self, code: str, cells: Collection[str], *, column: int = 1, repair: str = "") -> None:
        """Record a mistake of these values of a column, with their number and the first places."""
        places = []
        for row, line in zip(self.cells.rows, self.cells.lines, strict=True):
            if len(row) == 2 and row[column] in cells:
                places.append((line, row[column]))
        lines = [str(line) for line, _ in places[:_PLACES]]
        where = ""
        if len(places) > 1:
            where = f"{len(places):,} rows"
        if len({*lines}) > 1:
            where += f", lines {', '.join(lines)}{', ...' * (len(places) > _PLACES)}"
        line, value = places[0]
        self.tell(code, value=value, line=line, where=where, repair=repair)

    def rewrite(self, column: int, code: str, change: Callable[[str], str], *, repair: str = "") -> None:
        """Change the values of one column; record those that change as a mistake."""
        self.replace(column, code, {text: change(text) for text in {*self.column(column)}}, repair=repair)

    def replace(self, column: int, code: str, new: Mapping[str, str], *, repair: str = "") -> None:
        """Replace values of one column by new ones; record those that change as a mistake."""
        changes = {old: new[old] for old in {*self.column(column)} if new.get(old, old) != old}
        if not changes:
            return
        self.tell_cells(code, changes, column=column, repair=repair)
        for row in self.cells.rows:
            if len(row) == 2:
                row[column] = changes.get(row[column], row[column])

    def column(self, number: int) -> list[str]:
        """One column of the rows that have two cells."""
        return [row[number] for row in self.cells.rows if len(row) == 2]


def fold_word(word: str) -> str:
    """The word without letter case, blanks and signs."""
    return re.sub(r"[\s_.-]+", "", word.casefold())


def labels_of(order: Sequence[str]) -> str:
    """How class numbers were repaired: "class numbers replaced by labels: no for 0, yes for 1"."""
    listed = ", ".join(f"{word} for {number}" for number, word in enumerate(order))
    return f"class numbers replaced by labels: {listed}"
