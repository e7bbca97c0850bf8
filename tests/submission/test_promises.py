"""What `check` announces, `--fix` does: shapes that people use though the manifest declares none of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gluebench import Benchmark, check, load_benchmark
from gluebench.cli.submission.check import as_lines
from gluebench.submission import fix_submission, read_predictions
from gluebench.submission.values import submission_of

MANIFEST = """
[benchmark]
name = "promises"

[tasks.Mood]
labels = { sad = "unhappy", glad = "happy" }
metrics = [{ name = "accuracy" }]
splits.test.size = 4

[tasks.Doubt]
form = "probabilities"
labels = ["yes", "no"]
metrics = [{ name = "neg_brier" }]
weight = 0
splits.test.size = 4

[tasks.Names]
form = "tokens"
labels = ["O", "B-PER", "I-PER"]
metrics = [{ name = "entity_f1" }]
splits.test.size = 4

[tasks.Topics]
form = "sets"
labels = ["joy", "anger", "fear"]
metrics = [{ name = "sets_accuracy" }]
splits.test.size = 4
"""
MOODS = ("sad", "glad", "glad", "sad")
SURE = ((0.25, 0.75), (1.0, 0.0), (0.5, 0.5), (0.125, 0.875))
TAGS = (("B-PER", "O"), ("O",), ("O", "B-PER", "I-PER"), ("O", "O"))
SETS = (("joy",), (), ("anger", "joy"), ("fear",))
MEANT = {"Mood": MOODS, "Doubt": SURE, "Names": TAGS, "Topics": SETS}
BITS = ("1,0,0", "0,0,0", "1,1,0", "0,0,1")
PAIRS = [f"{first},{second}" for first, second in SURE]


def table(header: str, rows: object, row: str) -> str:
    lines = [row.format(at, value) for at, value in enumerate(rows)]  # type: ignore[call-overload]
    return "\n".join([header, *lines, ""])


def conll(separator: str) -> str:
    blocks = ["".join(f"word{separator}{tag}\n" for tag in tags) for tags in TAGS]
    return "\n".join(blocks)


FILES = {
    "probabilities in CSV": (
        "Doubt.csv", table("index,prediction", [pair.replace(",", " ") for pair in PAIRS], "{},{}")),
    "probabilities in CSV, in quotes": ("Doubt.csv", table("index,prediction", PAIRS, '{},"{}"')),
    "a column for each probability": ("Doubt.csv", table("id,yes,no", PAIRS, "{},{}")),
    "a column for each probability, in another order": (
        "Doubt.tsv", table("index\tno\tyes", [f"{no}\t{yes}" for yes, no in SURE], "{}\t{}")),
    "a column for each probability, without ids": ("Doubt.csv", table("yes,no", PAIRS, "{1}")),
    "probabilities in JSON": ("Doubt.json", json.dumps(SURE)),
    "a column for each label of sets": ("Topics.csv", table("index,joy,anger,fear", BITS, "{},{}")),
    "sets in JSON lines": (
        "Topics.jsonl",
        "".join(json.dumps({"idx": at, "labels": words}) + "\n" for at, words in enumerate(SETS))),
    "CoNLL": ("Names.tsv", conll(" ")),
    "CoNLL between tabs": ("Names.conll", conll("\t")),
    "a pipeline of transformers": (
        "Mood.json", json.dumps([[{"label": mood, "score": 0.9}] for mood in MOODS])),
    "a pipeline of transformers, a line each": (
        "Mood.jsonl", "".join(json.dumps([{"label": mood, "score": 0.9}]) + "\n" for mood in MOODS)),
    "all scores of a pipeline": (
        "Doubt.json",
        json.dumps([[{"label": "no", "score": no}, {"label": "yes", "score": yes}] for yes, no in SURE])),
    "a frame of pandas as JSON": ("Mood.json", json.dumps({"prediction": dict(enumerate(MOODS))})),
    "inputs beside the answers, without an index": (
        "Mood.csv", table("text,prediction", MOODS, '"a, b {0}",{1}')),
    "the task over its answers": ("Mood.json", json.dumps({"Mood": dict(enumerate(MOODS)), "note": 1})),
    "the task over a list": ("Topics.json", json.dumps({"topics": SETS})),
    "tags in CSV": ("Names.csv", table("id,tags", [" ".join(tags) for tags in TAGS], "{},{}")),
}  # fmt: skip


@pytest.fixture(scope="module")
def promises(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    path = tmp_path_factory.mktemp("promises") / "promises.toml"
    path.write_text(MANIFEST)
    return load_benchmark(path)


def sent(folder: Path, name: str, text: str) -> Path:
    (folder / "sent").mkdir()
    (folder / "sent" / name).write_text(text)
    return folder / "sent"


@pytest.mark.parametrize("case", FILES)
def test_common_shapes_are_recognized_and_fixed_as_announced(
    promises: Benchmark, tmp_path: Path, case: str
) -> None:
    name, text = FILES[case]
    path = sent(tmp_path, name, text)
    said = as_lines(check(path, promises), done=[])
    assert "hint: --fix OUT.zip writes a copy" in said
    fixed = fix_submission(path, tmp_path / "out.zip", promises)
    assert all(step in said for step in fixed.done[:-1])
    again = check(tmp_path / "out.zip", promises)
    ((task, column),) = again.predictions.items()
    assert not again.errors
    assert tuple(column.words() if column.labels else column.cells) == MEANT[task]
    assert name.startswith(task)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Doubt.csv", table("index,yes,no", ["0.2", *PAIRS[1:]], "{},{}"), "Doubt.csv:2: shape"),
        ("Topics.csv", table("index,joy,anger,fear", ["1,0,7", *BITS[1:]], "{},{}"), "Topics.csv:2: shape"),
        ("Mood.csv", table("index,prediction", "0110", "{},{}"), "Mood.csv:2: class-numbers"),
        ("Mood.csv", table("nr,prediction", MOODS, "row{},{}"), "Mood.csv:1: separator"),
    ],
)
def test_nothing_is_announced_that_fix_refuses(
    promises: Benchmark, tmp_path: Path, name: str, text: str, found: str
) -> None:
    path = sent(tmp_path, name, text)
    said = as_lines(check(path, promises), done=[])
    assert fix_submission(path, tmp_path / "out.zip", promises).problems
    assert "writes a copy" not in said
    assert f"error: {found}" in said


@pytest.mark.parametrize(
    "keys", [("sad", "glad"), ("SAD", "Glad"), ("unhappy", "happy"), ("LABEL_0", "LABEL_1")]
)
def test_the_largest_score_of_a_pipeline_is_taken_on_request(
    promises: Benchmark, tmp_path: Path, keys: tuple[str, str]
) -> None:
    scores = [[{"label": keys[mood == "glad"], "score": 0.75}, {"label": keys[mood != "glad"], "score": 0.25}]
              for mood in MOODS]  # fmt: skip
    path = sent(tmp_path, "Mood.json", json.dumps(scores))
    said = as_lines(check(path, promises), done=[])
    assert "error: Mood.json:1: probabilities" in said
    assert "--argmax" in said
    read = read_predictions(path, promises, argmax=True, labels=[["sad", "glad"]])
    assert not read.problems
    assert tuple(read.columns["Mood"].words()) == MOODS


def test_what_a_pipeline_returns_is_read_from_python_too(promises: Benchmark) -> None:
    flat = [{"label": mood, "score": 0.9} for mood in MOODS]
    doubts = [[{"label": "no", "score": no}, {"label": "yes", "score": yes}] for yes, no in SURE]
    for moods in (flat, [[each] for each in flat]):
        columns = submission_of({"Mood": moods, "Doubt": doubts}, promises).predictions
        assert tuple(columns["Mood"].words()) == MOODS
        assert columns["Doubt"].cells == SURE
    with pytest.raises(ValueError, match="expected one label or number for each example"):
        submission_of({"Mood": doubts}, promises)


@pytest.mark.parametrize("row", ["{} {} {}", "[{}, {}, {}]", "[{}. {}. {}.]", "{}|{}|{}", "{},{},{}"])
def test_multi_hot_rows_are_read_in_the_order_that_is_given(
    promises: Benchmark, tmp_path: Path, row: str
) -> None:
    rows = [row.format(*bits.split(",")) for bits in BITS]
    path = sent(tmp_path, "Topics.tsv", table("index\tprediction", rows, "{}\t{}"))
    checked = check(path, promises)
    assert [problem.code for problem in checked.errors] == ["multi-hot"]
    assert "--labels" in as_lines(checked, done=[])
    fixed = fix_submission(path, tmp_path / "out.zip", promises, labels=[["joy", "anger", "fear"]])
    assert fixed.columns["Topics"].cells == SETS


def test_a_file_that_check_names_has_no_second_notice(promises: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("mine")
    (tmp_path / "Mood.csv").write_text(table("index,prediction", MOODS, "{},{}"))
    problems = check(tmp_path, promises).problems
    assert [problem.value for problem in problems if "Mood.csv" in str(problem)] == ["Mood.csv"]
    assert [problem.code for problem in problems if "notes.md" in str(problem)] == ["ignored-file"]
