"""`gluebench audit`: how accurately shortcuts predict the labels of a task."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from gluebench.benchmark import Benchmark
from gluebench.benchmark.figures import percent, with_interval
from gluebench.benchmark.tables import Column, Section, Table, numeric
from gluebench.cli.common import option
from gluebench.cli.common.output import Form, Output, emit, notice, plain

if TYPE_CHECKING:
    from gluebench.analysis.audit import Audit, ShortcutAccuracy

# Equal to those in gluebench.analysis.audit, which --help does not import.
EPOCHS = 5
SMOOTHING = 100.0
SHOWN = 5


@click.command
@option.repeated(
    "--train NAME|FILE",
    "learned",
    help="What to learn from: a task's train split, NAME:SPLIT, or a table; may be repeated [each task].",
)
@option.repeated(
    "--test NAME|FILE",
    "tests",
    help="What to test on: a task's other labeled splits, NAME:SPLIT, or a table; repeatable [--train].",
)
@option.data()
@option.folder("--gold", help="Folder of labels, for test splits that have none in the data.")
@option.repeated(
    "--see PART",
    help="A text by its column (hypothesis, premise), length, overlap, trees, neighbors, unshared, cross or "
    "stacked; may be repeated [all].",
)
@option.number("--epochs", default=EPOCHS, least=1, help="Passes over the training pairs.")
@option.number("--seed", default=0, help="Seed of the order in which training pairs are taken.")
@option.number("--words", "shown", default=SHOWN, help="Words listed for each class; 0 for none.")
@option.text(
    "--smoothing X",
    type=click.FloatRange(min=0),
    default=SMOOTHING,
    help="Added to the count of each word with each class.",
)
@option.text("--like TASK", default="MNLI", help="The task whose columns and label words a table has.")
@option.benchmark
@option.output
def audit(
    learned: tuple[str, ...],
    tests: tuple[str, ...],
    data: Path,
    gold: str | None,
    like: str,
    suite: Benchmark,
    form: Form,
    **settings: Any,
) -> None:
    """Test how far shortcuts lead to the labels of a task.

    Classifiers that see one text, its length or the words in common; trees, nearest neighbors and word
    pairs that see both texts; and the words that go with a class. Without --train, every task of the
    benchmark is learned and tested on its own splits.

    \b
    Example:
      gluebench audit --train MRPC --data data/
      gluebench audit --train SNLI --train MNLI --test SNLI --test MNLI --test AX --data data/
      gluebench audit --train snli.tsv --test AX --see hypothesis
    """
    from gluebench.analysis import audit as audits
    from gluebench.data import DataError
    from gluebench.scoring import read_gold

    labels = read_gold(gold, suite) if gold is not None else None
    named_sets = audits.Sources(suite, data, labels, like)
    if tests and not learned:
        raise click.UsageError("--test without --train: name what to learn from, or leave both out.")
    settings |= {"printed": audits.PRINTED.get(suite.lineage[-1]), "progress": notice}
    if learned:
        train_sets = [named_sets.train(name) for name in dict.fromkeys(learned)]
        test_sets = list(
            chain.from_iterable(named_sets.tests(name) for name in dict.fromkeys(tests or learned))
        )
        emit(audit_output(audits.audit(train_sets, test_sets, **settings)), form)
        return
    own_sets = list(named_sets.own())
    if not own_sets:
        tasks = f"no task of {suite.name} with a train split has one or two texts and a label"
        raise DataError(f"{tasks}; an audit is for these")
    audits_of_tasks = [audits.audit([train], test_sets, **settings) for train, test_sets in own_sets]
    emit(audit_output(audits.merge_audits(audits_of_tasks)), form)


_FIELDS = ("train", "sees", "test", "label", "word", "measure", "value", "low", "high")


def audit_output(audited: Audit) -> Output:
    """The audit in every form: accuracies, words and lengths, each by training set."""
    tables = [_accuracies(audited.measured), _word_table(audited), _lengths(audited)]
    notes = []
    for train, words in audited.associations.items():
        if not words:
            notes.append(f"{train}: no word of the last text makes a class more probable.")
    filled_tables = [table for table in tables if table.sections]
    return Output(plain(audited), filled_tables, _FIELDS, list(_records(audited)), notes)


def _accuracies(measured: list[ShortcutAccuracy]) -> Table:
    columns: list[Column | str] = ["Sees", "Tested on", numeric("Examples"), numeric("Accuracy")]
    printed = any(result.printed is not None for result in measured)
    if printed:
        columns.append(numeric("printed"))
    columns += [numeric("Chance"), numeric("Majority"), "Verdict"]
    sections = []
    for train, group in groupby(measured, lambda result: result.train):
        rows = []
        for result in group:
            row = [f"  {result.sees}", result.test, f"{result.examples:,}"]
            row.append(with_interval(result.accuracy, result.low, result.high))
            if printed:
                row.append("" if result.printed is None else percent(result.printed))
            row += [percent(result.chance), percent(result.majority), result.verdict]
            rows.append(row)
        sections.append(Section(rows, f"learned from {train}"))
    note = (
        "Intervals are of 95 %. Chance is 1 over the number of classes, majority the share of the test set's "
        "most frequent label. Above majority: a paired test on the same examples, p <= .05."
    )
    return Table(columns, sections=sections, title="Accuracy of shortcuts, in %", notes=[note])


def _word_table(audited: Audit) -> Table:
    """The words that go with a class."""
    sections = []
    for train, words in audited.associations.items():
        rows = []
        for word in words:
            pmi = f"{word.pmi:.2f}"
            rows.append((f"  {word.label}", word.word, pmi, percent(word.share), f"{word.texts:,}"))
        if rows:
            sections.append(Section(rows, train))
    note = "PMI in bits, smoothed; % of class is the share of its examples whose last text has the word."
    columns = ("Class", "Word", numeric("PMI"), numeric("% of class"), numeric("Examples"))
    title = "Words of the last text that go with a class"
    return Table(columns, sections=sections, title=title, notes=[note])


def _lengths(audited: Audit) -> Table:
    sections = []
    for train, group in groupby(audited.lengths, lambda size: size.train):
        rows = []
        for size in group:
            first = f"{size.first:g}"
            second = "" if size.second is None else f"{size.second:g}"
            rows.append((f"  {size.label}", f"{size.pairs:,}", first, second))
        sections.append(Section(rows, train))
    columns = ("Class", numeric("Examples"), numeric("First text"), numeric("Second text"))
    return Table(columns, sections=sections, title="Median words of the texts of a class")


def _records(audited: Audit) -> Iterator[tuple[object, ...]]:
    """The rows of the CSV table, whose columns are _FIELDS."""
    for result in audited.measured:
        measures: list[tuple[object, ...]] = [
            ("examples", result.examples, None, None),
            ("accuracy", result.accuracy, result.low, result.high),
            ("chance", result.chance, None, None),
            ("majority", result.majority, None, None),
            ("p", result.p, None, None),
        ]
        if result.printed is not None:
            measures.append(("printed", result.printed, None, None))
        for measured in measures:
            yield (result.train, result.sees, result.test, None, None) + measured
    for train, words in audited.associations.items():
        for word in words:
            for measure in ("pmi", "share", "texts"):
                value = getattr(word, measure)
                yield (train, None, None, word.label, word.word, measure, value, None, None)
    for size in audited.lengths:
        for measure in ("pairs", "first", "second"):
            value = getattr(size, measure)
            yield (size.train, None, None, size.label, None, measure, value, None, None)
