"""What people are told of mistakes in all rows, in every shape of file; each was reported by somebody."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from gluebench import load_benchmark
from gluebench.benchmark import Benchmark
from gluebench.cli.submission.check import as_lines
from gluebench.submission import Submission, check, fix_submission, read_predictions

BINARY = ("unequal", "equal")


def suite(folder: Path, shape: str) -> Benchmark:
    """A benchmark of one task of 120 rows and the labels yes, no and unknown."""
    path = folder / "suite.toml"
    path.write_text(
        f'[benchmark]\nname = "advice"\n[tasks.T]\nlabels = ["yes", "no", "unknown"]\n'
        f'metrics = [{{ name = "accuracy" }}]\n{shape}\n'
    )
    return load_benchmark(path)


WORDS = ("yes", "no", "unknown")
IDS = [f"q-{at}" for at in range(120)]
SHAPES = {
    "table": ("splits.test.size = 120", "T.tsv"),
    "table of ids": ('splits.test = { size = 120, ids = "q-{}" }', "T.tsv"),
    "CSV": ("splits.test.size = 120\nfiles = [{ name = 'T', member = 'a.csv', column = 'answer' }]", "a.csv"),
    "JSON lines": ("splits.test.size = 120\nfiles = [{ name = 'T', member = 'a.jsonl' }]", "a.jsonl"),
    "JSON": (
        "splits.test = { size = 120, ids = 'q-{}' }\nfiles = [{ name = 'T', member = 'a.json' }]",
        "a.json",
    ),
    "order": ("splits.test = { size = 120, ids = 'order' }", "T.tsv"),
}
"""The end of the manifest, and the name of the file."""


def written(shape: str, folder: Path, values: Sequence[object]) -> Path:
    """A file of this shape with these values."""
    manifest, name = SHAPES[shape]
    ids: Sequence[object] = IDS if "q-{}" in manifest else range(120)
    rows = list(zip(ids, values, strict=True))
    if name.endswith(".jsonl"):
        text = "".join(json.dumps({"idx": number, "label": value}) + "\n" for number, value in rows)
    elif name.endswith(".json"):
        text = json.dumps([{"id": number, "label": value} for number, value in rows])
    elif name.endswith(".csv"):
        text = "id,answer\n" + "".join(f"{number},{value}\n" for number, value in rows)
    elif shape == "order":
        text = "".join(f"{value}\n" for value in values)
    else:
        head = "id" if ids is IDS else "index"
        text = f"{head}\tprediction\n" + "".join(f"{number}\t{value}\n" for number, value in rows)
    path = folder / name
    path.write_text(text)
    return path


def codes(submission: Submission) -> list[str]:
    return [problem.code for problem in submission.errors]


MISTAKES: dict[str, tuple[Callable[[int], object], str]] = {
    "class numbers": (lambda code: code, "class-numbers"),
    "class numbers as text": (str, "class-numbers"),
    "capitals": (lambda code: WORDS[code].upper(), "label-spelling"),
    "spaces before": (lambda code: f" {WORDS[code]}", "quotes"),
    "hidden labels": (lambda code: -1, "hidden-labels"),
    "one probability": (lambda code: 0.25 + code / 5, "one-probability"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_mistake_of_all_rows_is_one_line_in_every_shape(tmp_path: Path, shape: str, mistake: str) -> None:
    rng, (change, code) = random.Random(0), MISTAKES[mistake]
    meant = [rng.randrange(3) for _ in range(120)]
    benchmark = suite(tmp_path, SHAPES[shape][0])
    path = written(shape, tmp_path, [change(answer) for answer in meant])
    submission = check(path, benchmark)
    assert codes(submission) == [code]
    assert not submission.unshown
    labels = (WORDS,) if code == "class-numbers" else ()
    fixed = fix_submission(path, tmp_path / "fixed.zip", benchmark, labels=labels)
    if code in ("one-probability", "hidden-labels"):
        assert [problem.code for problem in fixed.problems] == [code]
        return
    assert not fixed.problems
    again = check(tmp_path / "fixed.zip", benchmark)
    assert again.predictions["T"].words() == [WORDS[answer] for answer in meant]
    assert ("hint: --fix" in as_lines(submission, done=[])) == (mistake != "class numbers" or bool(labels))


@pytest.mark.parametrize("header", ["", "no\tyes\tunknown\n"])
@pytest.mark.parametrize("order", [(), ("unknown", "no", "yes")])
def test_labels_of_the_largest_probability_are_written_on_request(
    tmp_path: Path, header: str, order: tuple[str, ...]
) -> None:
    """As BERT's test_results.tsv has them; the order is that of the header, then what is given."""
    rng = random.Random(1)
    rows = [[rng.random() for _ in WORDS] for _ in range(120)]
    benchmark = suite(tmp_path, SHAPES["table"][0])
    path = tmp_path / "T.tsv"
    path.write_text(header + "".join("\t".join(map(repr, row)) + "\n" for row in rows))
    assert codes(check(path, benchmark)) == ["probabilities"]
    asked = read_predictions(path, benchmark, labels=(order,) if order else (), argmax=True)
    assert not asked.problems
    words = header.split() or order or WORDS
    assert asked.columns["T"].words() == [words[row.index(max(row))] for row in rows]
    assert any(", ".join(words) in step for step in asked.done)


