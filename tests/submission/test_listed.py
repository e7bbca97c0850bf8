"""Many findings as few lines: what they share once, then their places."""

from __future__ import annotations

from gluebench.submission.problems import Problem, listed


def label(line: int, value: str = "maybe") -> Problem:
    return Problem("unknown-label", "error", "A.tsv", "expected 0 or 1", "Mend it.", line, line - 2, value)


def of_file(name: str) -> Problem:
    return Problem("line-ends", "notice", name, "expected line feeds", "Nothing to do.")


def missing(index: int) -> Problem:
    return Problem("missing-index", "error", "A.tsv", "expected all", "Add it.", None, index)


def test_one_finding_is_one_line():
    assert listed([label(7)]) == [
        "A.tsv:7 (index 5): unknown-label: found 'maybe'; expected 0 or 1. Mend it."
    ]


def test_findings_that_share_all_but_place_and_value_share_their_message():
    assert listed([label(7), of_file("B.tsv"), label(9, "perhaps")]) == [
        "unknown-label: expected 0 or 1. Mend it.",
        "    A.tsv:7 (index 5): 'maybe'",
        "    A.tsv:9 (index 7): 'perhaps'",
        "B.tsv: line-ends: expected line feeds. Nothing to do.",
    ]


def test_files_alone_stand_on_one_line():
    assert listed([of_file("A.tsv"), of_file("B.tsv")])[1:] == ["    A.tsv, B.tsv"]


def test_indices_that_follow_each_other_are_drawn_together():
    assert listed([missing(index) for index in (3, 7, 8, 9)])[1:] == ["    A.tsv (index 3, 7 to 9)"]


def test_what_is_only_counted_stands_with_its_kind():
    counted = {"A.tsv": {"unknown-label": 1200}, "C.tsv": {"columns": 4}}
    assert listed([label(7)], counted)[1:] == [
        "    A.tsv:7 (index 5): 'maybe'",
        "    A.tsv: and 1,200 more",
        "C.tsv: columns: 4 more",
    ]
