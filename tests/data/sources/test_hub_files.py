"""The hub's Parquet files: class numbers become words, hashes are believed, nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from folders import Prepared, prepared, sized, write_hub_file
from real import REAL, needs_real

from gluebench.benchmark import load_benchmark
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import fingerprint
from gluebench.data.sources.files import survey
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import HubFile, load_release

FOLDERS = {"STS-B": "stsb", "SST-2": "sst2"}


def read_hub(
    folder: Path,
    name: str,
    columns: dict[str, Any],
    classes: list[str] | None = None,
    *,
    rows: int = 2,
    split: str = "dev",
) -> Prepared:
    """Prepare a task one of whose splits is a hub file, its hash known."""
    benchmark, task = sized(name, dict.fromkeys(load_benchmark("glue").task(name).splits, rows))
    release = load_release("glue")
    file = "validation" if split == "dev" else split
    path = folder / "source" / f"{FOLDERS.get(name, name.lower())}/{file}-00000-of-00001.parquet"
    write_hub_file(path, columns, classes)
    known = published(release, name, path, split=split)
    return prepared(folder / "source", folder / "data", benchmark, task, known, partial=True)


def published(release: Any, name: str, path: Path, *, split: str = "dev") -> Any:
    """The release with this very file as the published split."""
    known = survey(path)
    task = release.tasks[name]
    file = HubFile(f"{path.parent.name}/{path.name}", known.sha256, known.bytes)
    splits = {**task.splits, split: task.splits[split]._replace(hub=file)}
    return release._replace(tasks={**release.tasks, name: task._replace(splits=splits)})


PAIR = {"sentence1": ["a", "b "], "sentence2": ['"c', "d\n"], "idx": pa.array([5, 2], pa.int32())}


def test_numbers_of_classes_become_words_and_idx_the_index(tmp_path: Path) -> None:
    columns = {**PAIR, "label": [1, 0]}
    found = read_hub(tmp_path, "RTE", columns, ["entailment", "not_entailment"])
    assert found.column("label") == ["not_entailment", "entailment"]
    assert (found.column("premise"), found.column("hypothesis")) == (["a", "b "], ['"c', "d\n"])
    assert found.column("index") == [5, 2]
    assert found.dataset.origin.location == "source (the hub's Parquet files)"


@pytest.mark.parametrize(
    ("name", "columns", "classes", "words"),
    [
        ("CoLA", ["sentence"], ["unacceptable", "acceptable"], ["1", "0"]),
        ("CoLA", ["sentence"], ["acceptable", "unacceptable"], ["0", "1"]),
        ("WNLI", ["sentence1", "sentence2"], ["not_entailment", "entailment"], ["1", "0"]),
        ("MRPC", ["sentence1", "sentence2"], ["not_equivalent", "equivalent"], ["1", "0"]),
        ("QQP", ["question1", "question2"], ["not_duplicate", "duplicate"], ["1", "0"]),
        ("SST-2", ["sentence"], None, ["1", "0"]),
        (
            "RTE",
            ["sentence1", "sentence2"],
            ["not_entailment", "entailment"],
            ["entailment", "not_entailment"],
        ),
    ],
)
def test_classes_are_known_by_name_and_else_by_order(
    tmp_path: Path, name: str, columns: list[str], classes: list[str] | None, words: list[str]
) -> None:
    texts = {column: ["one", "two"] for column in columns}
    assert (
        read_hub(tmp_path, name, {**texts, "label": [1, 0], "idx": [0, 1]}, classes).column("label") == words
    )


@pytest.mark.parametrize("classes", [["entailment", "other"], ["entailment"], ["entailment", "entailment"]])
def test_classes_that_are_not_those_of_the_task_are_told(tmp_path: Path, classes: list[str]) -> None:
    with pytest.raises(
        DataError, match=r"the file's classes are entail.*; expected those of entailment, not_"
    ):
        read_hub(tmp_path, "RTE", {**PAIR, "label": [1, 0]}, classes)


@pytest.mark.parametrize("metadata", [b"{", b"[]", b'{"info": {"features": {"label": {"names": 3}}}}'])
def test_metadata_that_tell_no_classes_are_passed_over(tmp_path: Path, metadata: bytes) -> None:
    table = pa.table({**PAIR, "label": [1, 0]}).replace_schema_metadata({"huggingface": metadata})
    path = tmp_path / "source/rte/validation-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    pq.write_table(table, path)
    benchmark, task = sized("RTE", {"dev": 2})
    release = published(load_release("glue"), "RTE", path)
    found = prepared(tmp_path / "source", tmp_path / "data", benchmark, task, release)
    assert found.column("label") == ["not_entailment", "entailment"]


def test_hidden_labels_leave_no_column(tmp_path: Path) -> None:
    columns = {**PAIR, "label": [-1, -1]}
    found = read_hub(tmp_path, "RTE", columns, ["entailment", "not_entailment"], split="test")
    assert "label" not in found.tables["test"].column_names


def test_a_dev_split_whose_labels_are_hidden_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="the dev split has no labels, or all are hidden"):
        read_hub(tmp_path, "RTE", {**PAIR, "label": [-1, -1]}, ["entailment", "not_entailment"])


def test_labels_texts_and_indices_that_cannot_be_are_told_by_row(tmp_path: Path) -> None:
    columns = {
        "sentence1": ["a", None, "c", "d"],
        "sentence2": ["a", "b", "c", "d"],
        "label": [0, 1, 2, None],
        "idx": [0, 1, -1, 3],
    }
    with pytest.raises(DataError) as caught:
        read_hub(tmp_path, "RTE", columns, rows=4)
    told = [line.partition(".parquet, ")[2] for line in caught.value.problems]
    assert told == [
        "row 1: no sentence1 is there; expected text",
        "row 2: the index is -1; expected a whole number from 0",
        "row 2: the label is 2; expected the number of a class, 0 to 1",
        "row 3: the label is None; expected the number of a class, 0 to 1",
    ]


def test_csv_quoting_that_the_hub_kept_is_undone(tmp_path: Path) -> None:
    columns = {"question1": ['"a ""b"""', '"c'], "question2": ["d", "e"], "label": [0, 1], "idx": [0, 1]}
    assert read_hub(tmp_path, "QQP", columns).column("question1") == ['a "b"', '"c']


