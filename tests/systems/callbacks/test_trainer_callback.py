"""What transformers' Trainer leaves at its end, beside the same model asked one example at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from systems.adapters import tiny

import gluebench
from gluebench.data import DataError, load_split
from gluebench.systems.adapters import ModelError

torch = pytest.importorskip("torch", reason="PyTorch is not installed (gluebench[train])")
transformers = pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("one_thread")]


class Rows(torch.utils.data.Dataset):
    """Training rows of a task, as a user's own code tokenizes them."""

    def __init__(self, pieces: Any, data: Path, task: gluebench.Task) -> None:
        self.examples = list(load_split(data, "sample", task.name, "train"))[:16]
        self.pieces, self.words = pieces, list(task.words)

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, at: int) -> dict[str, Any]:
        example = self.examples[at]
        encoded = self.pieces(*example.inputs.values(), padding="max_length", max_length=32, truncation=True)
        return {**encoded, "labels": self.words.index(example.label)}


def submission_callback(task: str, data: Path, out: Path) -> Any:
    # Here, because the Trainer that it extends takes seconds to import, at each collection of the tests.
    from gluebench.systems.callbacks.transformers import SubmissionCallback

    return SubmissionCallback(task, data, out, benchmark="sample")


def trained(folder: Path, data: Path, task: str, callback: Any, labels: list[str]) -> Any:
    """A Trainer that has made two updates of a tiny BERT."""
    checkpoint = tiny.classifier(folder / "checkpoint", labels)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(checkpoint)
    pieces = transformers.AutoTokenizer.from_pretrained(checkpoint)
    arguments = transformers.TrainingArguments(
        str(folder / "trainer"),
        max_steps=2,
        per_device_train_batch_size=8,
        learning_rate=0.01,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
    )
    rows = Rows(pieces, data, gluebench.load_benchmark("sample").task(task))
    trainer = transformers.Trainer(
        model, arguments, train_dataset=rows, processing_class=pieces, callbacks=[callback]
    )
    trainer.train()
    return trainer


def one_at_a_time(trainer: Any, data: Path, task: str, split: str) -> list[str]:
    words = []
    for example in load_split(data, "sample", task, split):
        encoded = trainer.processing_class(*example.inputs.values(), return_tensors="pt")
        with torch.no_grad():
            logits = trainer.model.eval()(**encoded).logits
        words.append(trainer.model.config.id2label[int(logits.argmax())])
    return words


def test_the_end_of_training_leaves_a_submission_and_dev_scores(
    sample_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "submission.zip"
    callback = submission_callback("WNLI", sample_folder, out)
    trainer = trained(tmp_path / "wnli", sample_folder, "WNLI", callback, ["1", "0"])
    submission = gluebench.check(out, "sample")
    assert submission.verdict == "incomplete"
    assert submission.predictions["WNLI"].words() == one_at_a_time(trainer, sample_folder, "WNLI", "test")
    right = [example.label for example in load_split(sample_folder, "sample", "WNLI", "dev")]
    answers = one_at_a_time(trainer, sample_folder, "WNLI", "dev")
    accuracy = sum(map(str.__eq__, answers, right)) / len(right)
    score = callback.report.tasks["WNLI"].metrics["accuracy"]
    assert score.value == pytest.approx(accuracy)
    assert score.low < score.value < score.high
    logged = trainer.state.log_history[-1]
    assert (logged["WNLI/accuracy"], logged["WNLI/accuracy_low"]) == (score.value, score.low)
    shown = capsys.readouterr().out
    assert "submission.zip: 1 file of 11" in shown
    assert f"WNLI/accuracy: {100 * accuracy:.1f} [" in shown


def test_trainings_with_one_out_make_one_submission_and_a_repetition_replaces(
    sample_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "submission.zip"
    for number, labels in enumerate((["1", "0"], ["0", "1"])):
        callback = submission_callback("WNLI", sample_folder, out)
        trainer = trained(tmp_path / f"wnli{number}", sample_folder, "WNLI", callback, labels)
        words = one_at_a_time(trainer, sample_folder, "WNLI", "test")
        assert gluebench.check(out, "sample").predictions["WNLI"].words() == words
    callback = submission_callback("RTE", sample_folder, out)
    trained(tmp_path / "rte", sample_folder, "RTE", callback, ["entailment", "not_entailment"])
    assert set(gluebench.check(out, "sample").predictions) == {"RTE", "WNLI"}
    assert callback.report.tasks["WNLI"].score is not None


def test_what_cannot_be_answered_at_the_end_is_refused_before_training(
    sample_folder: Path, tmp_path: Path
) -> None:
    unclear = submission_callback("WNLI", sample_folder, tmp_path / "a.zip")
    with pytest.raises(ModelError, match="LABEL_A"):
        trained(tmp_path / "unclear", sample_folder, "WNLI", unclear, ["LABEL_A", "LABEL_B"])
    (tmp_path / "empty").mkdir()
    missing = submission_callback("WNLI", tmp_path / "empty", tmp_path / "b.zip")
    with pytest.raises(DataError, match="no data of WNLI"):
        trained(tmp_path / "missing", sample_folder, "WNLI", missing, ["0", "1"])
    assert not list(tmp_path.glob("*.zip"))
