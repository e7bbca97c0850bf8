"""The rows of a wrong file while they are repaired, and the mistakes that were recognized in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gluebench.submission.layouts import Cells
from gluebench.submission.problems import Problem, problem_maker
from gluebench.submission.rows import Choices, Layout
from gluebench.submission.tables import allowed_values, of_truth

_PLACES = 3
"""Lines of a mistake that are named."""
_problem = problem_maker(__file__)


@dataclass
class RowEditor:
    """Rows of index and value, which the steps rewrite in turn; each change is recorded as a mistake."""

    name: str
    layout: Layout
    choices: Choices
    cells: Cells
    mistakes: list[Problem] = field(default_factory=list)
    order: tuple[str, ...] = ()
    """Label words in the order of the probabilities, if the file says it."""

    def add_mistake(
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
        details = {
            "words": allowed_values(self.layout),
            "column": self.layout.value,
            "key": self.layout.key,
        }
        problem = _problem(code, self.name, what=what, value=shown, line=line, **details)
        expected = problem.expected
        if where:
            expected += f" ({where})"
        fix = of_truth(value or "", self.layout.words) or problem.fix
        self.mistakes.append(replace(problem, expected=expected, fix=fix, repair=repair or problem.repair))

    def add_cell_mistake(
        self, code: str, cells: Collection[str], *, column: int = 1, repair: str = ""
    ) -> None:
        """Record a mistake of these values of a column, with their number and the first places."""
        lines = []
        values = []
        for row, line in zip(self.cells.rows, self.cells.lines, strict=True):
            if len(row) == 2 and row[column] in cells:
                lines.append(line)
                values.append(row[column])
        where = ""
        if len(lines) > 1:
            where = f"{len(lines):,} rows"
        first_lines = lines[:_PLACES]
        if len({*first_lines}) > 1:
            where += f", lines {', '.join(map(str, first_lines))}"
            if len(lines) > _PLACES:
                where += ", ..."
        self.add_mistake(code, value=values[0], line=lines[0], where=where, repair=repair)

    def rewrite(self, column: int, code: str, change: Callable[[str], str], *, repair: str = "") -> None:
        """Change the values of one column; record those that change as a mistake."""
        new = {value: change(value) for value in {*self.column(column)}}
        self.replace(column, code, new, repair=repair)

    def replace(self, column: int, code: str, new: Mapping[str, str], *, repair: str = "") -> None:
        """Replace values of one column by new ones; record those that change as a mistake."""
        changes = {old: new[old] for old in {*self.column(column)} if new.get(old, old) != old}
        if changes:
            self.add_cell_mistake(code, changes, column=column, repair=repair)
            self.set_cells(column, changes)

    def set_cells(self, column: int, new: Mapping[str, str]) -> None:
        """Replace values of one column by new ones, without a record."""
        for row in self.cells.rows:
            if len(row) == 2:
                row[column] = new.get(row[column], row[column])

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
