"""A task as it stands on disk."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from real import REAL, needs_real

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data import DataError, load
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release
from gluebench.data.stats.describe import describe, on_disk
from gluebench.data.tokens import overlap, tokens


def test_the_sample_is_described_as_counting_it_by_hand_says(sample: Benchmark, sample_folder: Path) -> None:
    task = sample.task("RTE")
    stats = describe(task, on_disk(sample_folder, sample, task))
    train, dev = (list(load("RTE", split, sample_folder, benchmark=sample)) for split in ("train", "dev"))
    found = stats.splits["dev"]
    assert found is not None
    assert found.examples == len(dev)
    seen = {token for each in train for text in each.inputs.values() for token in tokens(text)}
    dev_tokens = [token for each in dev for text in each.inputs.values() for token in tokens(text)]
    assert found.vocabulary.tokens == len(dev_tokens)
    assert found.vocabulary.types == len(set(dev_tokens))
    assert found.vocabulary.unseen_types == pytest.approx(len(set(dev_tokens) - seen) / len(set(dev_tokens)))
    overlaps = [overlap(*each.inputs.values()) for each in dev]
    assert found.overlap == pytest.approx(sum(overlaps) / len(overlaps))
    assert found.labels is not None
    assert {part.name: part.examples for part in found.labels.parts} == Counter(each.label for each in dev)
    train_stats = stats.splits["train"]
    assert train_stats is not None
    assert train_stats.vocabulary.unseen_types is None


def test_a_split_without_a_file_is_none_and_a_task_without_a_folder_an_error(
    sample: Benchmark, sample_folder: Path, tmp_path: Path
) -> None:
    task = sample.task("WNLI")
    (tmp_path / "WNLI").mkdir()
    (tmp_path / "WNLI" / "dev.tsv").write_bytes((sample_folder / "WNLI" / "dev.tsv").read_bytes())
    stats = describe(task, on_disk(tmp_path, sample, task))
    assert stats.splits["train"] is None
    assert stats.splits["test"] is None
    dev = stats.splits["dev"]
    assert dev is not None
    assert dev.vocabulary.unseen_types is None
    with pytest.raises(DataError, match="no data of RTE"):
        on_disk(tmp_path, sample, sample.task("RTE"))


@needs_real
def test_the_released_files_beside_table_1(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    found = {}
    for name in ("CoLA", "STS-B", "RTE", "WNLI"):
        task = glue.task(name)
        prepare_from_folder(REAL / "glue", tmp_path, glue, task, load_release("glue"), partial=True)
        for size in describe(task, on_disk(tmp_path, glue, task)).sizes:
            found[name, size.name] = (size.size, size.printed, size.agreement)
    assert found == {
        ("CoLA", "train"): (8551, "8.5k", "cut"),
        ("CoLA", "test"): (1063, "1k", "rounded"),
        ("STS-B", "train"): (5749, "7k", "differs"),
        ("STS-B", "test"): (1379, "1.4k", "rounded"),
        ("RTE", "train"): (2490, "2.5k", "rounded"),
        ("RTE", "test"): (3000, "3k", "exact"),
        ("WNLI", "train"): (635, "634", "differs"),
        ("WNLI", "test"): (146, "146", "exact"),
    }
