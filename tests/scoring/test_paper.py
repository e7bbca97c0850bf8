"""The paper's arithmetic: every average it prints follows from the numbers beside it."""

from __future__ import annotations

import pytest
from oracles.paper_tables import EXCEPTIONS, ROWS, Row

from gluebench.benchmark import load_benchmark
from gluebench.scoring import Score
from gluebench.scoring.grade import macro_average, task_score

PRINTED = 0.10 + 1e-9
"""Each printed number is rounded to a tenth, and so is the average."""


def average(row: Row) -> float:
    """The row through the averaging of a report: metrics to task scores, task scores to the macro-average."""
    glue = load_benchmark("glue")
    scores = []
    for task in glue.scored:
        numbers = row.tasks[task.name]
        if len(numbers) != len(task.metrics):
            assert (row.table, task.name) == ("Table 6", "MNLI"), "whose two accuracies it prints as one"
        scores.append(Score(task_score([number / 100 for number in numbers]), None, None, 1))
    found = macro_average(scores)
    assert found is not None
    assert found.n == 9
    return 100 * (found.value or 0.0)


def test_there_are_51_rows() -> None:
    assert [sum(row.table == name for row in ROWS) for name in ("Table 4", "Table 6", "Figure 1")] == [
        17,
        17,
        17,
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.table}: {row.system}")
def test_the_printed_average_follows(row: Row) -> None:
    known = EXCEPTIONS.get((row.table, row.system))
    assert average(row) == pytest.approx(
        row.average if known is None else known, abs=0.005 if known else PRINTED
    )


def test_the_one_exception_is_one() -> None:
    (row,) = [row for row in ROWS if (row.table, row.system) in EXCEPTIONS]
    assert abs(average(row) - row.average) > PRINTED
