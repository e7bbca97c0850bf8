"""Groups of examples, wherever the labels come from; metrics of groups have no value without them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.scoring import GoldError, grade, read_gold
from gluebench.systems.adapters.dev_scores import labels_of_drawn

MANIFEST = """[benchmark]
name = "reading"
[tasks.Questions]
labels = ["0", "1"]
metrics = [{ name = "em", function = "group_exact_match" }]
splits.test.size = 9
files = [{ name = "Q", member = "Q.jsonl", column = "label" }]
"""
SIZES = ((2, 1), (3,), (1, 2))
"""Answers of each question, by passage."""
TRUTH = [1, 0, 1, 1, 1, 0, 0, 1, 0]
ANSWERS = [1, 0, 0, 1, 1, 0, 0, 0, 1]
RIGHT = 3 / 5


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "reading.toml"
    path.write_text(MANIFEST)
    return path


def passages(labels: list[int], *, ids: bool = True) -> list[dict]:
    """As in SuperGLUE's val.jsonl: passages with questions with answers."""
    rows, answer = [], 0
    for number, sizes in enumerate(SIZES):
        questions = []
        for size in sizes:
            own = range(answer, answer + size)
            answer += size
            answers = [{"label": labels[at], **({"idx": at} if ids else {})} for at in own]
            questions.append({"question": "?", "idx": len(questions), "answers": answers})
        rows.append({"idx": number, "passage": {"text": "...", "questions": questions}})
    return rows


def lines(rows: list[dict]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def exact_match(gold, manifest: Path) -> float | None:
    report = grade({"Questions": ANSWERS}, read_gold(gold, load_benchmark(manifest)))
    return report.tasks["Questions"].metrics["em"].value


@pytest.mark.parametrize("shape", ["lines", "list", "object", "reversed"])
def test_groups_are_those_of_the_nesting(shape: str, manifest: Path, tmp_path: Path) -> None:
    rows = passages(TRUTH)
    text = {
        "lines": lines(rows),
        "list": json.dumps(rows),
        "object": json.dumps({"data": rows}),
        "reversed": lines(rows[::-1]),
    }[shape]
    (tmp_path / "gold").mkdir()
    (tmp_path / "gold" / "Q.jsonl").write_text(text)
    assert exact_match(tmp_path / "gold", manifest) == pytest.approx(RIGHT)
    gold = read_gold(tmp_path / "gold", load_benchmark(manifest))
    assert gold.metadata["Q"].groups == (0, 0, 1, 2, 2, 2, 3, 4, 4)
    assert gold.warnings == ("Q: its groups come from the nesting of Q.jsonl",)


def test_groups_given_in_the_folder_or_from_python_are_taken(manifest: Path, tmp_path: Path) -> None:
    groups = ["a", "a", "b", "c", "c", "c", "d", "e", "e"]
    assert exact_match({"Questions": TRUTH, "Q.groups": groups}, manifest) == pytest.approx(RIGHT)
    (tmp_path / "Q.tsv").write_text(
        "index\tlabel\n" + "".join(f"{at}\t{label}\n" for at, label in enumerate(TRUTH))
    )
    rows = "".join(f"{at}\t{group}\n" for at, group in enumerate(groups))
    (tmp_path / "Q.metadata.tsv").write_text(f"index\tgroup\n{rows}")
    assert exact_match(tmp_path, manifest) == pytest.approx(RIGHT)


def test_labels_without_groups_are_refused_with_what_to_do(manifest: Path, tmp_path: Path) -> None:
    flat = [{"idx": at, "label": label} for at, label in enumerate(TRUTH)]
    (tmp_path / "Q.jsonl").write_text(lines(flat))
    for gold in ({"Questions": TRUTH}, tmp_path):
        with pytest.raises(GoldError, match=r"the group of each example, which em needs") as raised:
            read_gold(gold, load_benchmark(manifest))
        assert "add Q.metadata.tsv with the columns index and group; from Python" in str(raised.value)


def test_a_limited_run_keeps_the_groups() -> None:
    sample = load_benchmark("superglue")
    size = sample.file("MultiRC").size("dev")
    gold = read_gold(
        {"MultiRC": [0] * size, "MultiRC.groups": [at // 4 for at in range(size)]}, sample, role="dev"
    )
    few = labels_of_drawn(gold, 40)
    rows = few.columns["MultiRC"].row_indices
    assert len(rows) == 40
    groups = few.metadata["MultiRC"].groups
    assert groups is not None
    assert [groups[at] == groups[0] for at in range(40)] == [row // 4 == rows[0] // 4 for row in rows]


def test_pairs_that_the_manifest_declares_are_groups_without_a_file_of_them(
    sample_folder: Path, tmp_path: Path
) -> None:
    with_file = read_gold(sample_folder / "gold", "sample")
    shutil.copy(sample_folder / "gold" / "AX.tsv", tmp_path / "AX.tsv")
    without = read_gold(tmp_path, "sample", partial=True)
    assert without.metadata["AX"].groups == with_file.metadata["AX"].groups
    assert without.metadata["AX"].columns["direction"] == with_file.metadata["AX"].columns["direction"]
    answers = ["entailment", "neutral", "neutral", "contradiction"] * (len(without.columns["AX"]) // 4)
    overall = [grade({"AX": answers}, gold).diagnostics["AX"].overall for gold in (with_file, without)]
    assert overall[0] == overall[1]
    assert overall[0].low is not None
