"""Many submissions in one table: each row is that of `grade`, and a run that ended early is continued."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from scoring.material import TASKS, gold_values, manifest_text, predicted_values, table, write_gold

from gluebench import GoldError, grade, grade_many
from gluebench.benchmark import Benchmark
from gluebench.scoring import Report, many
from gluebench.scoring.many import submissions_in

KILLED = """
import os, signal, sys
from gluebench import grade_many

def kill(done, of):
    if done == 2:
        os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    manifest, gold, folder, out, workers = sys.argv[1:]
    paths = [entry.path for entry in os.scandir(folder)]
    grade_many(paths, gold, out=out, benchmark=manifest, workers=int(workers), progress=kill)
"""


def write_submission(folder: Path, values: Mapping[str, list[object]]) -> Path:
    folder.mkdir(parents=True)
    for name, column in values.items():
        (folder / f"{name}.tsv").write_text(table(column, "prediction"))
    return folder


@pytest.fixture
def systems(tmp_path: Path) -> list[Path]:
    """Four submissions: right, worse, without a task, invalid."""
    right, worse = gold_values(), predicted_values()
    some = {name: column for name, column in worse.items() if name != "Like"}
    broken = {**worse, "Accept": ["maybe\t" + "x", *worse["Accept"][1:]]}
    values = {"a": right, "b": worse, "c": some, "d": broken}
    return [write_submission(tmp_path / "systems" / name, columns) for name, columns in values.items()]


def read_rows(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def expected_numbers(report: Report) -> dict[str, float | None]:
    """The cells that a report should make, from its JSON."""
    values = report.as_dict()
    scores = {"score": values["score"]}
    for task, part in values["tasks"].items():
        scores |= {f"{task}.{metric}": score for metric, score in part["metrics"].items()}
        if len(part["metrics"]) > 1:
            scores[f"{task}.score"] = part["score"]
    for task, part in values["diagnostics"].items():
        scores[f"{task}.r_k"] = part["overall"] if part else None
    ends = {"": "value", "_low": "low", "_high": "high"}
    return {
        f"{name}{end}": score[key] if score else None
        for name, score in scores.items()
        for end, key in ends.items()
    }


def test_rows_are_those_of_grade_with_one_process_and_with_two(
    small: Benchmark, folder: Path, systems: list[Path], tmp_path: Path
) -> None:
    alone = grade_many(systems, folder, benchmark=small, workers=1)
    together = grade_many(systems, folder, benchmark=small, workers=2, out=tmp_path / "two.csv")
    assert alone == together
    for path, row in zip(systems[:3], alone, strict=False):
        expected = expected_numbers(grade(path, folder, benchmark=small))
        assert {name: row[name] for name in expected} == expected
        missing = [name for name in row if name not in expected and name not in many.WORDS]
        assert all(row[name] is None and name.startswith("Like") for name in missing)
    assert [row["verdict"] for row in alone] == ["valid", "valid", "incomplete", "invalid"]
    assert [row["missing"] for row in alone] == ["", "", "Like", ""]


def test_an_invalid_submission_is_a_row_with_its_first_problem(
    small: Benchmark, folder: Path, systems: list[Path], tmp_path: Path
) -> None:
    invalid, absent = grade_many([systems[3], systems[3] / "absent.zip"], folder, benchmark=small, workers=1)
    assert invalid["problem"].startswith("Accept.tsv:2")
    assert "absent.zip" in absent["submission"]
    assert absent["verdict"] == "invalid"
    assert all(row[name] is None for row in (invalid, absent) for name in row if name not in many.WORDS)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_kill_leaves_whole_rows_that_are_not_computed_again(
    workers: int, folder: Path, systems: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest, script, out = tmp_path / "other.toml", tmp_path / "killed.py", tmp_path / "scores.csv"
    manifest.write_text(manifest_text(TASKS))
    script.write_text(KILLED)
    arguments = [*map(str, (manifest, folder, systems[0].parent, out)), str(workers)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    # Returns when standard output is closed, so that the workers have ended too.
    killed = subprocess.run([sys.executable, script, *arguments], env=environment, capture_output=True)
    assert killed.returncode == -9
    rows = read_rows(out)
    assert len(rows) == 2
    kept = {row["submission"] for row in rows}
    graded = []
    of_one = many._grade_job
    monkeypatch.setattr(many, "_grade_job", lambda job, *rest: graded.append(job.path) or of_one(job, *rest))
    counts: list[tuple[int, int]] = []
    again = grade_many(
        systems, folder, out=out, benchmark=manifest, workers=1, progress=lambda *count: counts.append(count)
    )
    assert {*graded} == {*map(str, systems)} - kept
    assert counts == [(2, 4), (3, 4), (4, 4)]
    assert again == grade_many(systems, folder, benchmark=manifest, workers=1)
    assert [row["submission"] for row in read_rows(out)] == [*map(str, systems)]


def test_a_line_that_was_cut_off_is_graded_again(
    small: Benchmark, folder: Path, systems: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "scores.csv"
    rows = grade_many(systems, folder, out=out, benchmark=small, workers=1)
    whole = out.read_bytes()
    for cut in (1, 7, len(whole.splitlines()[-1]), len(whole)):
        out.write_bytes(whole[:-cut])
        assert grade_many(systems, folder, out=out, benchmark=small, workers=1) == rows
        assert out.read_bytes() == whole


def test_what_changed_is_graded_again_and_other_rows_stay(
    small: Benchmark, folder: Path, systems: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "scores.csv"
    before = grade_many(systems[:2], folder, out=out, benchmark=small, workers=1)
    (systems[1] / "Pairs.tsv").write_text(table(gold_values()["Pairs"], "prediction"))
    os.utime(systems[1] / "Pairs.tsv", (2e9, 2e9))
    [changed] = grade_many(systems[1:2], folder, out=out, benchmark=small, workers=1)
    assert changed["Pairs.accuracy"] == 1.0 > before[1]["Pairs.accuracy"]
    assert [row["submission"] for row in read_rows(out)] == [*map(str, systems[:2])]
    labels = gold_values() | {"Pairs": [1] * 40}
    relabeled = grade_many(
        systems[:1], write_gold(tmp_path / "new", labels), out=out, benchmark=small, workers=1
    )
    assert relabeled[0]["Pairs.accuracy"] == 0.25


def test_parquet_has_the_same_rows_and_is_continued_from_its_lines(
    small: Benchmark, folder: Path, systems: list[Path], tmp_path: Path
) -> None:
    out, lines = tmp_path / "scores.parquet", tmp_path / "scores.rows.csv"

    def stop(done: int, of: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    grade_many(systems[:1], folder, out=out, benchmark=small, workers=1)
    with pytest.raises(KeyboardInterrupt):
        grade_many(systems, folder, out=out, benchmark=small, workers=1, progress=stop)
    assert len(read_rows(lines)) == 3
    assert len(pq.read_table(out)) == 1
    rows = grade_many(systems, folder, out=out, benchmark=small, workers=1)
    assert pq.read_table(out).to_pylist() == rows
    assert not lines.exists()


def test_scores_alone_have_no_columns_of_ends_and_go_into_another_file(
    small: Benchmark, folder: Path, systems: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "scores.csv"
    [row] = grade_many(systems[:1], folder, out=out, benchmark=small, intervals=False)
    assert not [name for name in row if name.endswith(("_low", "_high"))]
    with pytest.raises(ValueError, match="other columns"):
        grade_many(systems, folder, out=out, benchmark=small)
    with pytest.raises(ValueError, match=r"\.csv or \.parquet"):
        grade_many(systems, folder, out=tmp_path / "scores.xlsx", benchmark=small)


@pytest.mark.parametrize("name", ["notes.csv", "notes.parquet"])
def test_a_file_of_something_else_is_never_replaced(
    name: str, small: Benchmark, folder: Path, systems: list[Path], tmp_path: Path
) -> None:
    notes = tmp_path / name
    notes.write_text("my notes\n")
    with pytest.raises(ValueError, match=r"other columns|not Parquet"):
        grade_many(systems, folder, out=notes, benchmark=small)
    assert notes.read_text() == "my notes\n"


def test_a_folder_is_one_submission_or_holds_several(small: Benchmark, systems: list[Path]) -> None:
    home = systems[0].parent
    (home / "e.zip").write_bytes(b"")
    (home / "notes.txt").write_text("")
    (home / ".cache").mkdir()
    assert submissions_in([str(home)], small) == [*map(str, systems), str(home / "e.zip")]
    assert submissions_in([str(systems[0])], small) == [str(systems[0])]


def test_a_path_that_is_not_utf_8_is_continued_too(
    small: Benchmark, folder: Path, systems: list[Path], tmp_path: Path
) -> None:
    odd = os.fsencode(systems[0].parent) + b"/gr\xfcn"
    os.rename(systems[0], odd)
    counts: list[tuple[int, int]] = []
    for _ in range(2):
        grade_many(
            [os.fsdecode(odd)],
            folder,
            out=tmp_path / "scores.csv",
            benchmark=small,
            progress=lambda *count: counts.append(count),
        )
    assert counts == [(0, 1), (1, 1), (1, 1)]


def test_faulty_gold_is_reported_from_another_process(
    small: Benchmark, folder: Path, systems: list[Path]
) -> None:
    (folder / "Pairs.tsv").unlink()
    with pytest.raises(GoldError, match=r"(?s)gold labels in .*Pairs.tsv") as raised:
        grade_many(systems[:2], folder, benchmark=small, workers=2)
    assert raised.value.problems[0].file == "Pairs.tsv"


def test_parquet_without_pyarrow_is_refused_before_any_work(
    small: Benchmark, folder: Path, systems: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setattr(many, "_grade_job", None)
    with pytest.raises(ImportError, match=r"gluebench\[data\]"):
        grade_many(systems, folder, out=tmp_path / "scores.parquet", benchmark=small, workers=1)
