"""The two blocks of callbacks.md, with what they take for granted."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import gluebench

torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
transformers = pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
lightning = pytest.importorskip("lightning.pytorch", reason="lightning is not installed")
from systems.adapters import tiny  # noqa: E402
from systems.callbacks.test_lightning_callback import Module, features  # noqa: E402
from systems.callbacks.test_trainer_callback import Rows  # noqa: E402

PAGE = Path(__file__).resolve().parents[3] / "docs/how-to/callbacks.md"
pytestmark = pytest.mark.slow


def block(number: int) -> str:
    """A block of the page, for the sample benchmark."""
    text = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[number]
    return text.replace('"submission.zip")', '"submission.zip", benchmark="sample")')


def run(
    number: int, names: dict[str, Any], data: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "data").symlink_to(data)
    monkeypatch.chdir(folder)
    exec(compile(block(number), str(PAGE), "exec"), names)


def test_the_block_for_transformers(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = tiny.classifier(tmp_path / "checkpoint", ["entailment", "not_entailment"])
    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint)
    task = gluebench.load_benchmark("sample").task("RTE")
    arguments = transformers.TrainingArguments(
        str(tmp_path / "trainer"), max_steps=1, report_to=[], save_strategy="no", use_cpu=True
    )
    names = {
        "Trainer": transformers.Trainer,
        "model": transformers.AutoModelForSequenceClassification.from_pretrained(checkpoint),
        "arguments": arguments,
        "rows": Rows(tokenizer, sample_folder, task),
        "tokenizer": tokenizer,
    }
    run(0, names, sample_folder, tmp_path, monkeypatch)
    assert set(gluebench.check(tmp_path / "submission.zip", "sample").predictions) == {"RTE"}


def test_the_block_for_lightning(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = torch.utils.data.TensorDataset(torch.zeros(8, 3), torch.zeros(8, dtype=torch.long))
    names = {
        "lightning": lightning,
        "module": Module(),
        "features": features,
        "loader": torch.utils.data.DataLoader(rows, batch_size=8),
    }
    run(1, names, sample_folder, tmp_path, monkeypatch)
    assert set(gluebench.check(tmp_path / "submission.zip", "sample").predictions) == {"WNLI"}
