"""What the tests of the leaderboard submit, and the labels it is graded with."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from gluebench.scoring.gold import KEY_BYTES, KEY_FILE

MANIFEST = Path(__file__).parents[1] / "tiny.toml"

GOLD: dict[str, Sequence[str]] = {
    "Para": "101100",
    "Sim": ["1.48151623", "2.34201815", "0.31415926", "4.27182818", "3.16227766"],
    "Infer-m": ["entailment", "neutral", "contradiction", "neutral", "neutral", "entailment"],
    "Infer-mm": ["contradiction", "neutral", "entailment"],
    "Refer": "0100",
    "DX": ["entailment", "neutral", "neutral", "contradiction"],
}
"""Labels of tests/tiny.toml. The similarities are unmistakable: where one shows, a label leaked."""

CANARIES = tuple(GOLD["Sim"])

PREDICTIONS: dict[str, Sequence[str]] = {**GOLD, "Sim": ["1.5", "2.5", "0.5", "4", "3.5"], "Para": "101101"}


def write_copy(path: Path) -> Path:
    """A manifest with all tasks of tests/tiny.toml, for another benchmark of the name of the file."""
    path.write_text(
        f'[benchmark]\nname = "{path.stem}"\nextends = "{MANIFEST}"\n'
        'tasks = ["Para", "Sim", "Infer", "Refer", "DX"]\n'
    )
    return path


def tsv(values: Sequence[str], heading: str) -> str:
    return f"index\t{heading}\n" + "".join(f"{at}\t{value}\n" for at, value in enumerate(values))


def zip_bytes(predictions: Mapping[str, Sequence[str]]) -> bytes:
    with tempfile.TemporaryFile() as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, values in predictions.items():
                archive.writestr(f"{name}.tsv", tsv(values, "prediction"))
        file.seek(0)
        return file.read()


def write_gold(folder: Path) -> Path:
    """Labels with a key that is always the same: it selects the rows of each part, and so their scores."""
    folder.mkdir(exist_ok=True)
    (folder / KEY_FILE).write_bytes(bytes(KEY_BYTES))
    for name, values in GOLD.items():
        (folder / f"{name}.tsv").write_text(tsv(values, "label"))
    tags = "0\tLogic\tNegation\n1\tLogic\tNegation\n2\tLogic\tConjunction\n3\tLogic\tNegation\n"
    (folder / "DX.phenomena.tsv").write_text(f"index\tcoarse\tfine\n{tags}")
    return folder


def write_data(folder: Path) -> Path:
    """Examples of tests/tiny.toml as an organizer has them: test files without labels."""
    texts = {task: [f"{task} text {at} {end}" for at in range(6) for end in ("one", "two")] for task in TASKS}
    for task, splits in TASKS.items():
        columns = ("premise", "hypothesis") if task in ("Infer", "DX") else ("sentence1", "sentence2")
        (folder / task).mkdir(parents=True, exist_ok=True)
        for split, labels in splits.items():
            labeled = not isinstance(labels, int)
            rows = [("index", *columns, *["label"] * labeled)]
            for at in range(len(labels) if labeled else labels):
                pair = (f"{split} {text}" for text in texts[task][2 * at : 2 * at + 2])
                rows.append((str(at), *pair, *([labels[at]] if labeled else [])))
            text = "".join("\t".join(row) + "\n" for row in rows)
            (folder / task / f"{split}.tsv").write_text(text)
    return folder


TASKS: dict[str, dict[str, Sequence[str] | int]] = {
    "Para": {"test": 6, "dev": "0110"},
    "Sim": {"test": 5, "dev": ["1.0", "2.5", "0.0", "5.0"]},
    "Infer": {
        "test_matched": 6,
        "test_mismatched": 3,
        "dev_matched": ["entailment", "neutral"],
        "dev_mismatched": ["neutral", "contradiction"],
    },
    "DX": {"test": 4},
}
"""Splits of tests/tiny.toml to their labels; to the number of examples where labels are hidden."""
