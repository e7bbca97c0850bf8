from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

import pytest
from django.test import Client

from gluebench.leaderboard.common.text import csv_cell, latex, markdown_cell
from gluebench.leaderboard.submissions.models import Submission

Send = Callable[..., Submission]

FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "|calc",
    "%0A=1",
    "＝1",
    "＋1",
    "－1",
    "＠x",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_nothing_in_a_csv_is_a_formula(text: str) -> None:
    assert csv_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["BiLSTM+Attn", "a=b", "", "1-2"])
def test_harmless_cells_stay_as_they_are(text: str) -> None:
    assert csv_cell(text) == text


def test_the_csv_has_every_number_in_full(client: Client, graded: Send) -> None:
    submission = graded(name="=HYPERLINK(1)", team='A, "B"')
    answer = client.get("/benchmarks/tiny.csv")
    assert answer["Content-Disposition"] == 'attachment; filename="tiny.csv"'
    [row] = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (row["rank"], row["name"], row["team"]) == ("1", "'=HYPERLINK(1)", 'A, "B"')
    assert float(row["score"]) == submission.report["score"]["value"]
    for task, found in submission.report["tasks"].items():
        for metric, score in found["metrics"].items():
            assert float(row[f"{task}.{metric}"]) == score["value"]
            assert row[f"{task}.{metric}_low"] == ("" if score["low"] is None else str(score["low"]))
    [of_task] = csv.DictReader(io.StringIO(client.get("/benchmarks/tiny/tasks/Refer.csv").content.decode()))
    assert float(of_task["score"]) == submission.report["tasks"]["Refer"]["score"]["value"]


def test_latex_and_markdown_mean_what_they_show(client: Client, graded: Send) -> None:
    graded(name=r"50% \input{x} & co_", model="a|b*c*")
    tex = client.get("/benchmarks/tiny.tex").content.decode()
    assert r"50\% \textbackslash{}input\textbraceleft{}x\textbraceright{} \& co\_" in tex
    assert tex.count("\\\\\n") == 2
    row = next(line for line in tex.splitlines() if "50" in line)
    assert len(re.findall(r"(?<!\\)&", row)) == 8
    markdown = client.get("/benchmarks/tiny.md").content.decode()
    assert r"a\|b\*c\*" in markdown
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in markdown.splitlines()} == {10}
    assert latex("−1") == "$-$1"
    assert markdown_cell("[x](y)") == r"\[x\]\(y\)"


def test_an_entry_has_a_citation(client: Client, graded: Send) -> None:
    submission = graded(name='A & "B" {', team="The {team}")
    record = client.get(f"{submission.get_absolute_url()}.bib")
    text = record.content.decode()
    assert text.startswith(f"@misc{{tiny-{submission.key},")
    assert r"author = {{The \textbraceleft{}team\textbraceright{}}}" in text
    assert r"title = {{A \& ''B'' \textbraceleft{} (" in text
    assert rf"\url{{http://testserver{submission.get_absolute_url()}}}" in text
    assert text.count("{") == text.count("}"), "as BibTeX counts"
    hidden = graded(name="Hidden", public=False)
    assert client.get(f"{hidden.get_absolute_url()}.bib").status_code == 404
