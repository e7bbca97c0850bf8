"""docs/reference/manifest.md against the code: every key explained, every example loadable."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gluebench.benchmark import load_benchmark
from gluebench.benchmark.build import KEYS

MANUAL = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "manifest.md").read_text()
HEADINGS = {
    "benchmark": "## `[benchmark]`",
    "task": "## `[tasks.NAME]`",
    "metric": "### Metrics",
    "split": "### Splits",
    "file": "### Files",
    "version": "A release is recognized",
    "gold": "The released file of labels may have",
    "source": "### Source",
    "reference": "### References",
    "printed": "### Printed figures",
    "auxiliary": "## `[auxiliary.NAME]`",
    "card": "### Card",
    "rai": "The answers in `[benchmark.card.rai]`",
}


def rows_under(heading: str) -> set[str]:
    """The keys in the first table after a heading."""
    table = MANUAL[MANUAL.index(heading) :].partition("|---|")[2].partition("\n\n")[0]
    return set(re.findall(r"^\| `(\w+)`", table, re.MULTILINE))


def test_every_kind_of_table_has_its_chapter() -> None:
    assert HEADINGS.keys() == KEYS.keys() - {"manifest"}


@pytest.mark.parametrize("kind", HEADINGS)
def test_every_accepted_key_is_explained_and_no_other(kind: str) -> None:
    assert rows_under(HEADINGS[kind]) == set(KEYS[kind])


@pytest.mark.parametrize("name", ["mine", "glue-public"])
def test_the_whole_examples_load(tmp_path: Path, name: str) -> None:
    (example,) = re.findall(rf'```toml\n(\[benchmark\]\nname = "{name}"\n.*?)```', MANUAL, re.DOTALL)
    path = tmp_path / "example.toml"
    path.write_text(example)
    assert load_benchmark(path).name == name


def test_links_lead_to_headings() -> None:
    anchors = {
        re.sub(r"[^\w -]", "", h).strip().lower().replace(" ", "-")
        for h in re.findall(r"^#+ (.*)", MANUAL, re.M)
    }
    assert set(re.findall(r"\]\(#([\w-]+)\)", MANUAL)) <= anchors
