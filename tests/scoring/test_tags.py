"""Tags and metadata beside the gold: every problem in full, and which examples each category holds."""

from __future__ import annotations

import pytest

from gluebench.benchmark import Benchmark, Split, Task
from gluebench.scoring.tags import (
    Category,
    Metadata,
    Sheet,
    Tagged,
    categories,
    read_metadata,
    read_phenomena,
)
from gluebench.submission.problems import Problem

FILE = "Probe.phenomena.tsv"
TAGS = b"index\tcoarse\tfine\n"
INDICES = (0, 1, 2)
FIRST = "Fix those above first."
FULL = "expected a value for each of index, coarse, fine, with one tab between them"
KNOWN = "expected a phenomenon of Probe and its coarse category, as the manifest has them"
INDEX = ("expected an integer from 0 to 2 as index", "Write the test file's index.")


@pytest.fixture
def task(small: Benchmark) -> Task:
    return small.task("Probe")


def error(code: str, expected: str, fix: str, *where: int | str | None) -> Problem:
    return Problem(code, "error", FILE, expected, fix, *where)  # type: ignore[arg-type]


HEADERS = {
    "foreign": (
        b"id\twhat" + 60 * b"s" + b"\n0\tx\n",
        error(
            "header",
            "expected a line of column names",
            "Name the first column index, or id for the ids of a split that has them.",
            1,
            None,
            "id\twhat" + 53 * "s",
        ),
    ),
    "spaces": (
        b"index coarse fine\n",
        error(
            "header",
            "expected a line of column names",
            "Name the first column index, or id for the ids of a split that has them.",
            1,
            None,
            "index coarse fine",
        ),
    ),
    "encoding": (b"\nindex\n\xff\n\n\n", error("encoding", "expected UTF-8 text", "Save it as UTF-8.", 3)),
}
ROWS = {
    "short": (b"0\tLogic\n", error("columns", FULL, "Fill in the row.", 2, None, "0\tLogic")),
    "empty": (b"\n\n0\t\tNegation\n", error("columns", FULL, "Fill in the row.", 4, None, "0\t\tNegation")),
    "long": (
        b"0\t" + 99 * b"x" + b"\n",
        error("columns", FULL, "Fill in the row.", 2, None, "0\t" + 58 * "x"),
    ),
    "too large": (b"3\tLogic\tNegation\n", error("bad-index", *INDEX, 2, None, "3")),
    "negative": (b"-1\tLogic\tNegation\n", error("bad-index", *INDEX, 2, None, "-1")),
    "no decimal": ("²\tLogic\tNegation\n".encode(), error("bad-index", *INDEX, 2, None, "²")),
    "endless": (9999 * b"1" + b"\tLogic\tNegation\n", error("bad-index", *INDEX, 2, None, 60 * "1")),
    "mistyped": (
        b"1\tLogic\tNegatoin\n",
        error(
            "unknown-phenomenon", KNOWN, "Did you mean Negation or Double Negation?", 2, 1, "Logic, Negatoin"
        ),
    ),
    "unheard of": (
        b"1\tLogic\tZzz\n",
        error(
            "unknown-phenomenon", KNOWN, "Add it to the manifest, as a name or an alias.", 2, 1, "Logic, Zzz"
        ),
    ),
}


def tags(data: bytes, task: Task) -> tuple[Tagged, list[Problem]]:
    sheet = Sheet(FILE, data, Split("test", "test.tsv", 3), INDICES)
    return read_phenomena(sheet, task), sheet.problems


def divisions(data: bytes, task: Task) -> tuple[Metadata, list[Problem]]:
    sheet = Sheet(FILE, data, Split("test", "test.tsv", 3), INDICES)
    return read_metadata(sheet, task), sheet.problems


@pytest.mark.parametrize("case", [*HEADERS, *ROWS])
def test_a_problem_of_tags_says_where_it_is_and_what_to_do(task: Task, case: str) -> None:
    data, problem = HEADERS.get(case) or (TAGS + ROWS[case][0], ROWS[case][1])
    assert tags(data, task) == ({}, [problem])


