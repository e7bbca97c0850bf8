"""Croissant documents: accepted without a warning by MLCommons' own reader, which reads every row back."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from real import REAL

from gluebench.benchmark import Benchmark, ManifestError, load_benchmark
from gluebench.data import load
from gluebench.data.croissant import CONTEXT, croissant, missing_card_keys, prepared_files
from gluebench.data.dataset import Origin
from gluebench.data.prepared import prepare

MANIFEST = """
[benchmark]
name = "mine"
title = "Mine"
description = "Two tasks."
url = "https://example.org/mine"
citation = "Author. Mine. 2026."

[benchmark.card]
license = "https://spdx.org/licenses/CC-BY-4.0.html"
version = "1.0.0"
published = "2026-11-22"
creators = ["A. Author", "B. Author"]
publisher = "The Example University"

[benchmark.card.rai]
dataCollection = "Written by hand."
dataBiases = "None studied."
hasSyntheticData = true

[tasks.Mood]
columns = ["text"]
labels = { good = "a good mood", bad = "a bad mood" }
metrics = [{ name = "accuracy" }]
splits = { train = { size = 3 }, test = { size = 2 } }
source = { corpus = "none", license = "Apache-2.0", citation = "none" }

[tasks.Warmth]
columns = ["one", "two"]
score_range = [0.0, 5.0]
metrics = [{ name = "pearson" }]
splits.dev.size = 2
source = { corpus = "none", license = "MIT", citation = "none" }
"""
MOOD = "index\ttext\tlabel\n0\tsunny\tgood\n1\train, “again”\tbad\n2\tone 'more'\tgood\n"


@pytest.fixture
def mine(tmp_path: Path) -> Benchmark:
    path = tmp_path / "mine.toml"
    path.write_text(MANIFEST)
    return load_benchmark(path)


@pytest.fixture
def folder(mine: Benchmark, tmp_path: Path) -> Path:
    """A data folder with one task as plain text and one as Parquet."""
    home = tmp_path / "data"
    (home / "Mood").mkdir(parents=True)
    (home / "Mood" / "train.tsv").write_text(MOOD, encoding="utf-8")
    (home / "Mood" / "test.tsv").write_text("index\ttext\n0\tfog\n1\tsnow\n")
    rows = {"index": pa.array([4, 2], pa.int64()), "one": ["a", "b"], "two": ["c", "d"], "label": [0.5, 5.0]}
    splits = {"dev": pa.table(rows).to_batches()}
    prepare(home, mine, mine.task("Warmth"), splits, origin=Origin("folder", "by hand"))
    return home


def decoded(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def test_the_reader_warns_of_nothing_and_reads_the_rows_that_load_reads(
    mine: Benchmark, folder: Path, mlcroissant: Any
) -> None:
    path = folder / "croissant.json"
    path.write_text(json.dumps(croissant(mine, prepared_files(folder, mine))))
    dataset = mlcroissant.Dataset(jsonld=path)
    assert dataset.metadata.ctx.issues.report() == ""
    sets = {"Mood/train": ("Mood", "train"), "Mood/test": ("Mood", "test"), "Warmth/dev": ("Warmth", "dev")}
    assert [each.id for each in dataset.metadata.record_sets] == [*sets]
    for name, (task, split) in sets.items():
        rows = [{key: decoded(value) for key, value in row.items()} for row in dataset.records(name)]
        expected = []
        for example in load(task, split, folder, benchmark=mine):
            label = {} if example.label is None else {"label": example.label}
            values = {"index": example.index, **example.inputs, **label}
            expected.append({f"{name}/{column}": value for column, value in values.items()})
        assert rows == expected
    assert dataset.metadata.license == ["https://spdx.org/licenses/CC-BY-4.0.html"]
    assert dataset.metadata.data_biases == ["None studied."]


def test_the_reader_refuses_a_planted_fault(mine: Benchmark, folder: Path, mlcroissant: Any) -> None:
    document = croissant(mine, prepared_files(folder, mine))
    del document["distribution"][0]["sha256"]
    path = folder / "croissant.json"
    path.write_text(json.dumps(document))
    with pytest.raises(mlcroissant.ValidationError, match="sha256"):
        mlcroissant.Dataset(jsonld=path)


def test_files_have_their_checksums_and_the_card_its_facts(mine: Benchmark, folder: Path) -> None:
    document = croissant(mine, prepared_files(folder, mine), url="https://example.org/data")
    assert missing_card_keys(mine) == []
    for file in document["distribution"]:
        content = (folder / file["contentUrl"]).read_bytes()
        assert file["sha256"] == hashlib.sha256(content).hexdigest()
    facts = {name: document[name] for name in ("url", "version", "datePublished", "rai:hasSyntheticData")}
    assert facts == {
        "url": "https://example.org/data",
        "version": "1.0.0",
        "datePublished": "2026-11-22",
        "rai:hasSyntheticData": True,
    }
    assert [creator["name"] for creator in document["creator"]] == ["A. Author", "B. Author"]


def test_what_the_manifest_does_not_state_is_left_out_and_named(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "bare.toml"
    head, _, tasks = MANIFEST.partition("[benchmark.card]")
    path.write_text(head + tasks[tasks.index("[tasks.Mood]") :])
    bare = load_benchmark(path)
    document = croissant(bare, prepared_files(folder, bare))
    missing = ["card.license", "card.version", "card.published", "card.rai", "card.creators"]
    assert missing_card_keys(bare) == missing
    assert document["license"] == ["Apache-2.0", "MIT"], "of the tasks, from the manifest"
    assert not {"version", "datePublished", "creator", "publisher"} & document.keys()
    assert not [name for name in document if name.startswith("rai:")]


def test_a_wrong_answer_on_responsible_use_is_a_problem_of_the_manifest(tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(MANIFEST.replace("dataBiases", "dataBias").replace("= true", '= "yes"'))
    with pytest.raises(ManifestError, match=r"(?s)dataBias.*Did you mean dataBiases.*expected true or false"):
        load_benchmark(path)


def test_the_context_is_that_of_the_standard() -> None:
    real = REAL / "formats" / "croissant-good.json"
    if not real.is_file():
        pytest.skip(f"no Croissant document at {real}; set GLUEBENCH_REAL to a folder that has one")
    assert json.loads(real.read_text())["@context"] == CONTEXT
