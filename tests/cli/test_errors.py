"""`gluebench errors` and `gluebench challenge`, on the sample benchmark."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gluebench.cli import main


def run(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args])


@pytest.fixture(scope="module")
def subs(sample, sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two dev submissions of RTE: always yes, and yes but for the first ten."""
    labels = sample.task("RTE").splits["dev"].size
    found = []
    for name, noes in (("yes", 0), ("other", 10)):
        folder = tmp_path_factory.mktemp("subs") / name
        folder.mkdir()
        rows = [f"{n}\t{'not_entailment' if n < noes else 'entailment'}" for n in range(labels)]
        (folder / "RTE.tsv").write_text("\n".join(["index\tprediction", *rows]) + "\n")
        found.append(folder)
    return found[0], found[1]


def asked(sample_folder: Path, subs, *more: object) -> Result:
    return run("errors", *subs, "--data", sample_folder, "--split", "dev", "--benchmark", "sample", *more)


def gold(sample_folder: Path) -> list[str]:
    return [line.split("\t")[1] for line in (sample_folder / "gold-dev/RTE.tsv").read_text().splitlines()[1:]]


def test_errors_are_those_of_the_gold_file(sample_folder, subs):
    result = asked(sample_folder, subs, "--json", "--limit", 0, "--show", "all-wrong")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)["files"]["RTE"]
    labels = gold(sample_folder)
    wrong = [n for n, label in enumerate(labels) if n >= 10 and label != "entailment"]
    assert [each["index"] for each in found["examples"]] == wrong
    overall = found["rates"][0]["systems"]["yes"]
    assert overall["wrong"] == labels.count("not_entailment")


def test_errors_in_a_table_and_as_csv(sample_folder, subs):
    text = asked(sample_folder, subs, "--show", "disagree").stdout
    assert "Errors on RTE, dev split" in text
    assert "RTE: 10 of" in text
    rows = list(csv.DictReader(io.StringIO(asked(sample_folder, subs, "--show", "disagree", "--csv").stdout)))
    assert len(rows) == 20
    assert {row["system"] for row in rows} == {"yes", "other"}
    assert all(row["text1"] and row["text2"] for row in rows)


def test_errors_writes_a_page(sample_folder, subs, tmp_path):
    result = asked(sample_folder, subs, "--html", tmp_path / "page.html")
    assert result.exit_code == 0, result.output
    assert "with text and labels" in result.stderr
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--words", "9-3"], 2, "ends before it begins"),
        (["--overlap", "much"], 2, "is not MIN-MAX"),
        (["--match", "("], 2, "'--match'"),
        (["--label", "entailed"], 2, "entailment"),
        (["--task", "CoLA"], 1, "nothing to read"),
        (["--task", "COLLA"], 2, "CoLA"),
    ],
)
def test_errors_says_what_is_wrong(sample_folder, subs, options, code, message):
    result = asked(sample_folder, subs, *options)
    assert result.exit_code == code
    assert message in result.stderr


def test_the_loop_from_a_split_to_a_new_diagnostic_set(sample_folder, tmp_path):
    changed, answers, kept = (tmp_path / name for name in ("changed.tsv", "answers.tsv", "kept.tsv"))
    sample = ("--benchmark", "sample")
    made = run(
        *("challenge", "perturb", "--data", sample_folder, "--task", "SST-2", "--pairs", "MNLI"),
        *("--limit", 60, "--out", changed, *sample),
    )
    assert made.exit_code == 0, made.output
    told = run(
        "challenge", "predict", changed, "system:majority", "--data", sample_folder, "--out", answers, *sample
    )
    assert told.exit_code == 0, told.output
    scored = run("challenge", "score", changed, answers, "--keep", kept, "--json", *sample)
    assert scored.exit_code == 0, scored.output
    cases = {each["case"]: each for each in json.loads(scored.stdout)["cases"]}
    assert cases["truism added"]["share"] == 1 - cases["negation added"]["share"]
    checked = run("data", "lint-diagnostic", kept, *sample)
    assert checked.exit_code == 0, checked.output


def test_gold_labels_stand_in_for_hidden_ones(sample_folder, tmp_path):
    out = tmp_path / "changed.tsv"
    options = ("challenge", "perturb", "--data", sample_folder, "--task", "AX", "--benchmark", "sample")
    refused = run(*options, "--out", out)
    assert refused.exit_code == 1
    assert "labels are hidden" in refused.stderr
    made = run(*options, "--gold", sample_folder / "gold", "--limit", 20, "--out", out)
    assert made.exit_code == 0, made.output
    assert {line.split("\t")[1] for line in out.read_text().splitlines()[1:]} == {"MNLI"}


def test_answers_that_do_not_fit_are_refused(tmp_path):
    out, answers = tmp_path / "set.tsv", tmp_path / "answers.tsv"
    run("challenge", "shortcuts", "--each", 1, "--out", out, "--benchmark", "sample")
    answers.write_text("index\tprediction\n0\tentailment\n1\tperhaps\n")
    result = run("challenge", "score", out, answers, "--benchmark", "sample")
    assert result.exit_code == 1
    assert "perhaps" in result.stderr
