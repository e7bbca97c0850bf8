"""gluebench reproduce: tables printed, written and joined, and claims tested on what was written."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

torch = pytest.importorskip("torch", reason="PyTorch is not installed; pip install 'gluebench[train]'")

from gluebench.cli import main  # noqa: E402


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["reproduce", *map(str, arguments)])


@pytest.fixture(scope="module")
def vectors(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from systems.reproduce.small_world import write_vectors

    # the words of the two tasks below
    return write_vectors(tmp_path_factory.mktemp("vectors") / "words.txt", sample_folder, ("WNLI", "RTE"))


@pytest.fixture(scope="module")
def options(sample_folder: Path, vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    out = tmp_path_factory.mktemp("out")
    named = ["--benchmark", "sample", "--data", sample_folder, "--vectors", vectors, "--out", out]
    return [*named, "--preset", "tiny", "--task", "WNLI", "--task", "RTE"]


def test_dev_scores_stand_beside_the_printed_ones_and_are_written_too(options: list[object]) -> None:
    done = run("table6", "--row", "cbow", "--row", "gensen", "--json", *options)
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    cbow, gensen = data["rows"]
    assert [(cell["column"], cell["expected"]) for cell in cbow["cells"]] == [("RTE", 0.625), ("WNLI", 0.563)]
    assert all(cell["obtained"]["low"] <= cell["obtained"]["value"] for cell in cbow["cells"])
    assert "glove" not in gensen["reasons"][0]
    assert "nli_large_bothskip.model" in gensen["reasons"][0]
    folder = Path(str(options[7])) / "sample" / "tiny"
    results = json.loads((folder / "results.json").read_text())
    assert results["tables"]["table6"] == data["results"]
    assert [*data["results"]] == ["cbow"]
    kept = json.loads((folder / "cbow" / "scores-table6.json").read_text())["systems"][0]
    assert [[*kept["tasks"]], kept["name"]] == [["RTE", "WNLI"], "CBoW (tiny)"]
    markdown, latex = ((folder / f"table6.{kind}").read_text() for kind in ("md", "tex"))
    assert "CBoW (cbow)" in markdown
    assert "cannot be had here: needs nli\\_large" in latex
    assert "\\toprule" in latex


def test_another_table_joins_the_results_and_claims_are_tested_on_them(
    options: list[object], sample_folder: Path
) -> None:
    assert run("table6", "--row", "cbow", *options).exit_code == 0
    done = run("table4", "--row", "cbow", "--gold", sample_folder / "gold", *options)
    assert done.exit_code == 0, done.output
    assert "majority class, as in the paper" in done.stdout
    assert "These are the data of Sample" in done.stdout
    path = Path(str(options[7])) / "sample" / "tiny" / "results.json"
    assert {*json.loads(path.read_text())["tables"]} >= {"table4", "table6"}
    told = json.loads(run("findings", "--results", path, "--json").stdout)
    mine = [each for each in told if each["whose"] == "yours"]
    assert {each["table"] for each in mine} == {"table4", "table6"}
    assert {each["verdict"] for each in mine} == {"cannot be told"}


def test_hidden_test_labels_are_said_and_a_submission_is_left(options: list[object]) -> None:
    done = run("table4", "--row", "cbow", *options)
    assert done.exit_code == 0, done.output
    assert "no labels here" in " ".join(done.stdout.split())
    submission = Path(str(options[7])) / "sample" / "tiny" / "cbow" / "submission.zip"
    checked = CliRunner().invoke(main, ["check", str(submission), "--benchmark", "sample"])
    assert checked.exit_code == 0
    assert "without CoLA.tsv" in checked.stdout
    assert "RTE.tsv" not in checked.stdout  # it is there, and nothing is wrong with it


def test_the_paper_s_claims_print_without_pytorch_or_data() -> None:
    done = run("findings")
    assert done.exit_code == 0
    assert done.stdout.count("cannot be told") == 1
    assert "GenSen is better than all but the two best" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["table6", "--row", "cbw"], "cbow"),
        (["table6", "--row", "cbow", "--preset", "tinny"], "tiny"),
        (["table6", "--row", "cbow", "--task", "RTEE"], "RTE"),
        (["tabel6"], "table6"),
    ],
)
def test_mistyped_names_are_usage_errors_with_the_closest(
    arguments: list[str], said: str, sample_folder: Path, tmp_path: Path
) -> None:
    named = ["--benchmark", "sample", "--data", sample_folder, "--out", tmp_path]
    done = run(*arguments, *(named if arguments[0] == "table6" else []))
    assert done.exit_code == 2
    assert said in done.stderr


def test_no_data_at_all_is_one_message(tmp_path: Path) -> None:
    done = run("table6", "--row", "cbow", "--data", tmp_path, "--out", tmp_path)
    assert done.exit_code == 1
    assert "gluebench data get" in done.stderr


def test_settings_and_threads_are_given_as_to_train_and_curves_are_drawn(
    options: list[object], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (gluebench[plot])")
    threads: list[int] = []
    monkeypatch.setattr(torch, "set_num_threads", threads.append)
    mine = [*options[:7], tmp_path, "--preset", "tiny", "--task", "WNLI", "--row", "single-bilstm"]
    changes = ["--set", "max_checks=1", "--set", "hidden=3", "--set", "clip=2.5"]
    done = run("table6", *mine, *changes, "--threads", 1)
    assert done.exit_code == 0, done.output
    assert threads[0] == 1
    folder = tmp_path / "sample" / "tiny" / "single-bilstm" / "WNLI"
    card = json.loads((folder / "seed-111" / "training" / "WNLI" / "seed-111" / "card.json").read_text())
    assert (card["settings"]["clip"], card["checks"]) == (2.5, 1)
    assert card["about"]["recipe"]["model"]["hidden"] == 3
    assert "seed-111" in (folder / "curves.svg").read_text()
    other = run("table6", *mine)
    assert other.exit_code == 1
    assert "name another folder with --out" in other.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 1), (signal.SIGTERM, 143)])
def test_an_interrupted_row_says_what_is_kept_and_goes_on(
    options: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    from gluebench.systems.training.trainer import Trainer

    plain_update = Trainer._update

    def interrupted(self: Trainer) -> None:
        plain_update(self)
        signal.raise_signal(number)

    mine = [*options[:7], tmp_path, "--preset", "tiny", "--task", "WNLI", "--row", "single-bilstm"]
    mine += ["--set", "max_checks=1", "--set", "hidden=3"]
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_update", interrupted)
        stopped = run("table6", *mine)
    assert stopped.exit_code == code
    assert "after update 1, which is saved in" in stopped.stderr
    kept = f"Finished runs and saved states are in {tmp_path / 'sample' / 'tiny'}"
    assert f"{kept}: the same command goes on from there." in " ".join(stopped.stderr.split())
    resumed = run("table6", *mine)
    assert resumed.exit_code == 0, resumed.output
    assert "going on after update 1" in resumed.stderr


def test_a_loss_that_is_no_number_is_one_sentence(options: list[object], tmp_path: Path) -> None:
    mine = [*options[:7], tmp_path, "--preset", "tiny", "--task", "WNLI", "--row", "single-bilstm"]
    done = run("table6", *mine, "--set", "learning_rate=1e30", "--set", "hidden=3")
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert "Error: the training loss of WNLI is nan by update" in done.stderr


@pytest.mark.parametrize(
    ("row", "change", "said"),
    [
        ("single-bilstm", "clip=hard", "clip is 'hard'; expected a number"),
        ("single-bilstm", "hidden=0", "hidden is 0; expected a number above 0"),
        ("single-bilstm", "width=9", "width is no setting of single-bilstm"),
        ("cbow", "clip=1", "cbow is a frozen encoder"),
    ],
)
def test_a_setting_that_a_row_cannot_have_is_a_usage_error(
    options: list[object], row: str, change: str, said: str
) -> None:
    done = run("table6", *options, "--row", row, "--set", change)
    assert done.exit_code == 2
    assert said in " ".join(done.stderr.split())


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_one_line(options: list[object]) -> None:
    done = run("table6", "--row", "single-bilstm", *options, "--device", "cuda")
    assert done.exit_code == 2
    assert "The device cuda cannot be used:" in done.output
