"""What a Trainer of Lightning leaves at its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gluebench
from gluebench.data import load_split
from gluebench.systems.targets import answers

torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
lightning = pytest.importorskip("lightning.pytorch", reason="lightning is not installed")
from gluebench.systems.callbacks.lightning import SubmissionCallback  # noqa: E402


def features(examples: Any) -> Any:
    """The length of each text, and whether the texts share their first word."""
    rows = []
    for example in examples:
        first, second = example.inputs.values()
        rows.append([len(first) / 50, len(second) / 50, float(first.split()[0] == second.split()[0])])
    return torch.tensor(rows)


class Module(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.dropout = torch.nn.Dropout(0.5)

    def forward(self, batch: Any) -> Any:
        return self.layer(self.dropout(batch))

    def training_step(self, batch: Any, at: int) -> Any:
        inputs, codes = batch
        return torch.nn.functional.cross_entropy(self(inputs), codes)

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=0.1)


def predict(module: Module, task: gluebench.Task, examples: Any) -> list[str | float]:
    return answers(task, module(features(examples)).double().numpy())


@pytest.mark.slow
def test_the_end_of_training_leaves_a_submission_and_dev_scores(sample_folder: Path, tmp_path: Path) -> None:
    task = gluebench.load_benchmark("sample").task("WNLI")
    train = list(load_split(sample_folder, "sample", "WNLI", "train"))[:32]
    codes = torch.tensor([task.words.index(example.label) for example in train])
    rows = torch.utils.data.TensorDataset(features(train), codes)
    out = tmp_path / "submission.zip"
    callback = SubmissionCallback(predict, "WNLI", sample_folder, out, benchmark="sample")
    logger = lightning.loggers.CSVLogger(tmp_path / "logs")
    trainer = lightning.Trainer(
        max_steps=4,
        accelerator="cpu",
        callbacks=[callback],
        logger=logger,
        enable_progress_bar=False,
        enable_checkpointing=False,
    )
    module = Module()
    trainer.fit(module, torch.utils.data.DataLoader(rows, batch_size=8))
    assert module.training, "the module is left as it was"
    module.eval()
    with torch.no_grad():
        examples = list(load_split(sample_folder, "sample", "WNLI", "test"))
        words = [task.words[int(code)] for code in module(features(examples)).argmax(dim=1)]
    assert gluebench.check(out, "sample").predictions["WNLI"].words() == words
    score = callback.report.tasks["WNLI"].metrics["accuracy"]
    assert score.low < score.value < score.high
    (log,) = (tmp_path / "logs").rglob("metrics.csv")
    assert f"{score.value}" in log.read_text()
