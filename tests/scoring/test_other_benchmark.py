"""Labels of another benchmark than the one named: nobody is blamed, and one line says which it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluebench import GoldError, SubmissionError, compare, grade
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.submission import write_submission


def predictions(benchmark: Benchmark) -> dict[str, list[object]]:
    answers = {task.name: task.words[0] if task.words else 2.5 for task in benchmark.tasks}
    return {file.name: [answers[file.task]] * file.size("test") for file in benchmark.files("test")}


def test_python_says_which_benchmark_the_labels_are_of(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    gold, path = sample_folder / "gold", tmp_path / "mine.zip"
    write_submission(path, predictions(sample), sample)
    for call in (lambda: grade(path, gold), lambda: compare(path, path, gold)):
        with pytest.raises(GoldError) as raised:
            call()
        assert "at fault" not in str(raised.value)
        (problem,) = raised.value.problems
        assert problem.code == "other-benchmark"
        assert 'benchmark="sample"' in problem.fix
    grade(path, gold, benchmark="sample")


def test_python_says_which_benchmark_predictions_are_of(sample_folder: Path) -> None:
    with pytest.raises(SubmissionError, match=r"all files .11. have the numbers of rows of glue") as raised:
        grade(predictions(load_benchmark("glue")), sample_folder / "gold", benchmark="sample")
    assert len(raised.value.problems) == 1


def test_a_fault_of_the_labels_themselves_is_told_as_before(sample_folder: Path, tmp_path: Path) -> None:
    rows = (sample_folder / "gold/RTE.tsv").read_text().splitlines()
    (tmp_path / "RTE.tsv").write_text("\n".join([*rows[:-1], "899\tperhaps"]))
    with pytest.raises(GoldError, match="at fault, not the submission"):
        grade({"RTE": ["entailment"] * 900}, tmp_path, benchmark="sample")
