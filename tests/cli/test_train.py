"""`gluebench train` as a user meets it."""

from __future__ import annotations

import json
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from nearly import nearly

from gluebench.benchmark import load_benchmark
from gluebench.cli import main

torch = pytest.importorskip("torch", reason="PyTorch is not installed; pip install 'gluebench[train]'")
QUICK = ("--hidden", "4", "--device", "cpu", "--set", "max_checks=1", "--set", "check_every=2")


def train(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["train", "--benchmark", "sample", *arguments])


def kept_of(report: dict[str, Any]) -> dict[str, float]:
    """RTE's figures as `gluebench results` reads them."""
    score = report["tasks"]["RTE"]["metrics"]["accuracy"]
    return {name: score[name] for name in ("value", "low", "high")}


@pytest.fixture(scope="module")
def trained(sample_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Result]:
    """The options of a finished training, and what it has printed."""
    out = tmp_path_factory.mktemp("trained")
    options = ["--data", str(sample_folder), "--out", str(out), "--tasks", "RTE,STS-B", *QUICK, "--json"]
    return options, train(*options)


def test_training_prints_dev_scores_with_intervals_and_a_second_call_does_not_train_again(
    trained: tuple[list[str], Result],
) -> None:
    options, first = trained
    assert first.exit_code == 0, first.output
    assert "check 1 of at most 1, update 2" in first.stderr
    report = json.loads(first.stdout)
    assert report["tasks"]["RTE"]["score"]["n"] == load_benchmark("sample").task("RTE").splits["dev"].size
    assert report["tasks"]["RTE"]["score"]["low"] < report["tasks"]["RTE"]["score"]["high"]
    assert report["score"] is None
    kept = json.loads(Path(options[3], "scores.json").read_text())["systems"][0]
    assert kept["tasks"]["RTE"]["accuracy"] == nearly(kept_of(report))
    table = train(*options[:-1]).stdout
    assert "STS-B" in table
    assert "MNLI" not in table.partition("INCOMPLETE")[0]  # which was not trained
    again = train(*options)
    assert again.exit_code == 0
    assert "check 1" not in again.stderr
    assert json.loads(again.stdout) == nearly(report)


def test_a_changed_setting_is_refused_in_a_folder_of_another_run(trained: tuple[list[str], Result]) -> None:
    options, _ = trained
    changed = train(*options, "--set", "clip=1")
    assert changed.exit_code == 1
    assert "another run: settings clip was 5.0, and is 1.0 now" in changed.output
    wider = train(*options, "--hidden", "5")
    assert wider.exit_code == 1
    assert "another model: hidden was 4, and is 5 now" in wider.output


def test_an_interrupted_training_says_what_is_saved_and_goes_on(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.systems.training.trainer import Trainer

    plain_update = Trainer._update

    def interrupted(self: Any) -> None:
        plain_update(self)
        signal.raise_signal(signal.SIGINT)

    options = ("--data", str(sample_folder), "--out", str(tmp_path), "--tasks", "WNLI", *QUICK)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_update", interrupted)
        stopped = train(*options)
    assert stopped.exit_code == 1
    state = tmp_path / "seed-111" / "state.pt"
    assert f"stopped by SIGINT after update 1, which is saved in {state}; the same command" in stopped.stderr
    resumed = train(*options)
    assert resumed.exit_code == 0, resumed.output
    assert "going on after update 1" in resumed.stderr


def test_a_terminated_training_says_so_too_and_one_that_saved_nothing_says_that(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gluebench.systems.training.trainer import Trainer

    plain_update = Trainer._update

    def terminated(self: Any) -> None:
        plain_update(self)
        signal.raise_signal(signal.SIGTERM)

    options = ("--data", str(sample_folder), "--out", str(tmp_path), "--tasks", "WNLI", *QUICK)
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_begin", lambda self: signal.raise_signal(signal.SIGTERM))
        early = train(*options)
    assert early.exit_code == 143
    assert "Stopped. Nothing was saved yet; the same command starts over." in early.stderr
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "_update", terminated)
        stopped = train(*options)
    assert stopped.exit_code == 143
    assert "stopped by SIGTERM after update 1, which is saved in" in stopped.stderr
    kept = f"0 runs finished and 1 saved in part, in {tmp_path}: the same command goes on from there."
    assert kept in " ".join(stopped.stderr.split())
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert "going on after update 1" in train(*options).stderr


def test_a_full_disk_is_one_sentence_and_the_run_goes_on_when_there_is_room(
    sample_folder: Path, tmp_path: Path
) -> None:
    options = ("--data", str(sample_folder), "--out", str(tmp_path), "--tasks", "WNLI", *QUICK)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))  # less than the weights take
        done = train(*options)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    said = " ".join(done.stderr.split())
    assert "seed-111" in said
    assert ".safetensors: file too large. Free some space and repeat the command" in said
    assert train(*options).exit_code == 0


