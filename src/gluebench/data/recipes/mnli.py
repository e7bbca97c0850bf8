"""MNLI from MultiNLI.

GLUE takes MultiNLI 1.0 as it was published (section 3.3 of the paper): its train, and a dev set in two
sections, matched (the genres of train) and mismatched (other genres). Pairs on whose label the annotators
did not agree (gold label "-") are left out, 185 and 168 of 10,000 each. Test pairs are MultiNLI 0.9's,
published without labels. Order and text are those of the release.

The classes entailment, neutral and contradiction go to the task's label words in that order. Genre and the
ids of prompt and pair are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.recipes import Built, Recipe
from gluebench.data.recipes.inference import labelled_splits, pairs
from gluebench.data.recipes.reading import Reader

SPLITS = {name: f"multinli_1.0_{name}" for name in ("train", "dev_matched", "dev_mismatched")}
TESTS = {f"test_{name}": f"multinli_0.9_test_{name}_unlabeled" for name in ("matched", "mismatched")}
EXTRAS = ("genre", "promptID", "pairID")


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> Built:
    """The splits of the release, and the unlabelled test files where they are in the folder."""
    reader = Reader(corpus)
    splits, notes = labelled_splits(reader, task, SPLITS, EXTRAS)
    for split, stem in TESTS.items():
        path = reader.find(f"{stem}.jsonl", f"{stem}.txt")
        if path is None:
            notes.append(f"{split}: no {stem}.jsonl nor .txt in the folder; left out")
        else:
            splits[split], _ = pairs(reader, task, path, EXTRAS, labelled=False)
    return reader.built(splits, options, notes)


RECIPE = Recipe(
    name="mnli",
    corpus=(
        "MultiNLI 1.0 (https://cims.nyu.edu/~sbowman/multinli/): multinli_1.0_train, "
        "multinli_1.0_dev_matched and multinli_1.0_dev_mismatched, each .jsonl or .txt; and for test, "
        "if wanted, multinli_0.9_test_matched_unlabeled and multinli_0.9_test_mismatched_unlabeled, "
        "each .jsonl or .txt."
    ),
    build=build,
)
