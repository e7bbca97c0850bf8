"""The commands that need no gold: what they print, where, and how they exit."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest
from click.testing import CliRunner

from gluebench.cli import main
from gluebench.version import __version__


def run(*words: object):
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="gluebench")


def test_version_and_help():
    assert __version__ in run("--version").output
    assert run("--help").exit_code == 0
    assert "compare" in run("-h").output


def test_a_mistyped_command_is_usage_and_names_the_closest():
    result = run("chek")
    assert result.exit_code == 2
    assert "Did you mean check?" in result.stderr


def test_an_unknown_option_is_usage():
    assert run("check", "--bogus").exit_code == 2


def test_benchmark_list_and_show():
    assert "glue" in run("benchmark", "list").stdout
    shown = run("benchmark", "show", "glue").stdout
    for task in ("CoLA", "STS-B", "MNLI", "WNLI", "AX"):
        assert task in shown


@pytest.mark.parametrize(
    "words", [("benchmark", "list"), ("benchmark", "show"), ("benchmark", "show", "--task", "rte")]
)
def test_benchmark_in_every_form(words):
    assert json.loads(run(*words, "--json").stdout)
    rows = list(csv.reader(io.StringIO(run(*words, "--csv").stdout)))
    assert len({len(row) for row in rows}) == 1
    assert r"\toprule" in run(*words, "--latex").stdout
    assert "| --- |" in run(*words, "--markdown").stdout


def test_benchmark_show_as_json_has_exact_sizes():
    manifest = json.loads(run("benchmark", "show", "--json").stdout)
    mrpc = next(task for task in manifest["tasks"] if task["name"] == "MRPC")
    assert mrpc["splits"]["test"]["size"] == 1725


def test_an_unknown_benchmark_or_task_is_usage_and_lists_the_valid_names():
    result = run("benchmark", "show", "glu")
    assert result.exit_code == 2
    assert "Did you mean glue or advglue?" in result.stderr
    result = run("benchmark", "show", "--task", "mnl")
    assert result.exit_code == 2
    assert "MNLI" in result.stderr


def test_a_broken_manifest_is_a_wrong_file(world):
    world.manifest.write_text("[benchmark\n")
    result = world.run("check", world.right)
    assert result.exit_code == 1
    assert "tiny.toml" in result.stderr
    assert "Traceback" not in result.output


def test_check_a_valid_submission(world):
    result = world.run("check", world.right)
    assert result.exit_code == 0
    assert "VALID" in result.stdout


def test_check_an_incomplete_submission_says_so_loudly_and_exits_0(world):
    (world.right / "Pairs.tsv").unlink()
    result = world.run("check", world.right)
    assert result.exit_code == 0
    assert "INCOMPLETE" in result.stdout
    assert "Pairs.tsv" in result.stdout


def test_check_an_invalid_submission_names_file_line_and_value(world):
    text = (world.right / "Pairs.tsv").read_text().replace("3\t1\n", "3\tmaybe\n", 1)
    (world.right / "Pairs.tsv").write_text(text)
    result = world.run("check", world.right)
    assert result.exit_code == 1
    assert "Pairs.tsv:5" in result.stdout
    assert "'maybe'" in result.stdout
    assert "INVALID" in result.stdout


def test_check_in_every_form(world):
    (world.right / "Pairs.tsv").write_text("index\tprediction\n0\tmaybe\n")
    data = json.loads(world.run("check", world.right, "--json").stdout)
    assert data["verdict"] == "invalid"
    assert data["fixed"] == []
    rows = list(csv.DictReader(io.StringIO(world.run("check", world.right, "--csv").stdout)))
    assert {row["severity"] for row in rows} <= {"error", "warning", "notice"}
    assert any(row["value"] == "maybe" and row["line"] == "2" for row in rows)
    assert "| severity |" in world.run("check", world.right, "--markdown").stdout
    assert r"\begin{tabular}" in world.run("check", world.right, "--latex").stdout


def test_check_official_wants_a_zip(world):
    assert world.run("check", world.right, "--official").exit_code == 1


def test_check_fix_writes_a_copy_that_is_valid(world):
    text = (world.right / "Pairs.tsv").read_text()
    (world.right / "Pairs.tsv").write_text(text.replace("\t", ",").replace("\n", "\r\n"))
    out = world.root / "fixed.zip"
    result = world.run("check", world.right, "--fix", out)
    assert result.exit_code == 0, result.output
    assert "fixed: " in result.stdout
    assert world.run("check", out, "--official").exit_code == 0


def test_check_says_which_option_repairs_what(world):
    (world.right / "Pairs.tsv").rename(world.right / "pairs_test.csv")
    result = world.run("check", world.right)
    assert "hint: --fix OUT.zip" in result.stdout
    assert "pairs_test.csv: renamed to Pairs.tsv" in result.stdout


def test_check_labels_are_those_of_a_task_and_go_with_fix(world):
    assert world.run("check", world.right, "--labels", "1,0").exit_code == 2
    out = world.root / "fixed.zip"
    wrong = world.run("check", world.right, "--fix", out, "--labels", "yes,no")
    assert wrong.exit_code == 2
    assert "yes,no are the labels of no task; these are: 0,1" in wrong.stderr
    assert world.run("check", world.right, "--fix", out, "--labels", "1,0").exit_code == 0


def test_check_fix_refuses_to_guess(world):
    (world.right / "Pairs.tsv").write_text("index\tprediction\n0\tmaybe\n")
    result = world.run("check", world.right, "--fix", world.root / "fixed.zip")
    assert result.exit_code == 1
    assert "Nothing was written" in result.stderr
    assert not (world.root / "fixed.zip").exists()


def test_a_path_that_is_not_there_is_usage(world):
    assert world.run("check", world.root / "nothing.zip").exit_code == 2


def test_a_place_that_cannot_be_written_is_said_without_a_traceback(world):
    result = world.run("write", world.right, "--out", world.root / "no" / "where.zip")
    assert result.exit_code == 1
    assert "no such file" in result.stderr
    assert not isinstance(result.exception, OSError)


def test_write_makes_a_valid_submission(world):
    folder = world.root / "predictions"
    folder.mkdir()
    (folder / "Pairs.txt").write_text("\n".join("01" * 10) + "\n")
    (folder / "Likeness.csv").write_text((world.right / "Likeness.tsv").read_text().replace("\t", ","))
    (folder / "Probe.jsonl").write_text("".join(f'{{"index": {i}, "prediction": "0"}}\n' for i in range(12)))
    out = world.root / "out.zip"
    result = world.run("write", folder, "--out", out)
    assert result.exit_code == 0, result.output
    assert zipfile.ZipFile(out).namelist() == ["Pairs.tsv", "Likeness.tsv", "Probe.tsv"]
    assert world.run("check", out).exit_code == 0


def test_write_says_what_is_missing(world):
    folder = world.root / "predictions"
    folder.mkdir()
    (folder / "Pairs.txt").write_text("\n".join("01" * 10))
    result = world.run("write", folder, "--out", world.root / "out.zip")
    assert result.exit_code == 0
    assert "INCOMPLETE" in result.stderr
    assert "Likeness.tsv" in result.stderr


def test_write_refuses_wrong_predictions(world):
    folder = world.root / "predictions"
    folder.mkdir()
    (folder / "Pairs.txt").write_text("maybe\n")
    result = world.run("write", folder, "--out", world.root / "out.zip")
    assert result.exit_code == 1
    assert not (world.root / "out.zip").exists()


def test_a_path_at_the_start_of_a_message_is_written_as_it_was_given(world, monkeypatch):
    monkeypatch.chdir(world.root)
    (world.root / "mine.toml").write_text("[benchmark\n")
    result = run("check", "right", "--benchmark", "mine.toml")
    assert "Error: mine.toml:" in result.stderr


@pytest.mark.parametrize(("command", "option"), [("check", "--fix"), ("write", "--out")])
def test_only_a_zip_is_written_so_that_no_prediction_file_is_overwritten(world, command, option):
    table = world.right / "Pairs.tsv"
    before = table.read_bytes()
    result = world.run(command, table, option, table)
    assert result.exit_code == 2
    assert "does not end in .zip" in result.stderr
    assert table.read_bytes() == before


def test_a_fixed_copy_does_not_take_the_place_of_the_submission(world):
    out = world.root / "out.zip"
    assert world.run("write", world.right, "--out", out).exit_code == 0
    before = out.read_bytes()
    result = world.run("check", out, "--fix", out)
    assert result.exit_code == 2
    assert "is the submission itself" in result.stderr
    assert out.read_bytes() == before


def test_a_fixed_copy_says_what_it_left_out(world):
    (world.right / "Pairs.tsv").rename(world.right / "Piars.tsv")
    result = world.run("check", world.right, "--fix", world.root / "out.zip")
    assert "fixed: Piars.tsv: left out" in result.stdout
