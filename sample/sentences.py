"""The page of sentences drawn at random: `python -m sample.sentences`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from random import Random

import click

from gluebench.benchmark import load_benchmark
from gluebench.data.sample import GOLD, SEED, build

_COUNT = 200
_HEAD = f"""# Sentences of the sample benchmark

{_COUNT} examples of the [sample benchmark](sample.md) with their labels, drawn at random from the dev and
test splits of its nine tasks. `python -m sample.sentences` writes this page; nothing on it was chosen by
hand.
"""


def page(seed: int = SEED) -> str:
    """The page."""
    benchmark = load_benchmark("sample")
    with tempfile.TemporaryDirectory() as scratch:
        build(Path(scratch, "sample"))
        found = {}
        for task in benchmark.scored:
            rows = []
            for role, gold in GOLD.items():
                for file in (file for file in task.files if role in file.splits):
                    texts = _rows(
                        Path(scratch, "sample", task.name, file.splits[role].file), len(task.columns)
                    )
                    labels = _rows(Path(scratch, "sample", gold, f"{file.name}.tsv"), 1)
                    rows += [(*text, *label) for text, label in zip(texts, labels, strict=True)]
            found[task.name] = rows
    rng = Random(seed)
    parts = [_HEAD]
    for place, (name, rows) in enumerate(found.items()):
        share = _COUNT // len(found) + (place < _COUNT % len(found))
        parts.append(f"## {name}\n\n" + "\n".join(_line(row) for row in rng.sample(rows, share)) + "\n")
    return "\n".join(parts)


def _rows(path: Path, columns: int) -> list[tuple[str, ...]]:
    lines = path.read_text("utf-8").splitlines()[1:]
    return [tuple(line.split("\t")[1 : 1 + columns]) for line in lines]


def _line(row: tuple[str, ...]) -> str:
    *texts, label = row
    return f"- {' → '.join(texts)} *{label}*"


if __name__ == "__main__":
    click.echo(page(), nl=False)
