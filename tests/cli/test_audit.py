"""`gluebench audit`, as a user sees it."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from scipy import stats

from gluebench.analysis.audit.run import shortcuts_of_views
from gluebench.benchmark import load_benchmark
from gluebench.cli import main

WORDS = {"entailment": "surely", "neutral": "perhaps", "contradiction": "hardly"}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Pairs whose hypothesis gives the label away."""
    path = tmp_path / "telling.tsv"
    rows = [
        f"Room {at} is taken.\tRoom {at} is {word} full.\t{label}\n"
        for at in range(30)
        for label, word in WORDS.items()
    ]
    path.write_text("premise\thypothesis\tlabel\n" + "".join(rows))
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["audit", *map(str, arguments)], prog_name="gluebench")


def test_a_table_with_artifacts_beside_the_sample(table: Path, sample_folder: Path) -> None:
    done = run(
        *("--benchmark", "sample", "--data", sample_folder, "--gold", sample_folder / "gold"),
        *("--train", table, "--train", "MNLI", "--test", table, "--test", "MNLI:dev_matched", "--test", "AX"),
        *("--see", "hypothesis", "--see", "overlap"),
    )
    assert done.exit_code == 0, done.output
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["learned", "from", str(table)] in lines
    at_chance = ["33.3", "[28.2,", "38.9]", "33.3", "33.3", "not", "significantly", "above", "chance"]
    assert ["hypothesis", "MNLI", "dev_matched", "300", *at_chance] in lines
    # 30 of 30 and 0 of 60, each plus 100: log2(130 * 3 / 330), the classes having as many words
    assert ["contradiction", "hardly", "0.24", "100.0", "30"] in lines
    # as in GLUE's MNLI, a denial is often a contradiction
    assert ["contradiction", "not", "0.24", "42.7", "854"] in lines
    assert "learning from MNLI train (6,000 examples): overlap" in done.stderr


def test_a_whole_benchmark_is_audited_task_by_task(sample_folder: Path) -> None:
    done = run("--benchmark", "sample", "--data", sample_folder, "--see", "length", "--words", 0, "--json")
    assert done.exit_code == 0, done.output
    tested = [(each["train"], each["test"]) for each in json.loads(done.stdout)["measured"]]
    assert tested[:3] == [
        ("CoLA train", "CoLA dev"),
        ("SST-2 train", "SST-2 dev"),
        ("MRPC train", "MRPC dev"),
    ]
    assert ("MNLI train", "MNLI dev_mismatched") in tested
    assert all(train.split()[0] == test.split()[0] != "STS-B" for train, test in tested)


def test_every_form_has_the_same_figures(table: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tsv"
    other.write_text(table.read_text())
    asked = ("--train", table, "--test", other, "--see", "hypothesis", "--words", "1")
    data = json.loads(run(*asked, "--json").stdout)
    (measured,) = data["measured"]
    assert (measured["sees"], measured["examples"], measured["accuracy"]) == ("hypothesis", 90, 1.0)
    # 30 of 30 groups of one premise, by Wilson with Student's t of 29 degrees of freedom
    lowest = 30 / (30 + stats.t(29).ppf(0.975) ** 2)
    assert (measured["low"], measured["high"]) == (pytest.approx(lowest), 1.0)
    assert [each["word"] for each in data["associations"][str(table)]] == list(WORDS.values())
    rows = list(csv.DictReader(io.StringIO(run(*asked, "--csv").stdout)))
    accuracy = next(row for row in rows if row["measure"] == "accuracy")
    assert (accuracy["train"], accuracy["test"], accuracy["value"]) == (str(table), str(other), "1.0")
    assert float(accuracy["low"]) == measured["low"]
    assert {row["word"] for row in rows if row["measure"] == "pmi"} == set(WORDS.values())
    assert "other.tsv | 90 | 100.0 [87.8, 100.0] |" in run(*asked, "--markdown").stdout
    assert "other.tsv & 90 & 100.0 [87.8, 100.0] &" in run(*asked, "--latex").stdout


def test_mistakes_are_told_plainly(table: Path, sample_folder: Path, tmp_path: Path) -> None:
    nowhere = run("--train", "SNLI", "--test", "AX", "--data", tmp_path)
    assert nowhere.exit_code == 1
    assert "gluebench data get glue --task SNLI" in nowhere.output
    mistyped = run("--train", table, "--test", "AXE", "--data", sample_folder)
    assert mistyped.exit_code == 2
    assert "AX" in mistyped.output
    untaught = run("--test", table)
    assert untaught.exit_code == 2
    assert "name what to learn from" in untaught.output
    assert run("--train", table).exit_code == 1  # without --test its own splits are, and a table has none
    same = run("--train", table, "--test", table)
    assert same.exit_code == 1
    assert "nothing to test on but the pairs that it is learned from" in same.output
    other = table.with_name("other.tsv")
    other.write_text(table.read_text())
    part = run("--train", table, "--test", other, "--see", "lengths")
    assert part.exit_code == 2
    assert "length" in part.output


def test_the_defaults_in_the_help_are_those_of_the_analysis() -> None:
    from gluebench.analysis.audit import run as audits
    from gluebench.cli.analysis import audit as command

    assert (command.EPOCHS, command.SMOOTHING, command.SHOWN) == (
        audits.EPOCHS,
        audits.SMOOTHING,
        audits.SHOWN,
    )


def test_without_scikit_learn_the_extra_is_named(
    table: Path, sample_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    where = ("--benchmark", "sample", "--data", sample_folder)
    done = run(*where, "--train", table, "--test", "MNLI:dev_matched", "--see", "hypothesis")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1] == (
        "Error: This command (sklearn) needs more packages: pip install 'gluebench[audit]'"
    )
    with pytest.raises(ImportError, match=r'needs sklearn.*pip install "gluebench\[audit\]"'):
        shortcuts_of_views(load_benchmark("glue").task("RTE"))
