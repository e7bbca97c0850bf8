"""SNLI, which the paper recommends as auxiliary training data for MNLI.

The Stanford Natural Language Inference corpus 1.0 (section 3.3 of the paper: 550k examples) is not a task of
GLUE. It is taken as published: its train, dev and test, without the pairs on whose label the annotators did
not agree (gold label "-"), which leaves 549,367 of the 550,152 of train. Its test labels are public, and
kept.

The classes entailment, neutral and contradiction go to the task's label words in that order. The ids of
caption and pair are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.recipes import Built
from gluebench.data.recipes.mnli import labelled_splits
from gluebench.data.recipes.reading import Reader

EXTRAS = ("captionID", "pairID")


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> Built:
    """The three splits of the release."""
    reader = Reader(corpus, task, options)
    stems = {split: f"snli_1.0_{split}" for split in ("train", "dev", "test")}
    splits, notes = labelled_splits(reader, stems, EXTRAS)
    return reader.built(splits, notes)
