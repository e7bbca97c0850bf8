"""`gluebench challenge`: examples made by rule, and what a system makes of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gluebench.cli.common import option
from gluebench.cli.common.errors import reading_data
from gluebench.cli.common.lazy import LazyGroup

if TYPE_CHECKING:
    from gluebench.benchmark import Benchmark, Task
    from gluebench.data import Example

COMMANDS = {
    "predict": "gluebench.cli.analysis.challenge_score:predict",
    "score": "gluebench.cli.analysis.challenge_score:score",
}
"""Commands in files of their own, imported when they are asked for."""


@click.group(cls=LazyGroup, commands_at=COMMANDS)
def challenge() -> None:
    """Make examples by rule, ask a system, and keep what it fails.

    \b
    Example:
      gluebench challenge perturb --data data/ --task RTE --split dev --out changed.tsv
      gluebench challenge predict changed.tsv system:bag-of-words --data data/ --out answers.tsv
      gluebench challenge score changed.tsv answers.tsv --keep diagnostic.tsv
    """


@challenge.command
@option.new_file("--out", required=True, help="Where to write.")
@click.option("--task", "name", metavar="TASK", help="The inference task whose model is to be asked.")
@click.option(
    "--each",
    metavar="N",
    type=click.IntRange(1, 300),
    default=50,
    show_default=True,
    help="Examples of each case.",
)
@option.number("--seed", default=0, help="Seed of the words.")
@option.benchmark
def shortcuts(out: str, name: str | None, each: int, seed: int, suite: Benchmark) -> None:
    """Write pairs that try lexical overlap, subsequence and constituent.

    Without --task, they are for the task that answers the benchmark's diagnostic set (GLUE's: MNLI).

    \b
    Example:
      gluebench challenge shortcuts --out shortcuts.tsv
    """
    from gluebench.analysis.challenge.item import write_items
    from gluebench.analysis.challenge.rules import shortcuts as made

    task = _task(suite, name)
    items = made(task, each=each, seed=seed)
    write_items(out, items, task)
    cases = len({item.case for item in items})
    click.echo(f"{out}: {len(items):,} examples of {cases} cases, for a model of {task.name}.")


def _task(suite: Benchmark, name: str | None) -> Task:
    if name is not None:
        return suite.task(name)
    answering = {task.predict_with for task in suite.diagnostics if task.predict_with}
    if len(answering) != 1:
        raise click.UsageError("Name the inference task with --task.")
    return suite.task(answering.pop() or "")


@challenge.command
@option.new_file("--out", required=True, help="Where to write.")
@click.option("--task", "name", metavar="TASK", required=True, help="The task whose examples are changed.")
@click.option("--split", metavar="SPLIT", help="Their split; dev, or the only one.")
@option.data()
@option.hidden_gold
@option.repeated("--rule", "rules", metavar="RULE", help="This rule only; may be repeated.")
@click.option(
    "--pairs",
    metavar="TASK",
    help="Pair each sentence with its edit, for a model of this inference task; needs no labels.",
)
@option.number("--limit", least=1, help="Change the first N examples only.")
@option.number("--seed", default=0, help="Seed of the names.")
@option.benchmark
def perturb(
    out: str,
    name: str,
    split: str | None,
    data: Path,
    gold: str | None,
    rules: tuple[str, ...],
    pairs: str | None,
    limit: int | None,
    seed: int,
    suite: Benchmark,
) -> None:
    """Change examples by rule, or pair sentences with their edits.

    Rules: negation added, negation removed, active to passive, passive to active, framed as true, truism
    added, names changed. They are for English, and leave alone what they cannot safely change.

    \b
    Example:
      gluebench challenge perturb --data data/ --task MNLI --split dev_matched --out changed.tsv
      gluebench challenge perturb --data data/ --task SST-2 --pairs MNLI --rule "negation added" --out new.tsv
    """
    from gluebench.analysis.challenge.item import write_items
    from gluebench.analysis.challenge.rules import RULES, perturbed, sentence_pairs
    from gluebench.data import DataError, load

    task = suite.task(name)
    with reading_data():
        table = load(task.name, split or _split(task), data, benchmark=suite)
        examples = table[:limit] if limit else list(table)
    if pairs is None:
        target = suite.task(task.predict_with) if task.predict_with else task
        labels = None if gold is None else _labels(gold, suite, task, table.split)
        if labels is None and not table.labelled:
            message = "labels are hidden; take a split that has them, or name them (--gold), or --pairs TASK"
            raise DataError([f"{task.name} {table.split}: {message}"])
        items = perturbed(task, _labelled(examples, labels), rules=rules or RULES, seed=seed)
    else:
        target = suite.task(pairs)
        items = sentence_pairs(target, examples, rules=rules or RULES, name=task.name)
    if not items:
        raise DataError([f"{task.name} {table.split}: no rule fits any of {len(examples):,} examples"])
    write_items(out, items, target)
    click.echo(f"{out}: {len(items):,} examples from {len(examples):,} of {task.name} {table.split}.")
    for case, count in Counter(item.case for item in items).items():
        click.echo(f"  {case}: {count:,}")


def _split(task: Task) -> str:
    from gluebench.data.show import default_splits

    splits = default_splits(task)
    if len(splits) > 1:
        raise click.UsageError(f"Name the split of {task.name} with --split: {', '.join(splits)}.")
    return splits[0]


def _labels(gold: str, suite: Benchmark, task: Task, split: str) -> dict[int, str]:
    """The gold labels of a split by index. Raises GoldError, and DataError where there are none."""
    from gluebench.data import DataError
    from gluebench.scoring import read_gold

    for file in task.files:
        for role in file.splits:
            if file.splits[role].name != split:
                continue
            column = read_gold(gold, suite, role=role, partial=True).columns.get(file.name)
            if column is not None and column.labels:
                return dict(zip(column.indices or range(len(column)), column.words(), strict=True))
    raise DataError([f"{gold}: no labels of {task.name} {split}; expected a file for each test file"])


def _labelled(examples: list[Example], labels: dict[int, str] | None) -> list[Example]:
    """The examples with these labels, those without one left out; as they are where there are none."""
    if labels is None:
        return examples
    return [replace(example, label=labels[example.index]) for example in examples if example.index in labels]
