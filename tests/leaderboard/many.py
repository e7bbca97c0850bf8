"""Made-up systems of the sample benchmark, good and bad ones, as many as a test asks for."""

from __future__ import annotations

import csv
import io
import random
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

Answers = Mapping[str, list[tuple[str, str]]]
"""For each file of predictions, the id and the label of each row."""
NUMBERS = "STS-B.tsv"
"""The file whose labels are numbers from 0 to 5."""


def labels_of(gold: Path) -> Answers:
    """The labels of a gold folder, without the files that describe its rows."""
    answers = {}
    for file in sorted(gold.glob("*.tsv")):
        if "." not in file.stem:
            rows = list(csv.DictReader(io.StringIO(file.read_text()), delimiter="\t", quoting=csv.QUOTE_NONE))
            answers[file.name] = [(row["index"], row["label"]) for row in rows]
    return answers


def made_up_zips(gold: Path, number: int, seed: int = 11) -> Iterator[bytes]:
    """Yield zips of predictions that know a random share of the answers of each task."""
    draw, answers = random.Random(seed), labels_of(gold)
    words = {name: sorted({label for _, label in rows}) for name, rows in answers.items()}
    for _ in range(number):
        quality = draw.betavariate(4, 3)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, rows in answers.items():
                known = min(0.98, max(0.02, quality + draw.gauss(0, 0.08)))
                lines = [f"{at}\t{_guess(draw, name, label, known, words[name])}\n" for at, label in rows]
                archive.writestr(name, "index\tprediction\n" + "".join(lines))
        yield packed.getvalue()


def _guess(draw: random.Random, name: str, label: str, known: float, words: list[str]) -> str:
    if name == NUMBERS:
        return f"{min(5.0, max(0.0, float(label) * known + draw.uniform(0, 5) * (1 - known))):.3f}"
    return label if draw.random() < known else draw.choice(words)