def test_other_columns_than_those_of_tags_are_named(task: Task) -> None:
    header = "expected the header index<TAB>coarse<TAB>fine"
    problem = error("header", header, "Write it so.", 1, None, "index\tcoarse")
    assert tags(b"index\tcoarse\n0\tLogic\n", task) == ({}, [problem])


@pytest.mark.parametrize(
    ("rows", "more"), [(20, []), (21, ["1 more problem"]), (1022, ["1,002 more problems"])]
)
@pytest.mark.parametrize("row", [b"0\tLogic\n", b"0\tLogic\tZzz\n"])
def test_twenty_problems_are_shown_and_the_rest_counted(
    task: Task, row: bytes, rows: int, more: list[str]
) -> None:
    _, problems = tags(TAGS + rows * row, task)
    assert [each.line for each in problems[:20]] == list(range(2, 22))
    assert problems[20:] == [error("more", each, FIRST) for each in more]


DIRECTION = error(
    "metadata-column", "expected a column 'direction', which the manifest names", "Add the column.", 1
)
ONCE = ("repeated-index", "expected each index once", "Keep one row for this index.")
LISTED = ("missing-index", "expected a row for each example that has gold", "Add the missing row.")


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (
            "index\tother\n0\tx\n",
            [
                error(
                    "header",
                    "expected the header index<TAB>group<TAB>direction",
                    "Write it so.",
                    1,
                    None,
                    "index\tother",
                )
            ],
        ),
        ("index\tgroup\n0\tx\n1\tx\n2\tx\n", [DIRECTION]),
        (
            "index\tdirection\tdirection\n0\ta\tb\n1\ta\tb\n2\ta\tb\n",
            [error("metadata-column", "expected one column 'direction'", "Remove the others.", 1)],
        ),
        (
            "index\tdirection\n1\tb\n1\tb\n0\ta\n0\ta\n",
            [error(*ONCE, 3, 1), error(*ONCE, 5, 0), error(*LISTED, None, 2)],
        ),
        (
            "index\tdirection\n1\tb\n2\tb\n" + 22 * "0\ta\n",
            [*(error(*ONCE, line, 0) for line in range(5, 25)), error("more", "1 more problem", FIRST)],
        ),
        ("index\tdirection\n3\tb\n", [error("bad-index", *INDEX, 2, None, "3")]),
    ],
    ids=["no column", "lacking", "twice", "rows", "many rows", "index"],
)
def test_a_problem_of_metadata_says_where_it_is_and_what_to_do(
    task: Task, text: str, problems: list[Problem]
) -> None:
    assert divisions(text.encode(), task) == (Metadata(None, {}), problems)


def test_metadata_may_have_groups_or_columns_alone(task: Task) -> None:
    """Rows in any order, and columns that the manifest does not name are passed over."""
    text = b"index\tnote\tdirection\n2\tx\tup\n0\ty\tdown\n1\tz\tup\n"
    assert divisions(text, task) == (Metadata(None, {"direction": ("down", "up", "up")}), [])
    text = b"index\tgroup\n2\tb\n0\ta\n1\tb\n"
    assert divisions(text, task._replace(metadata=())) == (Metadata((0, 1, 1), {}), [])


def test_categories_are_in_the_manifests_order_and_never_empty(task: Task) -> None:
    negation, double, world = task.phenomena
    tags = {world: (4,), double: (1, 3), negation: (0, 3)}
    about = Metadata(None, {"direction": ("up", "down", "up", "up", "down"), "other": ("x",) * 5})
    phenomena = [
        Category("overall", "", (0, 1, 2, 3, 4)),
        Category("coarse", "Logic", (0, 1, 3)),
        Category("coarse", "Knowledge", (4,)),
        Category("fine", "Negation", (0, 3)),
        Category("fine", "Double Negation", (1, 3)),
        Category("fine", "World Knowledge", (4,)),
    ]
    ways = [Category("direction", "up", (0, 2, 3)), Category("direction", "down", (1, 4))]
    assert list(categories(task, tags, about, size=5)) == [*phenomena, *ways]
    assert list(categories(task, tags, None, size=5)) == phenomena
    assert list(categories(task, {}, Metadata((0,) * 5, {}), size=5)) == phenomena[:1]
