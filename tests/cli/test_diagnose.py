"""`gluebench diagnose`: each form read back, the picture, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import random
import shutil

import pytest
from click.testing import CliRunner

from gluebench.benchmark import load_benchmark
from gluebench.cli import main

WORDS = ("entailment", "neutral", "contradiction")


@pytest.fixture(scope="module")
def folder(sample_folder, tmp_path_factory):
    """A gold folder and two submissions of AX alone, to the sample benchmark."""
    root = tmp_path_factory.mktemp("diagnose")
    shutil.copytree(sample_folder / "gold", root / "gold")
    labels = [line.split("\t")[1] for line in (root / "gold" / "AX.tsv").read_text().splitlines()[1:]]
    for name, right in (("ours", 0.8), ("theirs", 0.4)):
        rng = random.Random(name)
        values = [label if rng.random() < right else rng.choice(WORDS) for label in labels]
        (root / name).mkdir()
        rows = "".join(f"{index}\t{value}\n" for index, value in enumerate(values))
        (root / name / "AX.tsv").write_text("index\tprediction\n" + rows)
    return root


def run(folder, *arguments: str, code: int = 0):
    words = ["diagnose", *arguments, "--benchmark", "sample"]
    if "--gold" not in arguments:
        words += ["--gold", str(folder / "gold")]
    result = CliRunner().invoke(main, words, prog_name="gluebench")
    assert result.exit_code == code, result.output
    return result


def both(folder) -> list[str]:
    return [str(folder / "ours"), str(folder / "theirs")]


def test_the_tables_with_the_papers_warning(folder) -> None:
    out = run(folder, *both(folder)).stdout
    for words in (
        "category", "ours", "theirs", "  Double Negation", "domain: news", "direction: backward",
        "gold down, answers across", "both directions right", "contradiction one way only",
        "entailment / neutral",
        "the GLUE paper warns against it (section 4)", "docs/reference/diagnostic.md",
    ):  # fmt: skip
        assert words in out


def test_one_system_has_its_diagnostic_set_and_metric_printed(folder) -> None:
    out = run(folder, str(folder / "ours")).stdout
    assert "AX, Sample diagnostic set: ours" in out
    assert "R3" in out


def test_json_and_csv_say_the_same(folder) -> None:
    found = json.loads(run(folder, *both(folder), "--json").stdout)
    assert found["schema"] == "gluebench.diagnosis/1"
    records = list(csv.DictReader(io.StringIO(run(folder, *both(folder), "--csv").stdout)))
    categories = {
        (each["kind"], each["category"]): each
        for each in found["sets"]["AX"]["systems"]["ours"]["categories"]
    }
    scores = [row for row in records if row["measure"] == "r_k" and row["system"] == "ours"]
    assert len(scores) == len(categories)
    for row in scores:
        expected = categories[row["breakdown"], row["category"]]
        assert (float(row["value"]), int(row["n"])) == (expected["value"], expected["n"])
    counted = [
        row for row in records
        if (row["system"], row["breakdown"], row["measure"]) == ("ours", "overall", "count")
    ]  # fmt: skip
    assert {(row["gold"], row["answer"]): int(row["value"]) for row in counted} == {
        (gold, answer): count
        for gold, answers in categories["overall", ""]["confusion"].items()
        for answer, count in answers.items()
    }
    shares = {
        row["measure"]: row for row in records if row["breakdown"] == "directions" and row["system"] == "ours"
    }
    both_right = found["sets"]["AX"]["systems"]["ours"]["directions"]["both"]
    assert float(shares["both"]["value"]) == both_right["value"]


def test_table_5_has_the_papers_columns_and_equal_figures_in_every_form(folder) -> None:
    out = run(folder, *both(folder), "--table5").stdout
    header = next(line for line in out.splitlines() if line.startswith("system"))
    assert " ".join(header.split()) == "system All LS PAS L K UQuant MNeg 2Neg Coref Restr Down"
    assert "Paper:" not in out  # its numbers are of GLUE
    found = json.loads(run(folder, *both(folder), "--table5", "--json").stdout)
    rows = list(csv.DictReader(io.StringIO(run(folder, *both(folder), "--table5", "--csv").stdout)))
    assert len(rows) == 22
    assert float(rows[0]["value"]) == found["sets"]["AX"]["systems"]["ours"]["All"]["value"]


def test_markdown_and_latex(folder) -> None:
    assert "| category | n | ours | theirs |" in run(folder, *both(folder), "--markdown").stdout
    assert r"\begin{tabular}" in run(folder, *both(folder), "--latex").stdout


def test_one_phenomenon_with_pairs_of_the_samples(folder) -> None:
    out = run(folder, *both(folder), "--phenomenon", "double-negation").stdout
    assert "AX: Double Negation" in out
    assert "docs/reference/diagnostic.md#double-negation" in out
    found = json.loads(run(folder, *both(folder), "--phenomenon", "Double Negation", "--json").stdout)
    assert found["phenomenon"] == "Double Negation"
    assert len(found["examples"]) == 2
    assert sum(map(sum, (row.values() for row in found["sets"]["AX"]["ours"]["confusion"].values()))) == 24
    assert "Logic" in run(folder, *both(folder), "--phenomenon", "logic").stdout


def test_submissions_of_one_name_are_told_apart_by_their_paths(folder, tmp_path) -> None:
    twin = shutil.copytree(folder / "theirs", tmp_path / "ours")
    found = json.loads(run(folder, str(folder / "ours"), str(twin), "--json").stdout)
    assert list(found["sets"]["AX"]["systems"]) == [str(folder / "ours"), str(twin)]


def test_nothing_is_withheld_of_public_labels_and_that_is_said(folder) -> None:
    result = run(folder, *both(folder), "--withhold-below", "30")
    assert "AX: its labels are public" in result.stderr
    assert "fewer than" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--phenomenon", "Negatoin"], 2, "Did you mean Negation"),
        (["--phenomenon", "Negation", "--table5"], 2, "give one of them"),
        (["--gold", "nowhere"], 2, "does not exist"),
    ],
)
def test_wrong_options_and_files_are_refused(folder, arguments, code, said) -> None:
    assert said in run(folder, *both(folder), *arguments, code=code).stderr


def test_a_submission_without_a_diagnostic_file(folder, tmp_path) -> None:
    (tmp_path / "other").mkdir()
    gold = (folder / "gold" / "WNLI.tsv").read_text().replace("label", "prediction")
    (tmp_path / "other" / "WNLI.tsv").write_text(gold)
    assert "other: expected predictions in AX.tsv" in run(folder, str(tmp_path / "other"), code=1).stderr


def test_nothing_is_said_of_files_of_other_tasks(folder, tmp_path) -> None:
    shutil.copytree(folder / "ours", tmp_path / "ours")
    size = load_benchmark("sample").task("WNLI").files[0].size()
    rows = "".join(f"{at}\t1\n" for at in range(size))
    (tmp_path / "ours" / "WNLI.tsv").write_text(f"index\tprediction\n{rows}")
    assert run(folder, str(tmp_path / "ours")).stderr == ""


def test_the_same_submission_twice_is_refused(folder) -> None:
    assert "named twice" in run(folder, str(folder / "ours"), str(folder / "ours"), code=2).stderr
