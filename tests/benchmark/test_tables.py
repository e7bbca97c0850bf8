"""Tables in every form: aligned for a reader, and such that each form's own rules hold."""

from __future__ import annotations

import csv
import io
import json
import re
from html import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gluebench.benchmark import Label
from gluebench.benchmark.figures import interval, percent
from gluebench.benchmark.tables import (
    Best,
    Column,
    Paper,
    Section,
    Table,
    latex_escape,
    markdown_escape,
    numeric,
    show_count,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    to_text,
)
from gluebench.cli.common.output import Output, plain, rendered

TABLE = Table(
    columns=("task", "score", numeric("n")),
    sections=(
        Section((("CoLA", " 35.0 [30.1, 39.5]", "1063"),), title="Single"),
        Section((("a task with a long name", "100.0", "9"), ("50% & more_of|it", "-", ""))),
    ),
    title="A title",
    notes=("A note that says something.",),
)


def test_text_aligns_columns_and_rules_off_sections():
    lines = to_text(TABLE, Paper()).splitlines()
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
    text = to_text(TABLE, Paper(width=width))
    assert all(len(line) <= max(width, 8 + 18 + 4 + 4) for line in text.splitlines())
    for word in ("long", "name", "39.5]", "1063", "something."):
        assert word in text


def test_text_has_no_escapes_without_color_and_resets_each_with_it():
    assert "\x1b" not in to_text(TABLE, Paper())
    colored = to_text(TABLE, Paper(color=True))
    assert colored.count("\x1b[0m") == len(re.findall(r"\x1b\[[12]m", colored)) > 0
    assert re.sub(r"\x1b\[\dm", "", colored) == to_text(TABLE, Paper())


def test_wide_letters_take_two_columns():
    table = Table(("task", numeric("n")), (("한국어", "1"), ("KLUE-x", "2")))
    lines = to_text(table, Paper()).splitlines()
    assert lines[2] == "한국어  1"
    assert lines[3] == "KLUE-x  2"


def test_markdown_has_equal_cells_in_every_row():
    rows = [line for line in to_markdown(TABLE).splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4}
    assert rows[1] == "| --- | --- | ---: |"
    assert rows[2] == "| **Single** |  |  |"
    assert r"50% \& more\_of\|it" in rows[-1]


