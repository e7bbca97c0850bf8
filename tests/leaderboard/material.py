"""What the tests of the leaderboard submit, and the labels it is graded with."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

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
    folder.mkdir(exist_ok=True)
    for name, values in GOLD.items():
        (folder / f"{name}.tsv").write_text(tsv(values, "label"))
    tags = "0\tLogic\tNegation\n1\tLogic\tNegation\n2\tLogic\tConjunction\n3\tLogic\tNegation\n"
    (folder / "DX.phenomena.tsv").write_text(f"index\tcoarse\tfine\n{tags}")
    return folder
