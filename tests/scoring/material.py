"""A benchmark of every kind of task, small enough to check by hand, and its gold as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

MANIFEST = """
[benchmark]
name = "small"
title = "Small"
description = "a task of every kind"
"""
TASK = """
[tasks.{name}]
title = "{name}"
summary = "none"
section = "Tasks"
domain = "misc."
columns = ["sentence"]
{more}
[tasks.{name}.source]
corpus = "none"
license = "Apache-2.0"
citation = "none"
"""
TASKS = {
    "Accept": """labels = { 0 = "no", 1 = "yes" }
metrics = [{ name = "matthews_correlation", title = "MCC" }]
splits.train = { file = "t.tsv", size = 9 }
splits.test = { file = "test.tsv", size = 40 }
splits.dev = { file = "dev.tsv", size = 12 }""",
    "Pairs": """labels = { 0 = "no", 1 = "yes" }
metrics = [{ name = "accuracy", title = "acc." }, { name = "f1", title = "F1", positive = "1" }]
splits = { test = { file = "test.tsv", size = 40 }, dev = { file = "dev.tsv", size = 12 } }""",
    "Like": """score_range = [0.0, 5.0]
metrics = [{ name = "pearson", title = "r" }, { name = "spearman", title = "rho" }]
splits = { test = { file = "test.tsv", size = 40 }, dev = { file = "dev.tsv", size = 12 } }""",
    "Halves": """labels = { entailment = "e", neutral = "n", contradiction = "c" }
metrics = [
  { name = "matched_accuracy", function = "accuracy", file = "Halves-m", title = "m" },
  { name = "mismatched_accuracy", function = "accuracy", file = "Halves-mm", title = "mm" },
]
files = [
  { name = "Halves-m", test = "test_m", dev = "dev_m" },
  { name = "Halves-mm", test = "test_mm", dev = "dev_mm" },
]
splits.test_m = { file = "m.tsv", size = 30 }
splits.dev_m = { file = "dm.tsv", size = 10 }
splits.test_mm = { file = "mm.tsv", size = 20 }
splits.dev_mm = { file = "dmm.tsv", size = 10 }""",
    "Probe": """labels = { entailment = "e", neutral = "n", contradiction = "c" }
scored = false
predict_with = "Halves"
metadata = ["direction"]
metrics = [{ name = "r_k", title = "R3" }]
splits = { test = { file = "test.tsv", size = 60 } }
phenomena.Logic = { Negation = ["Neg"], "Double Negation" = [] }
phenomena.Knowledge = { "World Knowledge" = [] }""",
}
NLI = ("entailment", "neutral", "contradiction")
Values = Sequence[object]


def manifest_text(tasks: Mapping[str, str]) -> str:
    return MANIFEST + "".join(TASK.format(name=name, more=more) for name, more in tasks.items())


def table(values: Values, header: str = "label") -> str:
    return f"index\t{header}\n" + "".join(f"{index}\t{value}\n" for index, value in enumerate(values))


def gold_values() -> dict[str, list[object]]:
    """Labels by test file, in patterns that are easy to check."""
    return {
        "Accept": [index % 2 for index in range(40)],
        "Pairs": [int(index < 10) for index in range(40)],
        "Like": [index % 11 / 2 for index in range(40)],
        "Halves-m": [NLI[index % 3] for index in range(30)],
        "Halves-mm": [NLI[index % 3] for index in range(20)],
        "Probe": [NLI[index // 2 % 3] for index in range(60)],
    }


def predicted_values() -> dict[str, list[object]]:
    """Answers to `gold_values`: right are 30 of Accept, 36 of Pairs, 20 of Halves-m, all of Halves-mm."""
    gold = gold_values()
    return {
        "Accept": [1 - value if index < 10 else value for index, value in enumerate(gold["Accept"])],
        "Pairs": [
            1 - value if index in (0, 1, 20, 30) else value for index, value in enumerate(gold["Pairs"])
        ],
        "Like": [value + index % 3 - 1 for index, value in enumerate(gold["Like"])],
        "Halves-m": ["neutral" if index >= 15 else value for index, value in enumerate(gold["Halves-m"])],
        "Halves-mm": list(gold["Halves-mm"]),
        "Probe": ["contradiction" if index % 5 == 0 else value for index, value in enumerate(gold["Probe"])],
    }


def write_gold(folder: Path, values: Mapping[str, Values] | None = None) -> Path:
    """A gold folder, tags and metadata beside the diagnostic set."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, column in (values or gold_values()).items():
        (folder / f"{name}.tsv").write_text(table(column))
    tags = [("Logic", "Negation"), ("Logic", "Double Negation"), ("Knowledge", "World Knowledge")]
    rows = [f"{index}\t{coarse}\t{fine}\n" for index in range(60) for coarse, fine in [tags[index // 2 % 3]]]
    rows += [f"{index}\tLogic\tNeg\n" for index in range(2, 60, 6)]  # some have a second tag, by an alias
    (folder / "Probe.phenomena.tsv").write_text("index\tcoarse\tfine\n" + "".join(rows))
    about = [f"{index}\t{index // 2}\t{('forward', 'backward')[index % 2]}\n" for index in range(60)]
    (folder / "Probe.metadata.tsv").write_text("index\tgroup\tdirection\n" + "".join(about))
    return folder
