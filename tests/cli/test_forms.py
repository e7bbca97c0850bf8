"""Tables in every form: aligned for a reader, and such that each form's own rules hold."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.benchmark import Label
from gluebench.benchmark.figures import interval, percent
from gluebench.cli.common.output import (
    Output,
    Paper,
    Section,
    Table,
    as_csv,
    as_latex,
    as_markdown,
    as_text,
    latex_escape,
    markdown_escape,
    plain,
    rendered,
)

TABLE = Table(
    columns=("task", "score", "n"),
    sections=(
        Section((("CoLA", " 35.0 [30.1, 39.5]", "1063"),), title="Single"),
        Section((("a task with a long name", "100.0", "9"), ("50% & more_of|it", "-", ""))),
    ),
    title="A title",
    right=frozenset({2}),
    notes=("A note that says something.",),
)


def test_text_aligns_columns_and_rules_off_sections():
    lines = as_text(TABLE, Paper()).splitlines()
    assert lines == [
        "A title",
        "task                     score                  n",
        "-------------------------------------------------",
        "Single",
        "CoLA                      35.0 [30.1, 39.5]  1063",
        "-------------------------------------------------",
        "a task with a long name  100.0                  9",
        "50% & more_of|it         -",
        "-------------------------------------------------",
        "A note that says something.",
    ]


@pytest.mark.parametrize("width", [30, 40, 50])
def test_text_folds_to_the_terminal_and_loses_nothing(width):
    text = as_text(TABLE, Paper(width=width))
    assert all(len(line) <= max(width, 8 + 18 + 4 + 4) for line in text.splitlines())
    for word in ("long", "name", "39.5]", "1063", "something."):
        assert word in text


def test_text_has_no_escapes_without_color_and_resets_each_with_it():
    assert "\x1b" not in as_text(TABLE, Paper())
    colored = as_text(TABLE, Paper(color=True))
    assert colored.count("\x1b[0m") == len(re.findall(r"\x1b\[[12]m", colored)) > 0
    assert re.sub(r"\x1b\[\dm", "", colored) == as_text(TABLE, Paper())


def test_wide_letters_take_two_columns():
    table = Table(("task", "n"), (Section((("한국어", "1"), ("KLUE-x", "2"))),), right=frozenset({1}))
    lines = as_text(table, Paper()).splitlines()
    assert lines[2] == "한국어  1"
    assert lines[3] == "KLUE-x  2"


def test_markdown_has_equal_cells_in_every_row():
    rows = [line for line in as_markdown(TABLE).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert rows[1] == "| --- | --- | ---: |"
    assert rows[2] == "| **Single** |  |  |"
    assert r"50% \& more\_of\|it" in rows[-1]


def test_latex_has_equal_cells_and_balanced_braces():
    text = as_latex(TABLE)
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {2}
    assert r"50\% \& more\_of\textbar{}it" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 1


def test_latex_rows_cannot_begin_an_optional_argument():
    table = Table(("a",), (Section((("[1, 2]",), ("*x",))),))
    assert "{}[1, 2] \\\\" in as_latex(table)
    assert "{}*x \\\\" in as_latex(table)


def test_latex_minus_is_a_minus_and_a_hyphen_a_hyphen():
    assert latex_escape("-1.5 [-2.0, 1.0] MNLI-m") == "$-$1.5 [$-$2.0, 1.0] MNLI-m"


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_latex_escape_leaves_no_special_letter_bare(text):
    escaped = latex_escape(text)
    for known in (r"\textbackslash{}", r"\textasciicircum{}", r"\textasciitilde{}", r"\textless{}"):
        escaped = escaped.replace(known, "")
    for known in (r"\textgreater{}", r"\textbar{}", "$-$"):
        escaped = escaped.replace(known, "")
    assert not re.search(r"(?<!\\)[{}$&#%_^~<>|]", escaped)


@given(st.text())
def test_markdown_escape_keeps_a_cell_in_one_cell_of_one_line(text):
    escaped = markdown_escape(text)
    assert len(escaped.splitlines()) <= 1
    assert not re.search(r"(?<!\\)(\\\\)*\|", escaped)


@given(
    st.lists(
        st.tuples(st.text(alphabet=st.characters(exclude_categories=("Cs",), exclude_characters="\0\r")))
    )
)
def test_csv_reads_back(rows):
    read = list(csv.reader(io.StringIO(as_csv(("value",), rows), newline="")))
    assert read[0] == ["value"]
    assert read[1:] == [list(row) if row != ("",) else [""] for row in rows]


def test_csv_leaves_nothing_empty():
    assert as_csv(("a", "b"), [(None, 0.5)]) == as_csv(("a", "b"), [{"b": 0.5}]) == "a,b\n,0.5\n"


def test_every_form_of_an_answer():
    output = Output({"b": 1, "a": [0.5, None]}, [TABLE], ("x",), [(1,)], words=("In words.",))
    assert json.loads(rendered(output, "json", paper=Paper())) == {"b": 1, "a": [0.5, None]}
    assert rendered(output, "csv", paper=Paper()) == "x\n1\n"
    for form in (None, "markdown", "latex"):
        assert rendered(output, form, paper=Paper()).endswith("In words.\n")
    assert "booktabs" in rendered(output, "latex", paper=Paper())


def test_numbers_as_they_are_read():
    assert percent(0.8483) == "84.8"
    assert percent(-0.0001) == "0.0"
    assert percent(None) == "-"
    assert interval(0.83, 0.864) == " [83.0, 86.4]"
    assert interval(None, None) == ""


def test_plain_turns_records_into_mappings():
    label = Label("0", "no", ("none",))
    assert plain({"t": (label,)}) == {
        "t": [{"word": "0", "gloss": "no", "synonyms": ["none"], "share": None}]
    }


def test_a_narrow_table_breaks_between_words_and_keeps_an_interval_whole():
    row = ("Spearman corr.", "  1.4 [-0.1, 2.8]", "paired exchange")
    table = Table(("metric", "A - B [95 % interval]", "test"), (Section((row,)),))
    lines = [line.rstrip() for line in as_text(table, Paper(width=40)).splitlines()]
    assert lines[3] == "Spearman       1.4          paired"
    assert lines[4] == "corr.          [-0.1, 2.8]  exchange"


def test_a_row_that_stands_under_another_does_so_in_every_form():
    table = Table(("category", "score"), (Section((("Logic", " 27.7"), ("  Negation", " 15.9"))),))
    assert "| &nbsp;&nbsp;Negation | 15.9 |" in as_markdown(table)
    assert r"\quad Negation & 15.9 \\" in as_latex(table)


def test_a_line_end_in_a_name_breaks_no_table() -> None:
    """A folder may be called "a\\nb": its row was two lines, and the rest of the table was out of line."""
    name = "a\nb\t\x1b[31m"
    table = Table([name, "n"], [Section([[name, "1"]], name)], name, {1}, [f"About {name}."])
    output = Output({"name": name}, [table], ["name"], [[name]], [f"{name} is first."])
    shown = r"a\nb\t\x1b[31m"
    text = rendered(output, None, paper=Paper())
    assert text.count(shown) == 6
    assert not {"\t", "\x1b"} & set(text)
    assert len({len(line) for line in text.splitlines() if line.endswith((" n", "1"))}) == 1
    for form in ("markdown", "latex"):
        lines = rendered(output, form, paper=Paper()).splitlines()  # type: ignore[arg-type]
        assert all("[31m" in line for line in lines if line.startswith(("| a", "a")))
    assert json.loads(rendered(output, "json", paper=Paper())) == {"name": name}
    assert next(csv.DictReader(io.StringIO(rendered(output, "csv", paper=Paper()))))["name"] == name
