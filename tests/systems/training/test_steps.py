"""A training step: no wait for a GPU in it, and batches that are made ahead."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from nearly import same_weights
from systems.training.toy import TOY, toy_data, toy_model

from gluebench.systems.neural.bilstm import BiLstm
from gluebench.systems.training.engine import Engine
from gluebench.systems.training.trainer import Trainer
from gluebench.systems.weights.recurrent import run

READS = ("item", "cpu", "tolist", "numpy", "nonzero", "__bool__", "__int__", "__float__", "__index__")


@contextmanager
def no_reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Whatever would wait for a GPU, counted by the file that asked; Adam's own counts are on the CPU."""
    found: list[str] = []
    with monkeypatch.context() as patch:
        for name in READS:
            plain = getattr(torch.Tensor, name)

            def told(self: Any, *given: Any, name: str = name, plain: Any = plain, **options: Any) -> Any:
                file = sys._getframe(1).f_code.co_filename
                if "optim" not in Path(file).parts:
                    found.append(f"{name} in {Path(file).name}")
                return plain(self, *given, **options)

            patch.setattr(torch.Tensor, name, told)
        yield found


def test_a_read_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    with no_reads(monkeypatch) as found:
        assert torch.tensor([1, 0]).nonzero().tolist() == [[0]]
        assert torch.tensor(True)
    assert [each.partition(" ")[0] for each in found] == ["nonzero", "tolist", "__bool__"]


def packed(self: BiLstm, states: torch.Tensor, lengths: torch.Tensor, packing: Any = None) -> torch.Tensor:
    """What a GPU does."""
    assert packing is not None
    return run(self.lstm, states, lengths, packing)[0]


@pytest.mark.parametrize(
    ("body", "precision"),
    [("elmo", "fp32"), ("fused elmo", "fp32"), ("elmo", "bf16"), ("cove", "fp32"), ("glove", "fp32")],
)
def test_no_step_waits_for_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, precision: Any
) -> None:
    found: list[str] = []
    plain = Trainer._update

    def update(self: Trainer) -> None:
        drawn = next(self._stream)  # a thread makes it
        self._stream = iter([drawn])  # type: ignore[assignment]
        with no_reads(monkeypatch) as reads:
            plain(self)
        found.extend(reads)
        self._stream = self._batches()

    monkeypatch.setattr(BiLstm, "forward", packed)
    monkeypatch.setattr(Trainer, "_update", update)
    data = toy_data("STS-B", "MNLI", "SST-2")
    model = toy_model([each.task for each in data.values()], body=body.split()[-1])
    settings = replace(TOY, check_every=3, max_checks=1, precision=precision)
    if "fused" in body:
        model.body.vectors.elmo.fused = True  # type: ignore[union-attr]
    assert Trainer(model, data, settings, tmp_path).train().updates == 3
    # PyTorch's LSTM may have to be repeated where ELMo clips: which rows, is one read of each side's batch
    assert {*found} == ({"nonzero in elmo.py"} if "fused" in body else set())
    assert len(found) <= 6


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("body", ["elmo", "cove", "glove"])
def test_pytorch_itself_sees_no_wait_on_a_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    plain = Trainer._update

    def update(self: Trainer) -> None:
        torch.cuda.set_sync_debug_mode("error")
        try:
            plain(self)
        finally:
            torch.cuda.set_sync_debug_mode("default")

    monkeypatch.setattr(Trainer, "_update", update)
    data = toy_data("STS-B", "MNLI", "SST-2")
    model = toy_model([each.task for each in data.values()], body=body)
    if body == "elmo":
        model.body.vectors.elmo.fused = False  # type: ignore[union-attr]
    Trainer(model, data, TOY, tmp_path, engine=Engine("cuda")).train()


def test_batches_made_ahead_are_the_same_and_a_stopped_run_draws_none_twice(tmp_path: Path) -> None:
    data = toy_data("SST-2", "MNLI")
    found = []
    for ahead, stops in ((0, [0]), (3, [0]), (3, [17, 0])):
        for stop in stops:
            engine = type("Ahead", (Engine,), {"ahead": ahead})()
            folder = tmp_path / f"{ahead}-{len(stops)}"
            model = toy_model([each.task for each in data.values()])
            run = Trainer(model, data, replace(TOY, save_minutes=0), folder, engine=engine)
            if stop:
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(run, "_update", lambda run=run: _until(run, stop=17))
                    with pytest.raises(KeyboardInterrupt):
                        run.train()
            else:
                run.train()
        found.append((model.state_dict(), (folder / "log.csv").read_bytes()))
    for weights, log in found[1:]:
        assert same_weights(weights, found[0][0])
        assert log == found[0][1]


def _until(run: Trainer, *, stop: int) -> None:
    Trainer._update(run)
    if run._progress.update == stop:
        raise KeyboardInterrupt
