"""Many findings as few lines: what they share once, then their places."""

from __future__ import annotations

from gluebench.submission.problems import Problem, listed, verdict


def label(line: int, value: str = "maybe") -> Problem:
    return Problem("unknown-label", "error", "A.tsv", "expected 0 or 1", "Fix it.", line, line - 2, value)


def of_file(name: str) -> Problem:
    return Problem("line-ends", "notice", name, "expected line feeds", "Nothing to do.")


def missing(index: int) -> Problem:
    return Problem("missing-index", "error", "A.tsv", "expected all", "Add it.", None, index)


def test_one_finding_is_one_line():
    assert listed([label(7)]) == ["A.tsv:7 (index 5): unknown-label: found 'maybe'; expected 0 or 1. Fix it."]


def test_findings_that_share_all_but_place_and_value_share_their_message():
    assert listed([label(7), of_file("B.tsv"), label(9, "perhaps")]) == [
        "unknown-label: expected 0 or 1. Fix it.",
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
        "    A.tsv:7 (index 5): 'maybe', and 1,200 more",
        "C.tsv: columns: 4 more",
    ]


def test_lines_without_a_value_are_drawn_together_with_their_count():
    extra = [
        Problem("extra-index", "error", "A.tsv", "expected none", "Leave it out.", line, line - 2)
        for line in (6, 7, 8)
    ]
    assert listed(extra, {"A.tsv": {"extra-index": 5}})[1:] == ["    A.tsv:6 to 8 (index 4 to 6), and 5 more"]


def test_each_file_of_a_kind_has_its_own_count() -> None:
    other = Problem("extra-index", "error", "B.tsv", "expected none", "Leave it out.", 3)
    mine = Problem("extra-index", "error", "A.tsv", "expected none", "Leave it out.", 6, 4)
    assert listed([mine, other], {"B.tsv": {"extra-index": 2}, "A.tsv": {"columns": 1000}}) == [
        "extra-index: expected none. Leave it out.",
        "    A.tsv:6 (index 4)",
        "    B.tsv:3, and 2 more",
        "A.tsv: columns: 1,000 more",
    ]


def test_one_problem_with_more_behind_it_is_a_group() -> None:
    assert listed([missing(3)], {"A.tsv": {"missing-index": 1}}) == [
        "missing-index: expected all. Add it.",
        "    A.tsv (index 3), and 1 more",
    ]
    assert listed([]) == []
    assert listed([missing(3)], {}) == [str(missing(3))]


def test_values_alone_are_shown_beside_their_files() -> None:
    shares = [Problem("row-count", "error", f"{name}.tsv", "expected 4", "Fix.", value="3") for name in "AB"]
    assert listed(shares)[1:] == ["    A.tsv: '3'", "    B.tsv: '3'"]
    assert (
        str(Problem("no-files", "error", "", "expected one", "Add it.")) == "no-files: expected one. Add it."
    )


def test_a_verdict_needs_every_scored_file_and_no_error() -> None:
    assert verdict([], missing=False) == "valid"
    assert verdict([of_file("A.tsv")], missing=True) == "incomplete"
    assert verdict([of_file("A.tsv"), missing(3)], missing=True) == "invalid"
