"""Running systems over a benchmark: who answers what, in which order, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.data import DataError, Example
from gluebench.systems import SYSTEMS, PredictionError, run
from gluebench.systems.run import column


class Recorder:
    """Answers with the first label, or 1.0, and notes what it was given."""

    def __init__(self) -> None:
        self.fitted: list[tuple[str, int, int]] = []
        self.asked: list[tuple[str, int]] = []
        self.seen: list[Example] = []

    def fit(self, task: Task, train: Sequence[Example], dev: Sequence[Example]) -> None:
        self.fitted.append((task.name, len(train), len(dev)))

    def predict(self, task: Task, examples: Sequence[Example]) -> list[str | float]:
        self.asked.append((task.name, len(examples)))
        self.seen += examples
        return [task.words[0] if task.labels else 1.0] * len(examples)


class OnlyPredicts:
    def __init__(self, answers: Sequence[str | float]) -> None:
        self.answers = answers

    def predict(self, task: Task, examples: Sequence[Example]) -> Sequence[str | float]:
        return [self.answers[index % len(self.answers)] for index in range(len(examples))]


def test_each_task_is_fitted_once_and_mnli_answers_the_diagnostic_set(
    sample: Benchmark, sample_folder: Path
) -> None:
    system, lines = Recorder(), []
    columns = run(system, sample, sample_folder, progress=lines.append)
    assert list(columns) == [file.name for file in sample.files()]
    assert [name for name, *_ in system.fitted] == [task.name for task in sample.scored]
    assert ("MNLI", 6000, 600) in system.fitted
    assert system.asked[-1] == ("MNLI", 600)
    assert [count for name, count in system.asked if name == "MNLI"] == [1500, 1500, 600]
    assert lines[0] == "fitting CoLA"
    assert lines[-1] == "predicting AX"


def test_what_is_predicted_is_ready_to_be_a_submission(sample: Benchmark, sample_folder: Path) -> None:
    columns = run(Recorder(), sample, sample_folder)
    for file in sample.files():
        assert len(columns[file.name]) == file.size()
        assert columns[file.name].indices is None
        assert columns[file.name].labels == sample.task(file.task).words
    assert columns["STS-B"].numbers == array("d", [1.0] * 500)
    assert columns["AX"].words() == ["entailment"] * 600


def test_a_system_never_sees_the_labels_of_what_it_predicts(sample: Benchmark, sample_folder: Path) -> None:
    system = Recorder()
    columns = run(system, sample, sample_folder, role="dev")
    assert set(columns) == {file.name for file in sample.files("dev")}
    assert all(example.label is None for example in system.seen)


def test_a_system_that_cannot_learn_needs_no_training_data(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    manifest = tmp_path / "part.toml"
    manifest.write_text('[benchmark]\nname = "part"\nextends = "sample"\ntasks = ["RTE"]\n')
    part = load_benchmark(manifest)
    (tmp_path / "RTE").mkdir()
    (tmp_path / "RTE" / "test.tsv").write_bytes((sample_folder / "RTE" / "test.tsv").read_bytes())
    columns = run(OnlyPredicts(["entailment", "not_entailment"]), part, tmp_path)
    assert columns["RTE"].words()[:3] == ["entailment", "not_entailment", "entailment"]
    with pytest.raises(
        DataError, match=r"neither train\.parquet nor train\.tsv is there; expected the train split"
    ):
        run(Recorder(), part, tmp_path)


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["perhaps"], r"RTE: 'perhaps' is not a label; expected one of entailment, not_entailment"),
        ([1.0], r"RTE: 1\.0 is not a label"),
    ],
)
def test_what_is_no_label_is_refused(
    sample: Benchmark, sample_folder: Path, answers: list[str | float], message: str
) -> None:
    task = sample.task("RTE")
    with pytest.raises(PredictionError, match=message):
        column(task, answers)


@pytest.mark.parametrize("answer", ["3.5", float("nan"), float("inf")])
def test_what_is_no_finite_number_is_refused(sample: Benchmark, answer: str | float) -> None:
    with pytest.raises(PredictionError, match=r"STS-B: .* is not a number"):
        column(sample.task("STS-B"), [answer])


def test_too_few_predictions_are_refused(sample: Benchmark, sample_folder: Path) -> None:
    class Short(OnlyPredicts):
        def predict(self, task: Task, examples: Sequence[Example]) -> Sequence[str | float]:
            return [task.words[0]] * (len(examples) - 1)

    with pytest.raises(PredictionError, match=r"CoLA: 599 predictions for 600 examples"):
        run(Short([]), sample, sample_folder)


def test_the_registry_says_what_a_board_shows() -> None:
    assert list(SYSTEMS) == ["majority", "overlap", "bag-of-words", "hypothesis-only", "natural-logic", "mlp"]
    for name, entry in SYSTEMS.items():
        assert entry.name == name
        assert entry.regime == "single-task"
        assert entry.description.endswith(".")
        assert entry.make() is not entry.make()
        assert entry.make().parameters() == 0


def test_naming_the_systems_loads_no_numpy() -> None:
    code = "import sys, gluebench.systems, gluebench.data.sample; sys.exit('numpy' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
