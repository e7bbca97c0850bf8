"""The paper's arithmetic: of the averages it prints all but four are the mean of the scores beside them."""

from __future__ import annotations

import pytest
from oracles.paper_tables import EXCEPTIONS, ROWS, Row

from gluebench.benchmark import load_benchmark
from gluebench.scoring import Score
from gluebench.scoring.grade import macro_average
from gluebench.scoring.metrics import task_score

ROUNDING = 0.05 + 1e-9
"""The average is printed to a tenth."""


def average(row: Row) -> float:
    """The row through the averaging of a report: metrics to task scores, task scores to the macro-average."""
    glue = load_benchmark("glue")
    scores = {}
    for task in glue.scored:
        numbers = row.tasks[task.name]
        if len(numbers) != len(task.metrics):
            assert (row.table, task.name) == ("Table 6", "MNLI"), "whose two accuracies it prints as one"
        value = task_score([number / 100 for number in numbers])
        scores[task.name] = Score(value, None, None, 1)
    found = macro_average(scores, intervals=False)
    assert found is not None
    assert found.n == 9
    return 100 * (found.value or 0.0)


def test_there_are_51_rows() -> None:
    assert [sum(row.table == name for row in ROWS) for name in ("Table 4", "Table 6", "Figure 1")] == [
        17,
        17,
        17,
    ]


def test_the_printed_average_is_the_mean_of_the_printed_scores_but_for_four() -> None:
    wrong = []
    for row in ROWS:
        mean = EXCEPTIONS.get((row.table, row.system))
        if mean is None:
            same = average(row) == pytest.approx(row.average, abs=ROUNDING)
        else:
            same = (
                average(row) == pytest.approx(mean, abs=0.0005) and abs(average(row) - row.average) > ROUNDING
            )
        wrong += [] if same else [(row.table, row.system)]
    assert wrong == []


def test_one_of_the_four_cannot_come_from_rounding_the_scores_either() -> None:
    """Scores printed to a tenth move the mean by at most 0.05 more."""
    off = {(row.table, row.system): round(row.average - average(row), 3) for row in ROWS}
    assert {name: off[name] for name in EXCEPTIONS} == {
        ("Table 4", "single-task BiLSTM"): -0.106,
        ("Table 4", "single-task +Attn, ELMo"): -0.056,
        ("Table 4", "DisSent"): 0.078,
        ("Table 6", "single-task +CoVe"): 0.1,
    }
    assert [name for name, difference in off.items() if abs(difference) > 0.1 + 1e-9] == [
        ("Table 4", "single-task BiLSTM")
    ]
