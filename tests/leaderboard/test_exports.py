from __future__ import annotations

import csv
import io
import re
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from official import validate_records

from gluebench.leaderboard.apps.common.text import csv_cell
from gluebench.leaderboard.apps.submissions.models import Submission

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


def test_an_entry_that_states_its_model_is_a_valid_record_of_every_eval_ever(
    client: Client, graded: Send, tmp_path: Path
) -> None:
    submission = graded(model_id="acme/tiny", evaluator="third_party", team="A team")
    address = submission.get_absolute_url()
    link = f'href="{address}.eee.json"'
    assert link in client.get(address).content.decode()
    assert link in client.get(f"{address}/detail").content.decode()
    answer = client.get(f"{address}.eee.json")
    path = tmp_path / "data" / "tiny" / "acme" / "tiny" / f"{uuid.uuid4()}.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(answer.content)
    assert validate_records(tmp_path) is None
    record = answer.json()
    source = record["source_metadata"]
    assert source["evaluator_relationship"] == "third_party"
    assert source["source_organization_name"] == "A team"
    assert source["additional_details"] == {"url": f"http://testserver{address}"}
    assert record["model_info"]["name"] == submission.model
    assert record["retrieved_timestamp"] == str(int(submission.finished.timestamp()))
    scores = {
        row["evaluation_result_id"]: row["score_details"]["score"] for row in record["evaluation_results"]
    }
    assert scores["score"] == submission.report["score"]["value"]
    for task, part in submission.report["tasks"].items():
        for metric, score in part["metrics"].items():
            assert scores[f"{task}.{metric}"] == score["value"], "as shown, which may be rounded"


def test_an_entry_without_a_model_or_an_evaluator_has_no_record(client: Client, graded: Send) -> None:
    for details in ({"model_id": "acme/tiny"}, {"evaluator": "first_party"}):
        address = graded(**details).get_absolute_url()
        assert ".eee.json" not in client.get(address).content.decode()
        assert client.get(f"{address}.eee.json").status_code == 404


@pytest.mark.parametrize("name", ["tiny", "acme/", "acme/tiny/2", "acme /tiny", "acme/tiny\n"])
def test_a_model_id_has_a_developer_and_a_name(send: Send, name: str) -> None:
    submission = send()
    submission.model_id = name
    with pytest.raises(ValidationError, match="developer/model"):
        submission.clean_fields()
