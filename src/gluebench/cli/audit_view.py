"""What `gluebench audit` found, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from gluebench.analysis.audit import Audit, Lengths, Measured
from gluebench.cli.formats import Records
from gluebench.cli.output import Output, interval, percent
from gluebench.cli.plain import plain
from gluebench.cli.tables import Section, Table

_FIELDS = ("train", "sees", "test", "label", "word", "measure", "value", "low", "high")
_NOTES = (
    "Intervals are of 95 %. Chance is 1 over the number of classes, majority the share of the test set's "
    "most frequent label.",
)


def audit_output(found: Audit) -> Output:
    """Accuracies, words and lengths, each by training set."""
    tables = [_accuracies(found.measured), _words(found), _lengths(found.lengths)]
    return Output(
        plain(found),
        tuple(table for table in tables if table.sections),
        Records(_FIELDS, tuple(_records(found))),
        tuple(
            f"{train}: no word of the second text makes a class more probable."
            for train, listed in found.associations.items()
            if not listed
        ),
    )


def _accuracies(measured: list[Measured]) -> Table:
    printed = any(each.printed is not None for each in measured)
    columns = ["Sees", "Tested on", "Pairs", "Accuracy", "Chance", "Majority", "Verdict"]
    if printed:
        columns.insert(4, "printed")
    sections = tuple(
        Section(tuple(_accuracy_row(each, printed=printed) for each in group), f"learnt from {train}")
        for train, group in groupby(measured, lambda each: each.train)
    )
    return Table(
        tuple(columns),
        sections,
        title="Accuracy, in %, of what sees a part of each pair",
        right=frozenset(range(2, len(columns) - 1)),
        notes=_NOTES,
    )


def _accuracy_row(each: Measured, *, printed: bool) -> tuple[str, ...]:
    row = [
        f"  {each.sees}",
        each.test,
        f"{each.examples:,}",
        percent(each.accuracy) + interval(each.low, each.high),
        percent(each.chance),
        percent(each.majority),
        each.verdict,
    ]
    if printed:
        row.insert(4, "" if each.printed is None else percent(each.printed))
    return tuple(row)


def _words(found: Audit) -> Table:
    sections = tuple(
        Section(
            tuple(
                (f"  {each.label}", each.word, f"{each.pmi:.2f}", percent(each.share), f"{each.texts:,}")
                for each in listed
            ),
            train,
        )
        for train, listed in found.associations.items()
        if listed
    )
    return Table(
        ("Class", "Word", "PMI", "% of class", "Pairs"),
        sections,
        title="Words of the second text that go with a class",
        right=frozenset({2, 3, 4}),
        notes=(
            "PMI in bits, smoothed; % of class is the share of its pairs whose second text has the word.",
        ),
    )


def _lengths(lengths: list[Lengths]) -> Table:
    sections = tuple(
        Section(
            tuple(
                (f"  {each.label}", f"{each.pairs:,}", f"{each.first:g}", f"{each.second:g}")
                for each in group
            ),
            train,
        )
        for train, group in groupby(lengths, lambda each: each.train)
    )
    return Table(
        ("Class", "Pairs", "First text", "Second text"),
        sections,
        title="Median words of the texts of a class",
        right=frozenset({1, 2, 3}),
    )


def _records(found: Audit) -> Iterator[tuple[object, ...]]:
    for each in found.measured:
        where = (each.train, each.sees, each.test, None, None)
        yield (*where, "examples", each.examples, None, None)
        yield (*where, "accuracy", each.accuracy, each.low, each.high)
        yield (*where, "chance", each.chance, None, None)
        yield (*where, "majority", each.majority, None, None)
        if each.printed is not None:
            yield (*where, "printed", each.printed, None, None)
    for train, listed in found.associations.items():
        for word in listed:
            for measure, value in (("pmi", word.pmi), ("share", word.share), ("texts", word.texts)):
                yield (train, None, None, word.label, word.word, measure, value, None, None)
    for size in found.lengths:
        for measure, value in (("pairs", size.pairs), ("first", size.first), ("second", size.second)):
            yield (size.train, None, None, size.label, None, measure, value, None, None)
