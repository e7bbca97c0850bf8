"""One file with several tasks, files of Parquet, and tables that pandas writes with orient="split"."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd  # noqa: TID251 - what a user has
import pytest
from click.testing import CliRunner

from gluebench import Benchmark, Submission, check, grade, load_benchmark
from gluebench.cli import main
from gluebench.submission import archive, fix_submission, read_predictions

MEANT = {"CB": ["yes", "no", "no"], "RTE": ["no", "yes", "no", "yes"], "STS": [0.5, 4.0]}
MANIFEST = """
[benchmark]
name = "several"
[tasks.CB]
labels = ["yes", "no"]
metrics = [{ name = "accuracy" }]
splits.test.size = 3
files = [{ name = "CB", member = "CB.SUFFIX"PLACE }]
[tasks.RTE]
labels = ["yes", "no"]
metrics = [{ name = "accuracy" }]
splits.test.size = 4
files = [{ name = "RTE", member = "RTE.SUFFIX"PLACE }]
[tasks.STS]
score_range = [0, 5]
metrics = [{ name = "neg_mae", scale = [-5.0, 0.0] }]
splits.test.size = 2
files = [{ name = "STS", member = "STS.SUFFIX"PLACE }]
"""
ROWS = [
    {"task": task, "index": index, "prediction": value}
    for task, values in MEANT.items()
    for index, value in enumerate(values)
]


def objects(change: Callable[[list[Any]], Any]) -> str:
    return json.dumps({task: change(values) for task, values in MEANT.items()})


def records(values: list[Any]) -> list[dict[str, Any]]:
    return [{"idx": index, "label": value} for index, value in enumerate(values)]


def frame() -> pd.DataFrame:
    return pd.DataFrame(ROWS).astype({"prediction": str}).sample(frac=1, random_state=1)


FILES: dict[str, Callable[[], str]] = {
    "lists.json": lambda: objects(lambda values: values),
    "records.json": lambda: objects(records),
    "shuffled.json": lambda: objects(lambda values: records(values)[::-1]),
    "indices.json": lambda: objects(lambda values: {str(at): value for at, value in enumerate(values)}),
    "names.json": lambda: json.dumps({"cb": MEANT["CB"], "rte": MEANT["RTE"], "s_t_s": MEANT["STS"]}),
    "rows.json": lambda: json.dumps(ROWS),
    "lines.jsonl": lambda: "".join(json.dumps(row) + "\n" for row in reversed(ROWS)),
    "nested.json": lambda: json.dumps({"version": 1, "data": ROWS}),
    "table.csv": lambda: frame().to_csv(index=False),
    "table.tsv": lambda: frame().to_csv(index=False, sep="\t"),
    "split.json": lambda: frame().to_json(orient="split", index=False),
    "of_frames.json": lambda: objects(
        lambda values: json.loads(pd.DataFrame(records(values)).to_json(orient="split"))
    ),
}


@pytest.fixture(scope="module", params=["json", "tsv"])
def several(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    """A benchmark of three files, which its manifest declares as JSON or as tables."""
    path = tmp_path_factory.mktemp("several") / "several.toml"
    place = ', column = "label"' if request.param == "json" else ""
    path.write_text(MANIFEST.replace("SUFFIX", request.param).replace("PLACE", place))
    return load_benchmark(path)


def is_of_json(benchmark: Benchmark) -> bool:
    return benchmark.file("CB").path.endswith(".json")


def values(submission: Submission) -> dict[str, list[Any]]:
    columns = submission.predictions
    return {name: column.words() if column.labels else [*column.numbers] for name, column in columns.items()}


@pytest.mark.parametrize("name", FILES)
def test_one_file_with_several_tasks_becomes_a_submission(
    several: Benchmark, tmp_path: Path, name: str
) -> None:
    text = FILES[name]()
    if is_of_json(several):
        text = text.replace("prediction", "label")
    path = tmp_path / name
    path.write_text(text)
    submission = check(path, several)
    if submission.verdict == "valid":
        assert values(submission) == MEANT
    else:
        # JSON where a table is declared, as in a file of one task.
        assert not is_of_json(several)
        assert all(problem.repair for problem in submission.errors)
    assert not fix_submission(path, tmp_path / "out.zip", several).problems
    assert values(check(tmp_path / "out.zip", several)) == MEANT


def test_where_json_is_declared_one_file_is_checked_and_graded(tmp_path: Path) -> None:
    manifest = tmp_path / "several.toml"
    manifest.write_text(MANIFEST.replace("SUFFIX", "jsonl").replace("PLACE", ""))
    path = tmp_path / "mine.json"
    path.write_text(FILES["lists.json"]())
    submission = check(path, manifest)
    assert submission.verdict == "valid"
    assert [(problem.code, problem.file) for problem in submission.problems] == [
        ("several-tasks", "mine.json")
    ]
    assert grade(submission, MEANT).score.value == 1
    out = tmp_path / "out.zip"
    result = CliRunner().invoke(main, ["write", str(path), "--out", str(out), "--benchmark", str(manifest)])
    assert result.exit_code == 0, result.output
    assert "mine.json: taken apart, a file for each task" in result.output


def test_a_fault_has_its_task_and_example_and_no_line_of_a_file_that_nobody_wrote(
    several: Benchmark, tmp_path: Path
) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [dict(row) for row in ROWS]
    rows[4]["prediction"] = "maybe"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows).replace("prediction", "label"))
    (problem,) = (each for each in check(path, several).errors if each.code == "unknown-label")
    suffix = several.file("RTE").path
    assert problem.place == f"mine.jsonl/{suffix} (index 1)"
    assert problem.value == "maybe"


def test_what_no_task_is_called_is_passed_over_and_said(several: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(MEANT | {"model": {"name": "mine"}}))
    ignored = [problem for problem in check(path, several).problems if problem.code == "ignored-file"]
    assert "mine.json/model" in ignored[0].expected
    assert "mine.json/model: left out, as it is named as no test file" in read_predictions(path, several).done


def test_a_task_twice_is_an_error(several: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(MEANT | {"rte": MEANT["RTE"]}))
    assert "two-files" in {problem.code for problem in check(path, several).errors}


@pytest.mark.parametrize(
    "text",
    ['{"a": 1', "[]", '{"task": "RTE"}', "task\nRTE\n", "task,index\nRTE,0,yes\n", '{"x": "\\ud800"}', ""],
)
def test_other_files_stay_what_they_are(several: Benchmark, tmp_path: Path, text: str) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text)
    submission = check(path, several)
    assert submission.verdict == "invalid"
    assert read_predictions(path, several).problems


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pd.DataFrame(rows).to_parquet(path, index=False)
    return path


def test_parquet_becomes_a_submission(several: Benchmark, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for task, of_task in MEANT.items():
        parquet(folder / f"{task}.parquet", records(of_task))
    assert not fix_submission(folder, tmp_path / "out.zip", several).problems
    assert values(check(tmp_path / "out.zip", several)) == MEANT


def test_parquet_with_several_tasks(several: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "mine.parquet"
    frame().to_parquet(path, index=False)
    assert values(check(path, several)) == ({} if is_of_json(several) else MEANT)
    frame().rename(columns={"prediction": "label"}).to_parquet(path, index=False)
    assert not fix_submission(path, tmp_path / "out.zip", several).problems
    assert values(check(tmp_path / "out.zip", several)) == MEANT


@pytest.mark.parametrize("name", ["RTE.parquet", "mine.parquet"])
def test_without_pyarrow_one_sentence_says_the_extra(
    several: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    path = parquet(tmp_path / name, [row | {"prediction": str(row["prediction"])} for row in ROWS])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (problem,) = read_predictions(path, several).problems
    assert (problem.code, problem.file) == ("parquet", name)
    assert 'pip install "gluebench[data]"' in problem.fix
    manifest = tmp_path / "s.toml"
    manifest.write_text(MANIFEST.replace("SUFFIX", "tsv").replace("PLACE", ""))
    result = CliRunner().invoke(main, ["check", str(path), "--benchmark", str(manifest)])
    assert result.exit_code == 1
    assert "gluebench[data]" in result.output


def test_damaged_parquet_is_a_problem(several: Benchmark, tmp_path: Path) -> None:
    path = parquet(tmp_path / "RTE.parquet", records(MEANT["RTE"]))
    path.write_bytes(path.read_bytes()[:-9])
    (problem,) = read_predictions(path, several).problems
    assert "damaged or cut short" in problem.expected


def test_where_strangers_upload_parquet_is_not_read(
    several: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = parquet(tmp_path / "RTE.parquet", records(MEANT["RTE"]))
    monkeypatch.setattr(archive, "_usual", archive.Limits())
    archive.limit_uploads(1 << 20)
    (problem,) = read_predictions(path, several).problems
    assert problem.expected == "expected text, and this is Parquet"


def test_a_checked_file_is_not_read_again_for_the_hint(
    several: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for task, of_task in MEANT.items():
        lines = "".join(f"{index},{value}\n" for index, value in enumerate(of_task))
        (folder / several.file(task).path).write_text("index,prediction\n" + lines)
    submission = check(folder, several)
    again = read_predictions(folder, several)
    monkeypatch.setattr("gluebench.submission.write.read_file", None)
    assert read_predictions(folder, several, checked=submission) == again


def test_a_file_of_more_lists_than_rows_is_not_read(
    several: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"RTE": [' + "[]," * 20_000 + "[]]}")
    monkeypatch.setattr("gluebench.submission.combined.loaded", None)
    assert [problem.code for problem in check(path, several).errors] == ["no-files"]
