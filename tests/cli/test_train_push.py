"""`gluebench train --push`: what a repository of the hub gets, and what is said if it cannot be."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli.hub_server import HubServer, serving_hub
from click.testing import CliRunner, Result

from gluebench.benchmark import Benchmark
from gluebench.cli import main
from gluebench.data import load_split

pytest.importorskip("torch", reason="PyTorch is not installed; pip install 'gluebench[train]'")
constants = pytest.importorskip("huggingface_hub.constants", reason="huggingface_hub is not installed")

QUICK = ("--hidden", "4", "--device", "cpu", "--set", "max_checks=1", "--set", "check_every=2")


def push(out: Path, data: Path, *more: str) -> Result:
    options = ["--data", str(data), "--out", str(out), "--tasks", "RTE,STS-B", "--single-task", *QUICK]
    return CliRunner().invoke(main, ["train", "--benchmark", "sample", *options, "--push", "me/paper", *more])


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setenv("HF_TOKEN", "hf_of_a_test")
    with serving_hub() as server:
        monkeypatch.setattr(constants, "ENDPOINT", server.address)
        yield server


@pytest.mark.slow
def test_what_is_uploaded_answers_as_the_folder_does_and_says_its_scores(
    hub: HubServer, sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    from huggingface_hub import ModelCard

    from gluebench.systems.training.trained import TrainedSystem

    out = tmp_path / "out"
    hub.refusal = 403
    refused = push(out, sample_folder, "--seed", "1", "--seed", "2")
    assert refused.exit_code == 1
    said = " ".join(refused.stderr.split())
    assert "me/paper: cannot be uploaded: " in said
    assert f"The runs are complete in {out}; the same command uploads them" in said
    assert not hub.files

    hub.refusal = 0
    pushed = push(out, sample_folder, "--seed", "1", "--seed", "2", "--json")
    assert pushed.exit_code == 0, pushed.output
    assert f"{hub.address}/me/paper: uploaded, with its model card" in pushed.stderr
    assert "check 1" not in pushed.stderr  # not trained again
    assert {request["visibility"] for request in hub.created} == {"private"}
    assert hub.tokens == {"Bearer hf_of_a_test"}

    copy = tmp_path / "copy"
    for name, content in hub.files.items():
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        assert str(tmp_path).encode() not in content
        assert path.name not in ("scores.json", "state.pt")
    assert len(list(copy.rglob("*.safetensors"))) == 2  # of the seeds that answer
    ours = TrainedSystem(out)
    theirs = TrainedSystem(copy)
    for name in ("RTE", "STS-B"):
        rows = load_split(sample_folder, sample, name, "dev")
        assert theirs.predict(sample.task(name), rows) == ours.predict(sample.task(name), rows)

    report = json.loads(pushed.stdout)
    card = ModelCard.load(copy / "README.md")
    results = {}
    for result in card.data.eval_results:
        results[result.dataset_config, result.metric_type] = result.metric_value
    for name in ("RTE", "STS-B"):
        for metric, score in report["tasks"][name]["metrics"].items():
            assert results[name, metric] == pytest.approx(score["value"])
    assert "hf download me/paper --local-dir trained" in card.text


def test_a_name_or_a_missing_token_is_refused_before_the_training(
    hub: HubServer, sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = push(tmp_path / "out", sample_folder, "--push", "me/two words")
    assert wrong.exit_code == 1
    assert "me/two words: no name of a repository" in wrong.stderr
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
    without = push(tmp_path / "out", sample_folder)
    assert without.exit_code == 1
    assert "run hf auth login, or set HF_TOKEN" in without.stderr
    assert not (tmp_path / "out").exists()
    assert not hub.created