def test_scores_in_single_precision_are_read_as_their_decimals(tmp_path: Path) -> None:
    scores = [0.0, 3.2, 4.25, 2.917, 5.0]
    texts = [str(row) for row in range(5)]
    columns = {"sentence1": texts, "sentence2": texts, "label": np.float32(scores), "idx": range(5)}
    found = read_hub(tmp_path, "STS-B", {**columns, "idx": list(range(5))}, rows=5)
    assert found.column("label") == scores


def test_scores_that_are_hidden_leave_no_column(tmp_path: Path) -> None:
    columns = {"sentence1": ["a"], "sentence2": ["b"], "label": np.float32([-1.0]), "idx": [0]}
    found = read_hub(tmp_path, "STS-B", columns, rows=1, split="test")
    assert "label" not in found.tables["test"].column_names


@pytest.mark.parametrize(
    ("column", "values", "told"),
    [
        ("sentence1", [1, 2], "the column sentence1 is of type int64; expected text"),
        ("label", [0.5, 1.0], "row 0: the label is 0.5; expected the number of a class, 0 to 1"),
    ],
)
def test_columns_of_the_wrong_type_are_told(
    tmp_path: Path, column: str, values: list[Any], told: str
) -> None:
    with pytest.raises(DataError, match=told):
        read_hub(tmp_path, "RTE", {**PAIR, "label": [0, 1], column: values})


def rewritten(folder: Path, columns: dict[str, Any], *, known: str = "") -> Prepared:
    """Prepare a dev split that is not the published file; `known` is the published fingerprint."""
    benchmark, task = sized("RTE", {"dev": 2})
    splits = {**task.splits, "dev": task.splits["dev"]._replace(fingerprint=known)}
    write_hub_file(folder / "source/rte/validation-00000-of-00001.parquet", columns)
    return prepared(
        folder / "source", folder / "data", benchmark, task._replace(splits=splits), load_release("glue")
    )