def test_latex_has_equal_cells_and_balanced_braces():
    text = to_latex(TABLE)
    body = text[text.index(r"\toprule") : text.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {2}
    assert r"50\% \& more\_of\textbar{}it" in text
    assert text.count(r"\begin{") == text.count(r"\end{") == 1


def test_latex_rows_cannot_begin_an_optional_argument():
    table = Table(("a",), (("[1, 2]",), ("*x",)))
    assert "{}[1, 2] \\\\" in to_latex(table)
    assert "{}*x \\\\" in to_latex(table)


def test_latex_minus_is_a_minus_and_a_hyphen_a_hyphen():
    assert latex_escape("-1.5 [-2.0, 1.0] MNLI-m") == "$-$1.5 [$-$2.0, 1.0] MNLI-m"


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_latex_escape_leaves_no_special_letter_bare(text):
    escaped = latex_escape(text)
    for known in (r"\textbackslash{}", r"\textasciicircum{}", r"\textasciitilde{}", r"\textless{}"):
        escaped = escaped.replace(known, "")
    for known in (r"\textgreater{}", r"\textbar{}", r"\textbraceleft{}", r"\textbraceright{}", "$-$"):
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
    read = list(csv.reader(io.StringIO(to_csv(("value",), rows), newline="")))
    assert read[0] == ["value"]
    assert read[1:] == [list(row) if row != ("",) else [""] for row in rows]


def test_csv_leaves_nothing_empty():
    assert to_csv(("a", "b"), [(None, 0.5)]) == to_csv(("a", "b"), [{"b": 0.5}]) == "a,b\n,0.5\n"


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
    table = Table(("metric", "A - B [95 % interval]", "test"), (row,))
    lines = [line.rstrip() for line in to_text(table, Paper(width=40)).splitlines()]
    assert lines[3] == "Spearman       1.4          paired"
    assert lines[4] == "corr.          [-0.1, 2.8]  exchange"


def test_a_row_that_stands_under_another_does_so_in_every_form():
    table = Table(("category", "score"), (("Logic", " 27.7"), ("  Negation", " 15.9")))
    assert "| &nbsp;&nbsp;Negation | 15.9 |" in to_markdown(table)
    assert r"\quad Negation & 15.9 \\" in to_latex(table)


def test_a_line_end_in_a_name_breaks_no_table() -> None:
    """A folder may be called "a\\nb": its row was two lines, and the rest of the table was out of line."""
    name = "a\nb\t\x1b[31m"
    table = Table(
        [name, numeric("n")], sections=[Section([[name, "1"]], name)], title=name, notes=[f"About {name}."]
    )
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


COSTS = Table(
    ("system", numeric("size", show_count, name="parameters"), Column("sha256", for_people=False)),
    [("A & B", 1234567, "ff"), ("<b>", None, "00")],
    title="Costs <i>",
    notes=["None is unknown."],
)


def test_a_column_says_once_how_people_and_programs_see_its_values() -> None:
    assert COSTS.records()[0] == {"system": "A & B", "parameters": 1234567, "sha256": "ff"}
    output = Output(COSTS.records(), [COSTS])
    assert rendered(output, "csv", paper=Paper()) == "system,parameters,sha256\nA & B,1234567,ff\n<b>,,00\n"
    assert to_text(COSTS, Paper()).splitlines()[3] == "A & B   1,234,567"
    assert r"A \& B & 1,234,567 \\" in to_latex(COSTS)
    assert r"| A \& B | 1,234,567 |" in to_markdown(COSTS)


def test_html_escapes_all_text_and_aligns_numbers_at_the_right() -> None:
    html = to_html(COSTS)
    assert not [text for text in ("<b>", "<i>", "sha256") if text in html]
    assert '<td style="text-align:left">A &amp; B</td><td style="text-align:right">1,234,567</td>' in html
    assert html.endswith("<p>None is unknown.</p>")
    sections = Table(("a", "b"), sections=[Section([("1", "2")], "x & y")])
    assert '<tr><th colspan="2" style="text-align:left">x &amp; y</th></tr>' in to_html(sections)


def test_latex_prints_the_signs_of_tables() -> None:
    assert latex_escape('RMSE ↓ 1–6 {x} "−2"') == (
        r"RMSE $\downarrow$ 1--6 \textbraceleft{}x\textbraceright{} ''$-$2''"
    )


@pytest.mark.parametrize(
    "text", ["[x](https://a.b)", "[x][y]", "www.a.b", "me@a.b", "@me", "$x$", "<b>", "![a](b)"]
)
def test_markdown_makes_no_link_image_or_formula_of_a_name(text: str) -> None:
    pytest.importorskip("linkify_it", reason="finds addresses as GitHub does")
    reader = MarkdownIt("gfm-like")
    assert reader.render(markdown_escape(text)) == f"<p>{escape(text, quote=False)}</p>\n"


def test_the_best_of_a_column_is_bold_and_columns_have_headings_in_common() -> None:
    columns = ["system", numeric("Avg"), Column("CoLA", is_number=True, group="Single"), Column("RTE", True)]
    table = Table(columns, [("a", Best("71.0"), "35.0", "50.1"), ("b_c", "70.0", Best("38.9"), "51.6")])
    latex = to_latex(table)
    assert r" &  & \multicolumn{1}{c}{Single} &  \\" in latex
    assert r"a & \textbf{71.0} & 35.0 & 50.1 \\" in latex
    assert r"| b\_c | 70.0 | **38.9** | 51.6 |" in to_markdown(table)
    assert "<b>71.0</b>" in to_html(table)
    assert "*" not in to_text(table, Paper())


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_table_of_many_tasks_fits_and_keeps_each_row_under_its_first_column(width: int) -> None:
    tasks = ["CoLA", "SST-2", "MRPC", "STS-B", "QQP", "MNLI-m", "MNLI-mm", "QNLI", "RTE", "WNLI"]
    columns = ["system", *(numeric(task) for task in tasks)]
    rows = [[name, *(f"{name} {place}/{place}" for place in range(10))] for name in ("ours", "base")]
    lines = to_text(Table(columns, rows, title="Systems", notes=["A note."]), Paper(width=width)).splitlines()
    assert max(map(len, lines)) <= width
    headings = [line.split() for line in lines if line.startswith("system")]
    assert [task for heading in headings for task in heading[1:]] == tasks
    text = " ".join(lines)
    assert all(f"{name} {place}/{place}" in text for name in ("ours", "base") for place in range(10))
    assert (lines[0], lines[-1]) == ("Systems", "A note.")
