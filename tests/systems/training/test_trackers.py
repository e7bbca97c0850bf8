"""Trackers of experiments are told what the run's own log says."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from systems.training.toy import TOY, toy_data, toy_model

from gluebench.benchmark import UnknownNameError
from gluebench.systems.training.log import read_log
from gluebench.systems.training.trackers import choose_trackers
from gluebench.systems.training.trainer import Trainer


def tracked(name: str, folder: Path) -> None:
    data = toy_data("SST-2", "STS-B")
    model = toy_model([each.task for each in data.values()])
    Trainer(model, data, TOY, folder, trackers=[name]).train()


def test_a_tracker_is_told_the_settings_and_each_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracking = pytest.importorskip("accelerate.tracking")
    told: list[Any] = []

    class Remembering(tracking.GeneralTracker):  # type: ignore[misc,name-defined]
        name = "remembering"
        requires_logging_directory = False
        tracker = None

        def __init__(self, project: str) -> None:
            super().__init__(_blank=True)
            told.append(project)

        def start(self) -> None:
            told.append("started")

        def store_init_configuration(self, values: dict[str, Any]) -> None:
            told.append(values)

        def log(self, values: dict[str, Any], step: int | None = None) -> None:
            told.append((step, values))

        def finish(self) -> None:
            told.append("finished")

    monkeypatch.setitem(tracking.LOGGER_TYPE_TO_CLASS, "remembering", Remembering)
    tracked("remembering", tmp_path)
    assert told[:2] == ["gluebench", "started"]
    assert told[2]["seed"] == TOY.seed
    rows = read_log(tmp_path)
    assert [step for step, _ in told[3:-1]] == [row["update"] for row in rows]
    for (_, values), row in zip(told[3:-1], rows, strict=True):
        assert values["score/SST-2"] == pytest.approx(row["SST-2 score"])
        assert values["macro"] == pytest.approx(row["macro"])
    assert told[-1] == "finished"


def test_trackers_that_cannot_be_used_are_named() -> None:
    pytest.importorskip("accelerate")
    assert choose_trackers(["none"]) == ()
    with pytest.raises(UnknownNameError, match=r"no tracker is called 'wand'.*wandb"):
        choose_trackers(["wand"])
    if find_spec("aim") is None:
        with pytest.raises(ModuleNotFoundError, match="pip install aim"):
            choose_trackers(["aim"])


@pytest.mark.slow
@pytest.mark.skipif(find_spec("mlflow") is None, reason="mlflow is not installed")
def test_mlflow_has_the_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")  # a database needs all of mlflow
    mlflow.set_tracking_uri((tmp_path / "store").as_uri())
    tracked("mlflow", tmp_path / "run")
    (run,) = mlflow.search_runs(experiment_names=["gluebench"], output_format="list")
    rows = read_log(tmp_path / "run")
    history = mlflow.MlflowClient().get_metric_history(run.info.run_id, "score/SST-2")
    assert [(point.step, point.value) for point in history] == [
        (row["update"], pytest.approx(row["SST-2 score"])) for row in rows
    ]
    assert run.data.params["seed"] == str(TOY.seed)


@pytest.mark.slow
@pytest.mark.skipif(find_spec("wandb") is None, reason="wandb is not installed")
def test_weights_and_biases_keeps_a_run_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    tracked("wandb", tmp_path / "run")
    (file,) = (tmp_path / "wandb").glob("offline-run-*/run-*.wandb")
    assert b"score/SST-2" in file.read_bytes()


@pytest.mark.slow
def test_tensorboard_reads_what_the_log_says(tmp_path: Path) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    tracked("tensorboard", tmp_path)
    events = accumulator.EventAccumulator(str(tmp_path / "tensorboard"))
    events.Reload()
    for tag, column in (("macro", "macro"), ("score/SST-2", "SST-2 score"), ("loss/STS-B", "STS-B loss")):
        logged = [(row["update"], row[column]) for row in read_log(tmp_path) if column in row]
        found = [(event.step, event.value) for event in events.Scalars(tag)]
        assert found == [(step, pytest.approx(value)) for step, value in logged]
