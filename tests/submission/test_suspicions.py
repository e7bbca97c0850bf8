"""Warnings about predictions: when they come, when they do not, and what they say."""

from __future__ import annotations

from array import array
from collections import Counter
from pathlib import Path

import pytest

from gluebench.benchmark import Task, load_benchmark
from gluebench.submission import Column
from gluebench.submission.check import add_warnings
from gluebench.submission.tables import Table

COLA = load_benchmark("glue").task("CoLA")  # 29.6 % of the training labels are 0, and 70.4 % are 1
STS_B = load_benchmark("glue").task("STS-B")  # 0 to 5


def of_labels(task: Task, *counts: int) -> Table:
    codes = b"".join(bytes([code]) * count for code, count in enumerate(counts))
    return add_warnings(Table(Column(task.words, codes), [], Counter()), "T.tsv", task)


def of_numbers(*numbers: float) -> Table:
    return add_warnings(Table(Column((), array("d", numbers)), [], Counter()), "T.tsv", STS_B)


def task_with(tmp_path: Path, shares: dict[str, float]) -> Task:
    labels = ", ".join(f'{word} = "label {word}"' for word in shares)
    told = ", ".join(f"{word} = {share}" for word, share in shares.items())
    (tmp_path / "b.toml").write_text(
        f"""
        [benchmark]
        name = "b"
        [tasks.T]
        columns = ["text"]
        labels = {{ {labels} }}
        {f"label_shares = {{ {told} }}" if all(shares.values()) else ""}
        metrics = [{{ name = "accuracy" }}]
        splits = {{ test = {{ size = 1000 }} }}
        """
    )
    return load_benchmark(tmp_path / "b.toml").task("T")


@pytest.mark.parametrize(
    ("ones", "warned"),
    [
        (704, False),
        (296, True),
        (50, True),
        (424, True),  # swapping explains 15.2 % of the rows better
        (426, False),  # and here 14.8 %
        (500, False),  # 20 % off in either order
        (950, False),  # 25 % off, and further off when swapped
    ],
)
def test_swapped_labels_are_known_by_what_swapping_gains(ones: int, warned: bool) -> None:
    found = of_labels(COLA, 1000 - ones, ones)
    assert [problem.code for problem in found.problems] == ["swapped-labels"] * warned
    assert found.unshown == {}


def test_the_warning_about_swapped_labels_gives_both_shares() -> None:
    assert [str(problem) for problem in of_labels(COLA, 702, 298).problems] == [
        "T.tsv: swapped-labels: found '0 70%, 1 30%'; expected label shares near those of training "
        "(0 30%, 1 70%); these fit better with the labels swapped. Check the order of the model's label ids."
    ]


def test_labels_moved_around_in_a_circle_are_known(tmp_path: Path) -> None:
    task = task_with(tmp_path, {"a": 0.6, "b": 0.3, "c": 0.1})
    assert not of_labels(task, 600, 300, 100).problems
    for counts in ((100, 600, 300), (300, 100, 600)):
        assert [problem.code for problem in of_labels(task, *counts).problems] == ["swapped-labels"]


@pytest.mark.parametrize(("labels", "warned"), [(6, True), (7, False)])
def test_only_small_label_sets_are_tried_in_every_order(tmp_path: Path, labels: int, warned: bool) -> None:
    rest = 0.5 / (labels - 1)
    task = task_with(tmp_path, {"first": 0.5, **{f"other{at}": rest for at in range(labels - 1)}})
    counts = [int(1000 * rest)] * (labels - 1) + [500]
    assert bool(of_labels(task, *counts).problems) == warned


def test_nothing_is_swapped_where_no_shares_are_known(tmp_path: Path) -> None:
    assert not of_labels(task_with(tmp_path, {"a": 0, "b": 0}), 900, 100).problems


@pytest.mark.parametrize(
    ("found", "value"), [(of_labels(COLA, 0, 9), "1"), (of_numbers(2.5, 2.5), "2.5"), (of_numbers(7), "7")]
)
def test_a_constant_is_named_and_nothing_else_is_said(found: Table, value: str) -> None:
    assert [str(problem) for problem in found.problems] == [
        f"T.tsv: constant: found {value!r}; expected predictions that differ between examples. "
        "Check that the model ran."
    ]
    assert [problem.severity for problem in found.problems] == ["warning"]
    assert found.unshown == {}


def test_both_ends_of_the_range_are_inside() -> None:
    found = of_numbers(0, 5)
    assert (found.problems, found.unshown) == ([], {})


def test_scores_outside_are_shown_up_to_twenty_and_counted() -> None:
    twenty = of_numbers(1, *range(6, 26))
    assert ([problem.index for problem in twenty.problems], twenty.unshown) == ([*range(1, 21)], {})
    more = of_numbers(1, *range(6, 28))
    assert (len(more.problems), more.unshown) == (20, {"outside-range": 2})


def test_a_score_outside_is_legal_here_and_not_on_the_original_site() -> None:
    assert [str(problem) for problem in of_numbers(1, 5.123456789).problems] == [
        "T.tsv (index 1): outside-range: found '5.12346'; expected a score from 0 to 5. "
        "It is graded as it is; clip it to the range if the system means that."
    ]
