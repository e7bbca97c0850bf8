"""What a submitter reads about a file: each problem as it is printed, with its place, value and remedy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gluebench.submission.rows import Layout
from gluebench.submission.tables import Table, read_table

BINARY = Layout(("0", "1"), 4)
NLI = Layout(("entailment", "neutral", "contradiction"), 4)
SCORES = Layout((), 4)
GOLD = Layout(("0", "1"), 4, value="label")
SYNONYMS = Layout(("0", "1"), 4, {"not_entailment": 0, "entailment": 1})
VERSIONS = Layout(("0", "1"), 4, versions={6: "v1 (withdrawn)"}, others={3: "dev"})
HEADER = "index\tprediction\n"
BODY = "0\t1\n1\t0\n2\t0\n3\t1\n"
LONG = "x" * 61


def read(text: str, layout: Layout) -> Table:
    return read_table("T.tsv", text.encode(), layout)


@pytest.mark.parametrize(
    ("text", "layout", "message"),
    [
        (
            " \n",
            BINARY,
            "T.tsv: empty-file: expected a header and one row per example. Write the predictions again.",
        ),
        (
            HEADER + "\0" + BODY,
            BINARY,
            "T.tsv: encoding: expected UTF-8 text, and this is no text. "
            'Save the file again as UTF-8 (in pandas: encoding="utf-8").',
        ),
        (
            "\ufeff" + HEADER + BODY,
            BINARY,
            "T.tsv: byte-order-mark: expected plain UTF-8. Nothing to do: the mark was skipped.",
        ),
        (
            (HEADER + BODY).replace("\n", "\r\n"),
            BINARY,
            "T.tsv: line-ends: expected line feeds at the ends of lines. Nothing to do: they were read.",
        ),
        (
            " ID \tPrediction\n" + BODY,
            BINARY,
            "T.tsv:1: header-name: found ' ID \\tPrediction'; expected the header line index<TAB>prediction. "
            "Nothing to do: it was read as index<TAB>prediction.",
        ),
        (
            BODY,
            GOLD,
            "T.tsv:1: no-header: found '0\\t1'; expected the header line index<TAB>label. "
            "Add the line index<TAB>label at the top; without it the first example would be lost.",
        ),
        (
            (HEADER + BODY).replace("\t", ";"),
            BINARY,
            "T.tsv:1: separator: found 'index;prediction'; expected the header line index<TAB>prediction. "
            "Separate the two columns by a tab, not by a comma, semicolon or space.",
        ),
        (
            "index\tguess\n" + BODY,
            BINARY,
            "T.tsv:1: header: found 'index\\tguess'; expected the header line index<TAB>prediction. "
            "Write exactly two columns, named index and prediction.",
        ),
        (
            HEADER + "0\tentailment\n1\tnot_entailment\n2\tentailment\n3\t1\n",
            SYNONYMS,
            "T.tsv: label-synonym: expected 0 or 1. "
            "Nothing to do: 3 rows were read with not_entailment for 0, entailment for 1.",
        ),
        (
            HEADER + BODY + "\n\n",
            BINARY,
            "T.tsv: blank-lines: expected no blank lines; 2 found. Nothing to do: they were skipped.",
        ),
        (
            HEADER + BODY + "4\t0\n5\t0\n",
            VERSIONS,
            "T.tsv: wrong-version: expected 4 rows, and 6 is the size of v1 (withdrawn). "
            "Predict the current release of the data.",
        ),
        (
            HEADER + "0\t1\n1\t0\n2\t0\n",
            VERSIONS,
            "T.tsv: wrong-split: found '3 rows, not 4'; expected another number of rows, and the dev split "
            "has so many. Predict the examples that are asked for, not those of the dev split.",
        ),
        (
            HEADER + BODY.replace("1\t0", "1"),
            replace(BINARY, complete=False),
            "T.tsv:3: columns: found '1'; expected two columns, index and prediction, with one tab between "
            "them. Write one tab in each row, and quote nothing.",
        ),
        (
            HEADER + BODY.replace("1\t0", "1.0\t0") + "1\t0\n",
            replace(BINARY, size=4, complete=False),
            "T.tsv:3: bad-index: found '1.0'; expected an integer from 0 to 3 as index, in plain digits. "
            "Write the index as the data's own index column has it: no sign, decimals, padding or quotes.",
        ),
        (
            HEADER + BODY + "4\t0\n",
            replace(BINARY, complete=False),
            "T.tsv:6 (index 4): extra-index: expected no index above 3. "
            "Leave out rows that are not in the split, and check its version.",
        ),
        (
            HEADER + BODY + "3\t1\n",
            replace(BINARY, complete=False),
            "T.tsv:6 (index 3): repeated-index: expected each index once. Keep one row for this index.",
        ),
        (
            HEADER + BODY.replace("1\t0", "1\t" + LONG),
            replace(NLI, words=("0", "1", "2")),
            f"T.tsv:3 (index 1): unknown-label: found '{LONG[:59]}…'; expected 0, 1 or 2. "
            "Write the label word exactly so: no quotes, spaces or decimals.",
        ),
        (
            HEADER + BODY.replace("1\t0", "1\t" + LONG[:60]),
            Layout(("0", "1"), 4),
            f"T.tsv:3 (index 1): unknown-label: found '{LONG[:60]}'; expected 0 or 1. "
            "Write the label word exactly so: no quotes, spaces or decimals.",
        ),
        (
            HEADER + BODY.replace("1\t0", "1\t"),
            SCORES,
            "T.tsv:3 (index 1): empty-value: found ''; expected a number such as 3.5. "
            "Give every example a value.",
        ),
        (
            HEADER + BODY.replace("1\t0", "1\t3,5"),
            SCORES,
            "T.tsv:3 (index 1): not-a-number: found '3,5'; expected a number such as 3.5. "
            "Write a plain decimal number, with a point.",
        ),
        (
            HEADER + BODY.replace("1\t0", "1\t-Infinity"),
            SCORES,
            "T.tsv:3 (index 1): not-finite: found '-Infinity'; expected a finite number. "
            "Find out why the system gave no number here.",
        ),
        (
            HEADER + BODY.replace("1\t0", "1\t\udcff".encode("utf-8", "surrogateescape").decode("latin-1")),
            BINARY,
            "T.tsv:3 (index 1): unknown-label: found 'ÿ'; expected 0 or 1. "
            "Write the label word exactly so: no quotes, spaces or decimals.",
        ),
    ],
)
def test_one_problem_as_it_is_printed(text: str, layout: Layout, message: str) -> None:
    assert [str(problem) for problem in read(text, layout).problems] == [message]


@pytest.mark.parametrize("first", ["+0\t1", "-1\t1", "12", "7,1"])
def test_a_first_line_that_begins_with_a_number_is_a_row(first: str) -> None:
    codes = [problem.code for problem in read(f"{first}\n{BODY}", BINARY).problems]
    assert codes[0] == ("separator" if "," in first else "no-header")


def test_a_wrong_number_of_rows_is_said_before_the_indices() -> None:
    assert [str(problem) for problem in read(HEADER + BODY.replace("2\t0\n", ""), BINARY).problems] == [
        "T.tsv: row-count: found '3 rows, not 4'; expected one row for each example of the split. "
        "Write each example once; is it this benchmark and split?",
        "T.tsv (index 2): missing-index: expected a row for each index from 0 to 3. Add the missing row.",
    ]


def test_indices_from_one_are_explained_once_for_each_end() -> None:
    fix = "The indices seem to count from 1: take one from each, so that the first example has index 0."
    found = read(HEADER + "1\t1\n2\t0\n3\t0\n4\tx\n", BINARY).problems
    assert [(each.code, each.fix == fix) for each in found] == [
        ("extra-index", True),
        ("unknown-label", False),
        ("missing-index", True),
    ]


@pytest.mark.parametrize(
    "rows", ["1\t1\n2\t0\n3\t0\n5\t1\n", "1\t1\n2\t0\n3\t0\n", "2\t1\n3\t0\n4\t0\n5\t1\n"]
)
def test_other_gaps_are_not_taken_for_indices_from_one(rows: str) -> None:
    assert not any("count from 1" in problem.fix for problem in read(HEADER + rows, BINARY).problems)


@pytest.mark.parametrize("separator", [",", ";", " "])
def test_rows_like_their_header_are_not_repeated_as_errors(separator: str) -> None:
    found = read((HEADER + BODY).replace("\t", separator), BINARY)
    assert [problem.code for problem in found.problems] == ["separator"]
    assert not found.unshown
    mixed = read((HEADER + BODY).replace("\t", separator, 4), BINARY)
    assert [problem.code for problem in mixed.problems].count("columns") == 3


def test_errors_of_the_whole_file_count_among_the_twenty() -> None:
    rows = "".join(f"{index}\tx\n" for index in range(30))
    found = read("index\tguess\n" + rows, replace(BINARY, size=30))
    assert [problem.code for problem in found.problems] == ["header"] + ["unknown-label"] * 19
    assert found.unshown == {"unknown-label": 11}
    with_notice = read("Index\tprediction\n" + rows, replace(BINARY, size=30))
    assert [problem.code for problem in with_notice.problems] == ["header-name"] + ["unknown-label"] * 20
    assert with_notice.unshown == {"unknown-label": 10}


def test_another_release_still_has_its_wrong_labels_listed() -> None:
    rows = "".join(f"{index}\t{'x' if index == 5 else 0}\n" for index in range(6))
    found = read(HEADER + rows, VERSIONS)
    assert [(each.code, each.line) for each in found.problems] == [
        ("wrong-version", None),
        ("unknown-label", 7),
    ]
    assert not found.unshown


@pytest.mark.parametrize("data", [b"\xff\xfe0", b"\xfe\xff\0" + b"00", b"i" * 63 + b"\0"])
def test_what_is_no_text_is_known_by_how_it_begins(data: bytes) -> None:
    assert [problem.code for problem in read_table("T.tsv", data, BINARY).problems] == ["encoding"]


def test_a_nul_further_on_is_a_wrong_label_and_not_another_encoding() -> None:
    found = read(HEADER.ljust(64, "\n") + BODY.replace("1\t0", "1\t\0"), BINARY)
    assert [problem.code for problem in found.problems] == ["blank-lines", "unknown-label"]


def test_many_blank_lines_are_no_empty_file() -> None:
    assert "empty-file" not in [problem.code for problem in read("\n" * 1000, BINARY).problems]
    assert [problem.code for problem in read("\n" * 999, BINARY).problems] == ["empty-file"]