def test_a_loss_that_is_no_number_is_one_sentence(sample_folder: Path, tmp_path: Path) -> None:
    options = ("--data", str(sample_folder), "--out", str(tmp_path), "--tasks", "WNLI", *QUICK)
    done = train(*options, "--set", "learning_rate=1e30", "--set", "check_every=4")
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit)
    assert "Error: the training loss of WNLI is nan by update" in done.stderr
    assert "or fp32, may help." in done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("clip", "'clip' is not NAME=VALUE; NAME is one of accumulate, attention, batch_size"),
        ("speed=9", "'speed=9' is not NAME=VALUE"),
        ("clip=hard", "clip is 'hard'; expected a number"),
        ("check_every=often", "check_every is 'often'; expected a whole number, or none"),
        ("idle_heads=rest", "idle_heads is 'rest'; expected one of keep, decay"),
        ("bucketed=maybe", "bucketed is 'maybe'; expected yes or no"),
        ("batch_size=0", "batch_size is 0; expected a number above 0"),
    ],
)
def test_a_setting_that_cannot_be_is_a_usage_error(
    sample_folder: Path, tmp_path: Path, change: str, message: str
) -> None:
    done = train("--data", str(sample_folder), "--out", str(tmp_path / "out"), "--set", change)
    assert done.exit_code == 2
    assert message in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--body", "bert"), "--body is 'bert'; expected hf:NAME or hf:FOLDER"),
        (("--body", "hf:bert", "--hidden", "4"), "--hidden goes with the BiLSTM"),
        (
            ("--body", "hf:bert", "--set", "tuning=half"),
            "tuning is 'half'; expected one of full, frozen, lora",
        ),
        (("--body", "hf:bert", "--set", "attention=yes"), "NAME is one of accumulate, batch_size"),
    ],
)
def test_options_of_another_body_are_a_usage_error(
    sample_folder: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    done = train("--data", str(sample_folder), "--out", str(tmp_path / "out"), *options)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_pre_trained_encoder_is_trained_and_answers(sample_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    from systems.adapters import tiny

    body = f"hf:{tiny.body(tmp_path / 'bert')}"
    options = ["--data", str(sample_folder), "--out", str(tmp_path / "out"), "--tasks", "RTE,STS-B"]
    done = train(*options, "--body", body, "--device", "cpu", *QUICK[4:], "--set", "longest=12", "--json")
    assert done.exit_code == 0, done.output
    assert "are cut at 12 tokens; --set longest=N keeps more" in done.stderr
    assert set(json.loads(done.stdout)["tasks"]) >= {"RTE", "STS-B"}
    answer = ["run", str(tmp_path / "out"), "--benchmark", "sample", "--data", str(sample_folder)]
    answer += ["--tasks", "RTE", "--split", "dev", "--out", str(tmp_path / "dev.zip")]
    answered = CliRunner().invoke(main, answer)
    assert answered.exit_code == 0, answered.output
    missing = train(*options[:3], str(tmp_path / "new"), "--body", f"hf:{tmp_path / 'nowhere'}")
    assert missing.exit_code == 1
    assert "there is no such folder" in missing.stderr


def test_auxiliary_data_have_no_part_in_single_task_training(sample_folder: Path, tmp_path: Path) -> None:
    options = ("--data", str(sample_folder), "--out", str(tmp_path), "--single-task", "--auxiliary", "SNLI")
    done = train(*options)
    assert done.exit_code == 2
    assert "--auxiliary data join multi-task training only" in done.stderr


def test_data_that_are_not_there_are_an_error_of_one_line_a_task(tmp_path: Path) -> None:
    done = train("--data", str(tmp_path), "--out", str(tmp_path / "out"), "--tasks", "RTE")
    assert done.exit_code == 1
    assert "no data of RTE" in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_one_line(sample_folder: Path, tmp_path: Path) -> None:
    done = train("--data", str(sample_folder), "--out", str(tmp_path), "--device", "cuda:1")
    assert done.exit_code == 2
    assert "The device cuda:1 cannot be used:" in done.output
    assert not any(tmp_path.iterdir())