def test_lists_of_logits_are_chosen_from_and_ties_are_counted(tmp_path: Path) -> None:
    benchmark = suite(tmp_path, SHAPES["JSON lines"][0])
    path = written("JSON lines", tmp_path, [[2.0, -1, 2], *[[0.5, 1.25, -3]] * 119])
    assert codes(check(path, benchmark)) == ["probabilities"]
    asked = read_predictions(path, benchmark, argmax=True)
    assert asked.columns["T"].words() == ["yes", *["no"] * 119]
    assert any("the first of equal ones in 1 rows" in step for step in asked.done)
    path = written("JSON lines", tmp_path, [[2.0, -1]] * 120)
    assert read_predictions(path, benchmark, argmax=True).problems  # of two numbers, three labels


def test_numbers_that_are_no_probabilities_of_all_labels_are_left_alone(tmp_path: Path) -> None:
    benchmark = suite(tmp_path, SHAPES["table"][0])
    path = tmp_path / "T.tsv"
    path.write_text("".join("0.5\tnan\t0.25\n" for _ in range(120)))
    assert read_predictions(path, benchmark, argmax=True).problems


@pytest.mark.parametrize("words", [BINARY, ("equal", "equal")])
def test_positions_in_batches_are_no_repeated_rows(tmp_path: Path, words: tuple[str, str]) -> None:
    """Leaving out "repetitions" would move every label."""
    glue, rng = load_benchmark("glue"), random.Random(2)
    path = tmp_path / "MRPC.tsv"
    rows = (f"{at % 32}\t{int(rng.choice(words) == 'equal')}\n" for at in range(1725))
    path.write_text("index\tprediction\n" + "".join(rows))
    submission = check(path, glue)
    assert codes(submission) == ["index-restarts"]
    assert "every 32 rows" in submission.errors[0].expected
    assert fix_submission(path, tmp_path / "o.zip", glue).problems


@pytest.mark.parametrize(
    ("task", "words"),
    [
        ("CoLA", ("unacceptable", "acceptable")),
        ("SST-2", ("negative", "positive")),
        ("MRPC", ("not_equivalent", "equivalent")),
        # Of 390,965 rows, which take seconds.
        pytest.param("QQP", ("not_duplicate", "duplicate"), marks=pytest.mark.slow),
    ],
)
def test_each_word_for_a_label_of_glue_that_run_glue_writes(
    tmp_path: Path, task: str, words: tuple[str, str]
) -> None:
    glue = load_benchmark("glue")
    size = glue.file(task).size()
    path = tmp_path / f"predict_results_{task.lower().replace('-', '')}.txt"
    path.write_text("index\tprediction\n" + "".join(f"{at}\t{words[at % 2]}\n" for at in range(size)))
    fixed = fix_submission(path, tmp_path / "o.zip", glue)
    assert not fixed.problems
    codes = check(tmp_path / "o.zip", glue).predictions[task].codes
    assert codes == bytes(at % 2 for at in range(size))


def test_a_json_file_of_another_name_or_version_is_named_so(tmp_path: Path) -> None:
    clue = load_benchmark("clue")
    name = "cluewsc2020_predict.json"
    lines = [json.dumps({"id": at, "label": "true"}) + "\n" for at in range(2574)]
    (tmp_path / name).write_text("".join(lines))
    fixes = [problem.fix for problem in check(tmp_path, clue).problems if name in problem.fix]
    assert fixes == [f"The file {name} seems to be it: rename it to cluewsc11_predict.json."]
    (tmp_path / name).rename(tmp_path / "cluewsc11_predict.json")
    (tmp_path / "cluewsc11_predict.json").write_text("".join(lines[:290]))
    assert codes(check(tmp_path, clue)) == ["wrong-version"]
