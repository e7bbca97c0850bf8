"""`gluebench challenge`: make examples by rule, predict their labels with a model, score the answers."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark, Task
from gluebench.benchmark.figures import with_interval
from gluebench.benchmark.tables import Section, Table, numeric
from gluebench.cli.common import option
from gluebench.cli.common.errors import WRONG_FILE
from gluebench.cli.common.lazy import LazyGroup
from gluebench.cli.common.output import Form, Output, emit, notice, notices
from gluebench.cli.systems.run_options import chosen_options, model_options

if TYPE_CHECKING:
    from gluebench.analysis.challenge.item import CaseScore, ChallengeScores, Item
    from gluebench.systems.adapters.resolve import Model


@click.group(cls=LazyGroup)
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
@option.text("--task TASK", "name", help="The inference task whose model is to be asked.")
@option.text("--each N", "per_case", type=click.IntRange(1, 300), default=50, help="Examples of each case.")
@option.number("--seed", default=0, help="Seed of the words.")
@option.benchmark
def shortcuts(out: str, name: str | None, per_case: int, seed: int, suite: Benchmark) -> None:
    """Write pairs that try lexical overlap, subsequence and constituent.

    Without --task, they are for the task that answers the benchmark's diagnostic set (GLUE's: MNLI).

    \b
    Example:
      gluebench challenge shortcuts --out shortcuts.tsv
    """
    from gluebench.analysis.challenge.item import write_items
    from gluebench.analysis.challenge.rules import shortcuts as make_shortcuts

    if name is None:
        answering = {task.predict_with for task in suite.diagnostics if task.predict_with}
        if len(answering) != 1:
            raise click.UsageError("Name the inference task with --task.")
        [name] = answering
    task = suite.task(name)
    items = make_shortcuts(task, per_case=per_case, seed=seed)
    write_items(out, items, task)
    cases = len({item.case for item in items})
    click.echo(f"{out}: {len(items):,} examples of {cases} cases, for a model of {task.name}.")


@challenge.command
@option.new_file("--out", required=True, help="Where to write.")
@option.text("--task TASK", "name", required=True, help="The task whose examples are changed.")
@option.text("--split SPLIT", help="Their split; dev, or the only one.")
@option.data()
@option.hidden_gold
@option.repeated("--rule RULE", "rules", help="This rule only; may be repeated.")
@option.text(
    "--pairs TASK",
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
    from gluebench.analysis.challenge.rules import RULES, perturb, sentence_pairs
    from gluebench.data import DataError, load

    task = suite.task(name)
    table = load(task.name, option.split_to_read(task, split), data, benchmark=suite)
    examples = table[:limit] if limit else list(table)
    if pairs is None:
        target = suite.task(task.predict_with) if task.predict_with else task
        labels = None if gold is None else _labels(gold, suite, task, table.split)
        if labels is None and not table.labeled:
            message = "labels are hidden; take a split that has them, or name them (--gold), or --pairs TASK"
            raise DataError(f"{task.name} {table.split}: {message}")
        if labels is not None:
            labeled = [example for example in examples if example.index in labels]
            examples = [replace(example, label=labels[example.index]) for example in labeled]
        items = perturb(task, examples, rules=rules or RULES, seed=seed)
    else:
        target = suite.task(pairs)
        items = sentence_pairs(target, examples, rules=rules or RULES, name=task.name)
    if not items:
        raise DataError(f"{task.name} {table.split}: no rule fits any of {len(examples):,} examples")
    write_items(out, items, target)
    click.echo(f"{out}: {len(items):,} examples from {len(examples):,} of {task.name} {table.split}.")
    for case, count in Counter(item.case for item in items).items():
        click.echo(f"  {case}: {count:,}")


def _labels(gold: str, suite: Benchmark, task: Task, split: str) -> dict[int, str]:
    """The gold labels of a split by index. Raises GoldError, or DataError if there are none."""
    from gluebench.data import DataError
    from gluebench.scoring import read_gold

    for file in task.files:
        for role in file.splits:
            if file.splits[role].name != split:
                continue
            column = read_gold(gold, suite, role=role, partial=True).columns.get(file.name)
            if column is not None and column.labels:
                return dict(zip(column.indices or range(len(column)), column.words(), strict=True))
    raise DataError(f"{gold}: no labels of {task.name} {split}; expected a file for each test file")


@challenge.command
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.argument("model", metavar="MODEL")
@option.new_file("--out", required=True, help="Where to write.")
@option.data("Folder of the data it is trained on")
@option.benchmark
@model_options
@click.pass_context
def predict(
    context: click.Context, /, file: str, model: str, out: str, data: Path, suite: Benchmark, **options: Any
) -> None:
    """Ask a model about a challenge set.

    MODEL is what gluebench run takes (docs/how-to/run.md); one that learns is first trained on FILE's task.
    The answers, index and prediction, are a file like those of a submission: another program may write it.

    \b
    Example:
      gluebench challenge predict shortcuts.tsv system:bag-of-words --data data/ --out answers.tsv
    """
    from gluebench.analysis.challenge.item import read_items
    from gluebench.systems.adapters.resolve import resolve
    from gluebench.systems.encoders.corpus import Corpus

    items = read_items(file, suite)
    task = suite.task(items[0].task)
    settings = chosen_options(context, model, options)
    with tempfile.TemporaryDirectory() as scratch:
        resolved = resolve(model, Corpus(suite, data, [task]), Path(scratch), settings)
        answers = _answers(resolved, suite, task, items=items, home=data)
    lines = "".join(f"{number}\t{answer}\n" for number, answer in enumerate(answers))
    Path(out).write_text(f"index\tprediction\n{lines}", encoding="utf-8")
    click.echo(f"{out}: {len(answers):,} answers.")


def _answers(model: Model, suite: Benchmark, task: Task, *, items: Sequence[Item], home: Path) -> list[str]:
    """Fit the system, then predict. Raises DataError, PredictionError."""
    from gluebench.data import Example
    from gluebench.systems.run import PredictionError, column, fit

    training_tasks = suite.tasks if model.together else [task]
    for training_task in training_tasks:
        if training_task.predict_with is None:
            fit(model.system, suite, training_task, home, say=notice)
    examples = []
    for number, item in enumerate(items):
        inputs = dict(zip(task.columns, item.inputs, strict=True))
        examples.append(Example(number, inputs, None))
    predictions = list(model.system.predict(task, examples))
    if len(predictions) != len(examples):
        raise PredictionError(f"{task.name}: {len(predictions)} predictions for {len(examples)} examples")
    return column(task, predictions).words()


COLUMNS = ("case", "examples", "right", "share", "low", "high", "original_right", "broken")


@challenge.command
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.argument("answers", metavar="ANSWERS", type=click.Path(exists=True, dir_okay=False))
@option.new_file("--keep", "kept", help="Write what it fails as a diagnostic set.")
@option.flag("--broken", help="Keep only what it fails though its original is right.")
@option.benchmark
@option.output
def score(file: str, answers: str, kept: str | None, broken: bool, suite: Benchmark, form: Form) -> None:
    """Score answers to a challenge set by case, and keep what fails.

    ANSWERS has the columns index and prediction, as a file of a submission.

    \b
    Example:
      gluebench challenge score changed.tsv answers.tsv --keep diagnostic.tsv
      gluebench data lint-diagnostic diagnostic.tsv
    """
    from gluebench.analysis.challenge.item import read_items
    from gluebench.analysis.challenge.item import score as score_answers

    if broken and kept is None:
        raise click.UsageError("--broken says what to keep; name the file with --keep.")
    items = read_items(file, suite)
    words = _read_answers(answers, suite.task(items[0].task), len(items))
    result = score_answers(items, words)
    emit(_output(file, result), form)
    if kept is not None:
        _keep_failures(kept, items, result.broken if broken else result.failed)


def _read_answers(path: str, task: Task, size: int) -> list[str]:
    """The answers in order; prints the problems of the file, and exits if any is an error."""
    from gluebench.submission.problems import listed
    from gluebench.submission.rows import Layout
    from gluebench.submission.tables import read_table

    codes = {}
    for code, label in enumerate(task.labels):
        for synonym in label.synonyms:
            codes[synonym] = code
    table = read_table(Path(path).name, Path(path).read_bytes(), Layout(task.words, size, codes))
    if table.problems:
        notices(listed(table.problems))
    if table.column is None or any(problem.severity == "error" for problem in table.problems):
        raise click.exceptions.Exit(WRONG_FILE)
    return table.column.words()


def _keep_failures(path: str, items: list[Item], failed: tuple[int, ...]) -> None:
    """Write the failed items as a diagnostic set, and say how to go on."""
    from gluebench.analysis.challenge.item import keep_failures

    if not failed:
        notices([f"{path}: not written, since there is nothing to keep."])
        return
    kept = keep_failures(path, items, failed)
    content = f"{kept.pairs:,} pairs"
    if kept.unlabeled:
        content += f"; {kept.unlabeled:,} need a label for the other direction"
    notices([f"{path}: {content}. Check it with: gluebench data lint-diagnostic {path}"])


def _output(file: str, result: ChallengeScores) -> Output:
    sections = []
    for part in (result.groups, result.cases):
        if part:
            sections.append(Section([_case_row(row) for row in part]))
    notes = []
    if any(case.sound for case in result.cases):
        notes.append("Broken: wrong now, of those whose original is right.")
    elif result.groups:
        notes.append('A system that always says yes has every "yes" case right, and every "no" case wrong.')
    columns = ("", numeric("examples"), numeric("right %"), numeric("broken"))
    title = f"Challenge set {Path(file).name}"
    table = Table(columns, sections=sections, title=title, notes=notes)
    groups = [_case_data(row) for row in result.groups]
    cases = [_case_data(row) for row in result.cases]
    data = {
        "schema": "gluebench.challenge/1",
        "groups": groups,
        "cases": cases,
        "failed": list(result.failed),
    }
    return Output(data, [table], COLUMNS, groups + cases)


def _case_row(row: CaseScore) -> tuple[str, ...]:
    broken = "-"
    if row.sound:
        broken = f"{row.broken:,} of {row.sound:,}"
    share = with_interval(row.share, row.bar.low, row.bar.high)
    return row.case, f"{row.n:,}", share, broken


def _case_data(row: CaseScore) -> dict[str, object]:
    values = (row.case, row.n, row.right, row.share, row.bar.low, row.bar.high, row.sound, row.broken)
    return dict(zip(COLUMNS, values, strict=True))
