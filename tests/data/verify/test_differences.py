"""Rows that differ are found, told apart by kind, and none is invented."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docs.tools.marks import packed
from gluebench.benchmark import Task, load_benchmark
from gluebench.data import Example
from gluebench.data.verify.check import (
    ADDED,
    LABEL,
    MISSING,
    ORDER,
    OTHER,
    SPACING,
    Difference,
    Marks,
    differences,
    marks,
    summary,
    unpack_marks,
)

TASK = load_benchmark("glue").task("MRPC")
NUMBERS = load_benchmark("glue").task("STS-B")


def examples(rows: list[tuple[str, str, str]], task: Task = TASK) -> list[Example]:
    return [
        Example(index, dict(zip(task.columns, texts, strict=True)), label)
        for index, (*texts, label) in enumerate(rows)
    ]


PUBLISHED = [
    ("A cat sat. ", "A cat was sitting.", "1"),
    ('"Never," said Ann.', "Ann said never.", "1"),
    ('He said "no".', "He said yes.", "0"),
    ("It cost 5 $.", "The price was 5 $.", "1"),
    ("Café au lait", "Coffee with milk", "1"),
    ("Nothing here.", "Nothing there.", "0"),
] + [(f"Row number {row}.", f"The row of number {row}.", str(row % 2)) for row in range(40)]
KNOWN = marks(TASK, examples(PUBLISHED))


def found(rows: list[tuple[str, str, str]]) -> list[Difference]:
    return differences(TASK, examples(rows), KNOWN)


def changed(row: int, *, first: str | None = None, label: str | None = None) -> list[tuple[str, str, str]]:
    rows = list(PUBLISHED)
    one, two, word = rows[row]
    rows[row] = (one if first is None else first, two, word if label is None else label)
    return rows


def test_the_same_rows_have_no_difference() -> None:
    assert found(PUBLISHED) == []


@pytest.mark.parametrize(
    ("row", "text", "kind"),
    [
        (0, "A cat sat.", "a space at its end is lost"),
        (0, "A cat sat.  ", SPACING),
        (1, 'Never," said Ann.', "a quotation mark at its beginning is lost"),
        (2, '"He said ""no""."', "it is still quoted as in CSV"),
        (2, 'He said ""no"".', "quotation marks are doubled"),
        (3, "It cost 5$.", SPACING),
        (4, "Cafe\u0301 au lait", "it was decomposed (Unicode NFD)"),
        (5, "\ufeffNothing here.", "it has a byte order mark"),
        (5, "Something here.", OTHER),
    ],
)
def test_a_changed_text_is_told_by_what_would_undo_it(row: int, text: str, kind: str) -> None:
    assert found(changed(row, first=text)) == [Difference(row, kind)]


def test_another_label_is_told_with_both() -> None:
    assert found(changed(3, label="0")) == [Difference(3, LABEL, "0 here, 1 published")]


def test_missing_and_added_rows_do_not_shift_the_rest() -> None:
    assert found(PUBLISHED[:7] + PUBLISHED[9:]) == [Difference(7, MISSING), Difference(8, MISSING)]
    assert found([*PUBLISHED[:7], ("new", "row", "1"), *PUBLISHED[7:]]) == [Difference(7, ADDED)]
    assert found(PUBLISHED[:-1]) == [Difference(len(PUBLISHED) - 1, MISSING)]


def test_merged_lines_are_missing_rows_and_one_changed() -> None:
    """What a stray quotation mark does in a reader that takes it for quoting."""
    merged = (PUBLISHED[10][0] + "\n" + PUBLISHED[11][0], PUBLISHED[12][1], "1")
    assert summary(found([*PUBLISHED[:10], merged, *PUBLISHED[13:]])) == {MISSING: 2, OTHER: 1} or summary(
        found([*PUBLISHED[:10], merged, *PUBLISHED[13:]])
    ) == {MISSING: 2, OTHER: 1, LABEL: 1}


def test_rows_that_were_all_tokenized_anew_are_still_matched() -> None:
    spaced = [(one.replace(".", " ."), two.replace(".", " ."), label) for one, two, label in PUBLISHED]
    assert summary(found(spaced)) == {SPACING: len(PUBLISHED) - 1}  # one row has no full stop
    assert summary(found([*spaced[:20], *spaced[21:]]))[MISSING] == 1


def test_the_same_rows_in_another_order_are_told_as_that() -> None:
    shuffled = list(PUBLISHED)
    random.Random(1).shuffle(shuffled)
    kinds = summary(found(shuffled))
    assert list(kinds) == [ORDER]
    assert kinds[ORDER] == sum(one != other for one, other in zip(shuffled, PUBLISHED, strict=True))


def test_scores_are_compared_too() -> None:
    rows = [
        Example(0, {"sentence1": "a", "sentence2": "b"}, 2.5),
        Example(1, {"sentence1": "c", "sentence2": "d"}, 3.0),
    ]
    known = marks(NUMBERS, rows)
    assert differences(NUMBERS, rows, known) == []
    moved = [rows[0], Example(1, rows[1].inputs, 3.2)]
    assert differences(NUMBERS, moved, known) == [Difference(1, LABEL)]


@given(st.lists(st.integers(0, len(PUBLISHED) - 1), max_size=6, unique=True))
def test_every_changed_row_is_found_and_no_other(rows: list[int]) -> None:
    changed_rows = [
        (one + " changed", two, label) if row in rows else (one, two, label)
        for row, (one, two, label) in enumerate(PUBLISHED)
    ]
    assert [each.row for each in found(changed_rows)] == sorted(rows)


ROW = st.tuples(st.text(max_size=5), st.text(max_size=5), st.sampled_from(["0", "1"]))


@given(st.lists(ROW, min_size=1, max_size=8))
def test_marks_survive_their_file(rows: list[tuple[str, str, str]]) -> None:
    kept = {("MRPC", "dev"): marks(TASK, examples(rows)), ("MRPC", "test"): KNOWN}
    assert dict(unpack_marks(packed(kept))) == kept


def test_a_file_of_marks_that_is_cut_short_is_refused() -> None:
    with pytest.raises(ValueError, match="not a whole file"):
        list(unpack_marks(packed({("MRPC", "dev"): KNOWN})[:-1]))


def test_marks_hold_no_text_and_are_four_bytes_a_row() -> None:
    body = packed({("MRPC", "dev"): KNOWN}).partition(b"\n")[2]
    assert len(body) == 4 * len(PUBLISHED)
    assert isinstance(KNOWN, Marks)
