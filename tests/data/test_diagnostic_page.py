"""The manual's page on diagnostic sets: its figures, examples and lint output are true."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner

from gluebench.benchmark import load_benchmark
from gluebench.cli import main
from gluebench.data.sample import Pair, pairs
from sample.archive import judgments

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "diagnostic.md").read_text("utf-8")
PHENOMENA = load_benchmark("sample").task("AX").phenomena
LABELS = ("entailment", "neutral", "contradiction")


def figures(name: str, members: Iterable[Pair]) -> str:
    found = list(members)
    labels = Counter(label for pair in found for label in (pair.forward, pair.backward))
    cells = [name, str(len(found)), *(str(labels[label]) for label in LABELS)]
    return f"| {' | '.join(cells)} |"


def test_the_table_counts_pairs_and_labels_rightly() -> None:
    rows = [figures(each.name, (p for p in pairs() if each.name in p.phenomena)) for each in PHENOMENA]
    table = "\n".join(["|---|---|---|---|---|", *rows, figures("all", pairs())])
    assert table + "\n\n" in PAGE


def test_the_text_gives_the_sets_own_figures() -> None:
    labels = Counter(each.label for each in judgments())
    text = " ".join(PAGE.split())
    assert f"It has {len(pairs())} pairs in {len({pair.set for pair in pairs()})} minimal sets" in text
    shares = [f"{100 * labels[label] / labels.total():.0f} % {label}" for label in LABELS]
    assert f"{shares[0]}, {shares[1]} and {shares[2]}" in text


def test_every_phenomenon_is_explained_with_a_pair_of_its_own() -> None:
    sections = re.findall(
        r"^#### (.+)\n\n([^>]+)\n\n> (.+)  \n> (.+)  \n"
        r"> \*(\w+)\*(?: both ways| forward, \*(\w+)\* backward)$",
        PAGE,
        re.MULTILINE,
    )
    assert [section[0] for section in sections] == [each.name for each in PHENOMENA]
    shown = {(pair.first, pair.second): pair for pair in pairs()}
    for name, text, first, second, forward, backward in sections:
        pair = shown[first, second]
        assert name in pair.phenomena
        assert (pair.forward, pair.backward) == (forward, backward or forward)
        assert len(text.split()) >= 8


def test_the_linter_says_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shown = re.search(r"```tsv\n(.*?)```", PAGE, re.DOTALL)
    said = re.search(r"```text\n(.*?)\n…\n(.*?)\n```", PAGE, re.DOTALL)
    assert shown
    assert said
    Path("first-try.tsv").write_text(shown[1], "utf-8")
    result = CliRunner().invoke(main, ["data", "lint-diagnostic", "first-try.tsv"])
    assert result.exit_code == 1
    assert [line for line in result.output.splitlines() if re.match(r"\w+: first-try.tsv:\d", line)] == said[
        1
    ].splitlines()
    assert result.output.splitlines()[-1] == said[2]


def test_every_code_of_the_linter_is_explained() -> None:
    text = (ROOT / "src/gluebench/data/lint_diagnostic.py").read_text("utf-8")
    table = (ROOT / "src/gluebench/data/lint_diagnostic.tsv").read_text("utf-8")
    codes = set(re.findall(r"^([a-z][a-z-]+)(?:\t|,)", table, re.MULTILINE)) - {"code"}
    assert codes == set(re.findall(r'_finding\(\s*"([a-z][a-z-]+)', text)) | {"conflict"}
    assert len(codes) >= 18
    assert {code for code in codes if f"`{code}`" not in PAGE} == set()
