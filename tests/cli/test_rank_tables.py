"""`gluebench rank` of scored tables: over items or over tasks, and what a table cannot be asked for."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gluebench.cli import main

Rank = Callable[..., Result]


@pytest.fixture
def rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rank:
    """Tables of two systems: over 10 and 40 tasks, and over 60 items of 3 tasks."""
    monkeypatch.chdir(tmp_path)
    rng = random.Random(1)
    for count in (10, 40):
        rows = "".join(f"t{at},{rng.random() / 4},{rng.random()}\n" for at in range(count))
        Path(f"tasks{count}.csv").write_text(f"task,base,ours\n{rows}")
    items = "".join(f"q{at},t{at % 3},{rng.random() < 0.4:d},{rng.random() < 0.7:d}\n" for at in range(60))
    Path("items.csv").write_text(f"item,task,base,ours\n{items}")
    return lambda *options: CliRunner().invoke(main, ["rank", *options], terminal_width=200)


def test_few_tasks_are_the_reason_for_missing_rank_sets(rank: Rank) -> None:
    few, many = (rank("--table", f"tasks{count}.csv").stdout for count in (10, 40))
    assert "tasks10: all tasks (10) by mean\nrank  system" in few
    assert "Rank sets are withheld: 10 tasks are too few, since they need" in few
    assert "ours is the best (95 %)." in many
    assert "withheld" not in many


def test_items_and_tasks_are_said_apart(rank: Rank) -> None:
    items, tasks = (" ".join(rank("--table", f"{name}.csv").stdout.split()) for name in ("items", "tasks40"))
    assert items.startswith("items: 3 tasks by macro-average")
    assert "The uncertainty is over the items of these tasks; the tasks are fixed." in items
    assert "gluebench read TABLE --over tasks" in items
    assert "The uncertainty is over tasks: how the mean would vary with other tasks like these." in tasks
    assert "under every rule" in items
    assert "rule" not in tasks, "of one mean over rows there are no rules"


@pytest.mark.parametrize("options", [("--weights", "t1=2"), ("--weights", "t99=0"), ("--by", "median")])
def test_a_table_over_tasks_has_neither_weights_nor_rules(rank: Rank, options: tuple[str, ...]) -> None:
    """The message was that there is no task of this name, although each row is one."""
    result = rank("--table", "tasks40.csv", *options)
    assert result.exit_code != 0
    assert "tasks40: a table over tasks, whose rows are the tasks, each counted once" in result.stderr
    assert "weights and other rules need a table over items, with a column task" in result.stderr


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--weights", "t9=2"), "No task of items is called 't9'"),
        (("--weights", "t0=0", "--weights", "t1=0", "--weights", "t2=0"), "all tasks have the weight 0"),
        (("--majority", "t1"), "items: a table has scores, not labels"),
    ],
)
def test_what_a_table_over_items_cannot_be_asked_for(
    rank: Rank, options: tuple[str, ...], problem: str
) -> None:
    result = rank("--table", "items.csv", *options)
    assert result.exit_code != 0
    assert problem in result.stderr


def test_a_weight_of_a_task_of_a_table_counts(rank: Rank) -> None:
    assert "Weights: t0 1, t1 2, t2 1." in rank("--table", "items.csv", "--weights", "t1=2").stdout