def test_a_file_of_another_hash_is_believed_only_if_its_content_is_the_published(tmp_path: Path) -> None:
    columns = {**PAIR, "label": [1, 0]}
    content = {"premise": ["a", "b "], "hypothesis": ['"c', "d\n"]}
    known = fingerprint(content, ["not_entailment", "entailment"])
    assert rewritten(tmp_path / "same", columns, known=known).column("index") == [5, 2]
    for other in ("", "0" * 32):
        with pytest.raises(
            DataError, match=r"not the published file: [0-9,]+ bytes, sha256 \w+; expected 69,020 "
        ):
            rewritten(tmp_path / f"other{other[:1]}", columns, known=other)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"<html>Too many requests</html>", "an HTML page"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b"PAR1 and no more", "a file cut short or damaged"),
        (b"index\tsentence1\n", "another file"),
        (b"", "the file is empty"),
    ],
)
def test_a_file_that_is_no_parquet_file_is_told_for_what_it_is(
    tmp_path: Path, content: bytes, what: str
) -> None:
    benchmark, task = sized("RTE", {"dev": 2})
    path = tmp_path / "source/rte/validation-00000-of-00001.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    with pytest.raises(DataError, match=f"{path.name}: .*{what}.*fetch it again"):
        prepare_from_folder(
            tmp_path / "source", tmp_path / "data", benchmark, task, load_release("glue"), partial=True
        )


def test_a_file_that_was_cut_or_damaged_is_told_and_the_old_copy_is_intact(tmp_path: Path) -> None:
    texts = [f"sentence {row} {row * row}" for row in range(3000)]
    columns = {"sentence1": texts, "sentence2": texts, "label": [0] * 3000, "idx": list(range(3000))}
    path = tmp_path / "source/rte/validation-00000-of-00001.parquet"
    write_hub_file(path, columns)
    whole = path.read_bytes()
    benchmark, task = sized("RTE", {"dev": 3000})
    release = published(load_release("glue"), "RTE", path)
    to = tmp_path / "data"
    prepared(tmp_path / "source", to, benchmark, task, release)
    before = {each.name: each.read_bytes() for each in (to / "glue/RTE").iterdir()}
    spoilt = bytearray(whole)
    spoilt[len(whole) // 3 : len(whole) // 3 + 400] = b"\x00" * 400
    for content, what in ((whole[: len(whole) // 2], "cut short or damaged"), (bytes(spoilt), ": damaged")):
        path.write_bytes(content)
        release = published(load_release("glue"), "RTE", path)
        with pytest.raises(DataError, match=f"{what}.*fetch it again"):
            prepared(tmp_path / "source", to, benchmark, task, release)
        assert {each.name: each.read_bytes() for each in (to / "glue/RTE").iterdir()} == before
        assert [each.name for each in (to / "glue").iterdir()] == ["RTE"]


@needs_real
def test_rte_is_the_same_from_the_hub_and_from_tsv(tmp_path: Path) -> None:
    glue, release = load_benchmark("glue"), load_release("glue")
    task = glue.task("RTE")
    hub = prepare_from_folder(REAL / "corpora/hf-glue-parquet", tmp_path / "hub", glue, task, release)
    tsv = prepare_from_folder(REAL / "glue/RTE", tmp_path / "tsv", glue, task, release)
    assert hub.splits == tsv.splits
    assert hub.origin.files[0].name == "rte/train-00000-of-00001.parquet"
    for split in task.splits:
        tables = [pq.read_table(tmp_path / each / f"glue/RTE/{split}.parquet") for each in ("hub", "tsv")]
        assert tables[0].equals(tables[1])


@needs_real
def test_the_classes_of_a_real_file_are_in_its_metadata() -> None:
    path = REAL / "corpora/hf-glue-parquet/rte/train-00000-of-00001.parquet"
    metadata = pq.read_schema(path).metadata[b"huggingface"]
    assert json.loads(metadata)["info"]["features"]["label"]["names"] == ["entailment", "not_entailment"]
