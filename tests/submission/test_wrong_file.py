"""The file of another task is recognized by its rows, ids and values, and said in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluebench import Benchmark, check, load_benchmark
from gluebench.submission import fix_submission
from gluebench.submission.values import submission_of

TASK = """
[tasks.{name}]
labels = [{labels}]
metrics = [{{ name = "accuracy" }}]
splits.test = {{ size = {size}{ids} }}
"""
GLUE = {"QNLI": 5463, "RTE": 3000}
NLI = ("entailment", "not_entailment")


def benchmark_of(folder: Path, *tasks: str) -> Benchmark:
    path = folder / "wrong.toml"
    path.write_text('[benchmark]\nname = "wrong"\n' + "".join(tasks))
    return load_benchmark(path)


def predictions(size: int, words: tuple[str, str], first: str = "") -> str:
    rows = "".join(f"{first}{at}\t{words[at % 3 % 2]}\n" for at in range(size))
    return f"{'id' if first else 'index'}\tprediction\n{rows}"


def test_the_file_of_another_task_is_said_in_one_line(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    (tmp_path / "RTE.tsv").write_text(predictions(GLUE["QNLI"], NLI))
    checked = check(tmp_path / "RTE.tsv", glue)
    (problem,) = checked.errors
    assert (problem.code, problem.file, problem.value) == ("wrong-file", "RTE.tsv", "QNLI.tsv")
    assert not checked.unshown
    fixed = fix_submission(tmp_path / "RTE.tsv", tmp_path / "out.zip", glue)
    assert fixed.done[0] == "RTE.tsv: renamed to QNLI.tsv"
    assert [*fixed.columns] == ["QNLI"]


def test_three_files_in_each_others_place_are_put_in_order(tmp_path: Path) -> None:
    words = {"A": ("a", "b"), "B": ("c", "d"), "C": ("e", "f")}
    tasks = []
    for at, (name, labels) in enumerate(words.items()):
        tasks.append(TASK.format(name=name, labels=f'"{labels[0]}", "{labels[1]}"', size=5 + at, ids=""))
    suite = benchmark_of(tmp_path, *tasks)
    sent = tmp_path / "sent"
    sent.mkdir()
    for at, (name, path) in enumerate(zip("ABC", ("B.tsv", "C.tsv", "A.tsv"), strict=True)):
        (sent / path).write_text(predictions(5 + at, words[name]))
    assert [problem.code for problem in check(sent, suite).errors] == ["wrong-file"] * 3
    fixed = fix_submission(sent, tmp_path / "out.zip", suite)
    assert {name: column.labels for name, column in fixed.columns.items()} == words
    assert not fixed.problems


def test_a_file_is_not_moved_onto_another_one(tmp_path: Path) -> None:
    (tmp_path / "RTE.tsv").write_text(predictions(GLUE["QNLI"], NLI))
    (tmp_path / "QNLI.tsv").write_text(predictions(GLUE["QNLI"], NLI[::-1]))
    fixed = fix_submission(tmp_path, tmp_path / "out.zip", load_benchmark("glue"))
    assert [problem.code for problem in fixed.problems] == ["wrong-file"]
    assert not (tmp_path / "out.zip").exists()


def test_ids_tell_files_of_one_size_apart(tmp_path: Path) -> None:
    ids = {"A": "a-", "B": "b-"}
    tasks = []
    for name, first in ids.items():
        listed = f", ids = '{first}{{}}'"
        tasks.append(TASK.format(name=name, labels='"x", "y"', size=30, ids=listed))
    suite = benchmark_of(tmp_path, *tasks)
    (tmp_path / "A.tsv").write_text(predictions(30, ("x", "y"), first="b-"))
    (problem,) = check(tmp_path / "A.tsv", suite).errors
    assert (problem.code, problem.value) == ("wrong-file", "B.tsv")


@pytest.mark.parametrize("words", [("1", "0"), ("yes", "no")])
def test_values_alone_do_not_show_which_file_it_is(tmp_path: Path, words: tuple[str, str]) -> None:
    number = TASK.format(name="Number", labels='"0", "1"', size=30, ids="")
    other = TASK.format(name="Other", labels='"yes", "no"', size=30, ids="")
    mine = TASK.format(name="Mine", labels='"true", "fake"', size=30, ids="")
    suite = benchmark_of(tmp_path, number, other, mine)
    (tmp_path / "Mine.tsv").write_text(predictions(30, words))
    assert "wrong-file" not in {problem.code for problem in check(tmp_path / "Mine.tsv", suite).errors}


def test_values_from_python_are_told_the_same() -> None:
    values = [NLI[at % 2] for at in range(GLUE["QNLI"])]
    (problem,) = submission_of({"RTE": values}, load_benchmark("glue")).errors
    assert (problem.code, problem.value) == ("wrong-file", "QNLI.tsv")
