"""Labels that are lists, as JSON and `datasets` have those of sets and tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gluebench import load
from gluebench.benchmark import load_benchmark
from gluebench.data import DataError
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release

MANIFEST = """
[benchmark]
name = "lists"

[tasks.Topics]
form = "sets"
columns = ["text"]
labels = ["joy", "anger", "fear"]
metrics = [{ name = "sets_accuracy" }]
splits.dev.size = 3

[tasks.Names]
form = "tokens"
columns = ["text"]
labels = ["O", "B-PER", "I-PER"]
metrics = [{ name = "entity_f1" }]
splits.dev.size = 3

[tasks.Mood]
columns = ["text"]
labels = ["sad", "glad"]
metrics = [{ name = "accuracy" }]
splits.dev.size = 3
"""
SETS = [["joy"], [], ["anger", "joy"]]
TAGS = [["O", "B-PER", "O"], ["O"], ["B-PER", "I-PER"]]
TOKENS = [["Now", "Ann", "runs"], ["Rain"], ["Ann", "Lee"]]
TEXTS = ["a", "b", "c"]


def written(folder: Path, task: str, kind: str, columns: dict[str, Any], classes: list[str]) -> Path:
    """A folder with the dev split of a task as JSON lines or Parquet."""
    home = folder / "files" / task
    home.mkdir(parents=True)
    if kind == "jsonl":
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        (home / "dev.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return folder / "files"
    table = pa.table(columns)
    if classes:
        feature = {"feature": {"names": classes, "_type": "ClassLabel"}, "_type": "List"}
        about = {"info": {"features": {"label": feature}}}
        table = table.replace_schema_metadata({"huggingface": json.dumps(about)})
    pq.write_table(table, home / "dev.parquet")
    return folder / "files"


def read(
    folder: Path, task: str, kind: str, columns: dict[str, Any], classes: list[str] | None = None
) -> tuple[list[Any], list[str], tuple[str, ...]]:
    """Labels, texts and notes of a prepared split."""
    folder.mkdir(exist_ok=True)
    manifest = folder / "lists.toml"
    manifest.write_text(MANIFEST)
    suite = load_benchmark(manifest)
    source = written(folder, task, kind, columns, classes or [])
    release = load_release(manifest)
    dataset = prepare_from_folder(source, folder / "data", suite, suite.task(task), release, partial=True)
    rows = load(task, "dev", folder / "data", benchmark=suite)
    return [row.label for row in rows], [row.inputs["text"] for row in rows], dataset.notes


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_lists_of_words(tmp_path: Path, kind: str) -> None:
    labels, _, notes = read(tmp_path / "sets", "Topics", kind, {"text": TEXTS, "label": SETS})
    assert (labels, notes) == (["joy", "", "anger|joy"], ())
    labels, texts, notes = read(tmp_path / "tags", "Names", kind, {"text": TOKENS, "label": TAGS})
    assert (labels, notes) == (["O B-PER O", "O", "B-PER I-PER"], ())
    assert texts == ["Now Ann runs", "Rain", "Ann Lee"]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_lists_of_class_numbers_are_read_in_the_manifests_order_and_that_is_said(
    tmp_path: Path, kind: str
) -> None:
    labels, _, notes = read(tmp_path, "Topics", kind, {"text": TEXTS, "label": [[0], [], [2, 1]]})
    assert labels == ["joy", "", "fear|anger"]
    assert notes == ("dev: labels are class numbers; 0 is joy, 1 is anger, 2 is fear",)


def test_names_of_the_file_come_before_the_order_of_the_manifest(tmp_path: Path) -> None:
    columns = {"text": TOKENS, "label": [[0, 1, 0], [0], [1, 2]]}
    labels, _, notes = read(tmp_path, "Names", "parquet", columns, ["B-PER", "O", "I-PER"])
    assert (labels, notes) == (["B-PER O B-PER", "B-PER", "O I-PER"], ())


@pytest.mark.parametrize("label", [[["joy", "hope"], [], []], [["joy", "joy"], [], []], [[0, 3], [], []]])
def test_wrong_lists_are_named(tmp_path: Path, label: list[Any]) -> None:
    for kind in ("jsonl", "parquet"):
        with pytest.raises(DataError, match="expected labels with"):
            read(tmp_path / kind, "Topics", kind, {"text": TEXTS, "label": label})


def test_numbers_of_classes_may_be_floats(tmp_path: Path) -> None:
    labels, _, notes = read(tmp_path, "Mood", "parquet", {"text": TEXTS, "label": [0.0, 1.0, 0.0]})
    assert labels == ["sad", "glad", "sad"]
    assert notes == ("dev: labels are class numbers; 0 is sad, 1 is glad",)
    with pytest.raises(DataError, match=r"the label is 0\.5; expected the number of a class"):
        read(tmp_path / "wrong", "Mood", "parquet", {"text": TEXTS, "label": [0.0, 0.5, 1.0]})
