"""SNLI, which the paper recommends as auxiliary training data for MNLI; recipes.toml has the procedure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.recipes import Built
from gluebench.data.recipes.mnli import labeled_splits
from gluebench.data.recipes.reading import Reader

EXTRAS = ("captionID", "pairID")


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> Built:
    """The three splits of the release."""
    reader = Reader(corpus, task, options)
    stems = {split: f"snli_1.0_{split}" for split in ("train", "dev", "test")}
    splits, notes = labeled_splits(reader, stems, EXTRAS)
    return reader.built(splits, notes)
