"""Files of another benchmark than the one named are recognized, and one line says so."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from gluebench import SubmissionError, check, grade
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.cli import main
from gluebench.submission import read_predictions, write_submission
from gluebench.submission.other_benchmark import COMMENT, count_rows

NAMED = 'Name the benchmark: --benchmark sample, in Python benchmark="sample"; or take files of glue.'


def predictions(benchmark: Benchmark, *names: str) -> dict[str, list[object]]:
    """The first label, or 2.5, for every example of the test files of these names; of all without names."""
    files = [file for file in benchmark.files("test") if not names or file.name in names]
    answers = {task.name: task.words[0] if task.words else 2.5 for task in benchmark.tasks}
    return {file.name: [answers[file.task]] * file.size("test") for file in files}


def write_plain(path: Path, values: Mapping[str, list[object]]) -> Path:
    """A zip as other programs write one, without a comment."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, answers in values.items():
            rows = "".join(f"{index}\t{answer}\n" for index, answer in enumerate(answers))
            archive.writestr(f"{name}.tsv", f"index\tprediction\n{rows}")
    return path


@pytest.fixture
def written(sample: Benchmark, tmp_path: Path) -> Path:
    write_submission(tmp_path / "written.zip", predictions(sample), sample)
    return tmp_path / "written.zip"


@pytest.fixture
def plain(sample: Benchmark, tmp_path: Path) -> Path:
    return write_plain(tmp_path / "plain.zip", predictions(sample))


@pytest.mark.parametrize("which", ["written", "plain"])
@pytest.mark.parametrize("command", ["check", "grade", "compare", "write"])
def test_a_forgotten_benchmark_is_one_line(
    which: str, command: str, sample_folder: Path, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    path = str(request.getfixturevalue(which))
    gold = ["--gold", str(sample_folder / "gold")]
    words = {
        "check": ["check", path],
        "grade": ["grade", path, *gold],
        "compare": ["compare", path, path, *gold],
        "write": ["write", path, "--out", str(tmp_path / "o.zip")],
    }[command]
    done = CliRunner().invoke(main, words, prog_name="gluebench")
    assert done.exit_code == 1
    (line, *rest) = done.output.splitlines()
    assert line.startswith("error: other-benchmark: expected files of glue, and ")
    assert line.endswith(NAMED)
    assert len(rest) == 1  # the verdict, or that nothing was written
    right = CliRunner().invoke(main, [*words, "--benchmark", "sample"], prog_name="gluebench")
    assert right.exit_code == 0, right.output


def test_one_file_is_enough(sample: Benchmark) -> None:
    with pytest.raises(SubmissionError, match=r'benchmark="sample"'):
        grade(predictions(sample, "RTE"), {"RTE": ["entailment"] * 3000})


def test_a_manifest_of_one_s_own_is_named_by_the_comment(sample: Benchmark, tmp_path: Path) -> None:
    own = sample._replace(name="hotels")
    write_submission(tmp_path / "own.zip", predictions(own), own)
    (problem,) = check(tmp_path / "own.zip", "glue").problems
    assert "the zip was written for hotels" in problem.expected
    assert "--benchmark hotels.toml" in problem.fix


def test_files_that_fit_are_taken_whatever_the_comment_says(sample: Benchmark, tmp_path: Path) -> None:
    """A part of a benchmark takes what was written for the whole."""
    write_submission(tmp_path / "own.zip", predictions(sample), sample._replace(name="hotels"))
    checked = check(tmp_path / "own.zip", sample)
    assert checked.verdict == "valid"


@pytest.mark.parametrize("names", [("RTE",), ("RTE", "QNLI")])
def test_a_fault_within_the_right_benchmark_is_told_as_before(names: tuple[str, ...], tmp_path: Path) -> None:
    values = predictions(load_benchmark("glue"), *names)
    values["RTE"][3] = "perhaps"
    checked = check(write_plain(tmp_path / "one.zip", values), "glue")
    assert [problem.code for problem in checked.errors] == ["unknown-label"]
    values["RTE"] = ["entailment"] * 2999  # of no benchmark
    checked = check(write_plain(tmp_path / "two.zip", values), "glue")
    assert "row-count" in {problem.code for problem in checked.errors}


def test_the_dev_split_is_not_taken_for_another_benchmark(sample: Benchmark, tmp_path: Path) -> None:
    values = {file.name: ["1"] * file.size("dev") for file in sample.files("dev") if file.name == "SST-2"}
    checked = check(write_plain(tmp_path / "dev.zip", values), sample)
    assert {problem.code for problem in checked.errors} == {"wrong-split"}


def test_a_written_zip_has_its_files_alone_and_is_the_same_each_time(
    written: Path, sample: Benchmark, tmp_path: Path
) -> None:
    with zipfile.ZipFile(written) as archive:
        assert archive.comment.decode() == f"{COMMENT}sample"
        assert archive.namelist() == [file.path for file in sample.files("test")]
        assert archive.testzip() is None
    write_submission(tmp_path / "again.zip", predictions(sample), sample)
    assert written.read_bytes() == (tmp_path / "again.zip").read_bytes()
    assert not [problem for problem in check(written, sample).problems if problem.code != "constant"]


def test_write_and_fix_recognize_it_too(plain: Path) -> None:
    fixed = read_predictions(plain, load_benchmark("glue"))
    assert [problem.code for problem in fixed.problems] == ["other-benchmark"]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("keyed", [False, True])
def test_json_on_any_number_of_lines_is_counted_by_its_answers(
    indent: int | None, keyed: bool, sample: Benchmark, tmp_path: Path
) -> None:
    for name, answers in predictions(sample, "RTE", "QNLI").items():
        rows = [{"index": index, "prediction": answer} for index, answer in enumerate(answers)]
        value = {str(row["index"]): row["prediction"] for row in rows} if keyed else rows
        (tmp_path / f"{name}.tsv").write_text(json.dumps(value, indent=indent))
    (problem,) = check(tmp_path, "glue").problems
    assert problem.code == "other-benchmark"
    assert "sample" in problem.fix


def test_a_file_that_only_begins_as_json_is_counted_by_its_lines() -> None:
    assert count_rows(b'{"index": 0}\n{"index": 1}\n[oh\n') == 3
    assert count_rows(b'\xef\xbb\xbf [{"index": 0}, {"index": 1}]') == 2
    assert count_rows(b"index\tprediction\n0\t1") == 2
