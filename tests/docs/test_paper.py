"""The figures of docs/reference/paper.md, counted again from the released files and the printed tables."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from gluebench.cli import main

ROOT = Path(__file__).resolve().parents[2]
REAL = ROOT.parent / "shared/real/glue"
PAGE = (ROOT / "docs/reference/paper.md").read_text("utf-8")


def released(task: str, split: str) -> list[dict[str, str]]:
    path = REAL / task / f"{split}.tsv"
    if not path.is_file():
        pytest.skip(f"needs the released {task}, which is not in shared/real")
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def share(rows: list[dict[str, str]], column: str, label: str) -> str:
    return f"{sum(row[column] == label for row in rows) / len(rows):.1%}".replace("%", " %")


def test_the_balance_of_mrpc() -> None:
    for split in ("train", "dev"):
        rows = released("MRPC", split)
        column = next(name for name in rows[0] if name.lstrip("\ufeff") in ("Quality", "label"))
        assert f"{share(rows, column, '1')} of {split}" in PAGE


def test_the_hypotheses_that_wnli_s_dev_shares_with_train() -> None:
    train = {row["sentence2"]: row["label"] for row in released("WNLI", "train")}
    shared = [row for row in released("WNLI", "dev") if row["sentence2"] in train]
    others = [row for row in shared if train[row["sentence2"]] != row["label"]]
    said = re.search(r"\| (\d+) do, each with the other label", PAGE)
    assert said
    assert len(shared) == len(others) == int(said[1])


def test_sizes_that_differ_from_table_1() -> None:
    assert f"STS-B has {len(released('STS-B', 'train')):,} training examples" in PAGE
    assert f"WNLI has {len(released('WNLI', 'train')):,} training examples" in PAGE


def test_every_figure_of_table_7(tmp_path: Path) -> None:
    if not (REAL / "AX").is_dir():
        pytest.skip("needs the released AX, which is not in shared/real")
    for command in (
        ["data", "get", "glue", "--from", str(REAL), "--to", str(tmp_path), "--task", "AX"],
        ["data", "stats", "glue", "--task", "AX", "--data", str(tmp_path)],
    ):
        result = CliRunner().invoke(main, command, catch_exceptions=False)
    assert "Every figure is the one printed." in result.output


def test_the_claims_that_do_not_hold() -> None:
    result = CliRunner().invoke(main, ["reproduce", "findings", "--csv"], catch_exceptions=False)
    rows = list(csv.DictReader(result.output.splitlines()))
    meant = [row for row in rows if row["table"] != "table6"]
    verdicts = Counter(row["verdict"] for row in meant)
    assert verdicts["does not hold"] == 3
    assert verdicts["cannot be told"] == 1
    assert len(meant) == int(re.search(r"Of (\d+) claims", PAGE)[1])  # type: ignore[index]
    assert "65.6 against 64.6" in result.output
    assert "61.9 against 67.1" in re.sub(r"\s+", " ", result.output)
