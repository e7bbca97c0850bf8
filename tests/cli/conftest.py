"""A benchmark small enough to check by hand, its gold, and submissions to it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from local_server import LocalServer, serving
from mine import Mine

from gluebench.cli import main

MANIFEST = """
[benchmark]
name = "tiny"
title = "Tiny"
description = "three tasks for the tests"

[tasks.Pairs]
title = "Pairs of a sentence"
summary = "paraphrase"
section = "Pairs & more_of_them"
domain = "misc."
columns = ["sentence1", "sentence2"]
metrics = [{name = "accuracy", title = "acc."}, {name = "f1", title = "F1", positive = "1"}]
[tasks.Pairs.labels]
"0" = "no"
"1" = "yes"
[tasks.Pairs.splits]
train = {file = "train.tsv", size = 100}
test = {file = "test.tsv", size = 20}
dev = {file = "dev.tsv", size = 8}
[tasks.Pairs.source]
corpus = "none"
license = "Apache-2.0"
citation = "none"

[tasks.Likeness]
title = "Likeness"
summary = "similarity"
section = "Pairs & more_of_them"
domain = "misc."
columns = ["sentence1", "sentence2"]
score_range = [0.0, 5.0]
metrics = [{name = "pearson", title = "Pearson"}, {name = "spearman", title = "Spearman"}]
[tasks.Likeness.splits]
test = {file = "test.tsv", size = 12}
[tasks.Likeness.source]
corpus = "none"
license = "Apache-2.0"
citation = "none"

[tasks.Probe]
title = "Probe"
summary = "NLI"
section = "Diagnostic"
domain = "misc."
columns = ["premise", "hypothesis"]
scored = false
predict_with = "Pairs"
metadata = ["direction"]
metrics = [{name = "r_k", title = "R2"}]
[tasks.Probe.labels]
"0" = "no"
"1" = "yes"
[tasks.Probe.splits]
test = {file = "test.tsv", size = 12}
[tasks.Probe.source]
corpus = "none"
license = "Apache-2.0"
citation = "none"
[tasks.Probe.phenomena."Logic"]
"Negation" = []
"Double Negation" = []
"""
GOLD = {
    "Pairs": "11110000111100001111",
    "Likeness": [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 0, 1],
    "Probe": "110011001100",
}
RIGHT = GOLD
WORSE = {
    "Pairs": "10000000111100001000",
    "Likeness": [5, 1, 0, 2, 1, 3, 5, 4, 1, 5, 0, 2],
    "Probe": "100011001000",
}


def table(values, header: str) -> str:
    return f"index\t{header}\n" + "".join(f"{index}\t{value}\n" for index, value in enumerate(values))


def write_folder(folder: Path, columns, header: str) -> Path:
    folder.mkdir()
    for name, values in columns.items():
        (folder / f"{name}.tsv").write_text(table(values, header))
    return folder


class World:
    """Paths of a manifest, a gold folder and two submissions, and a way to run the command on them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.manifest = root / "tiny.toml"
        self.manifest.write_text(MANIFEST)
        self.gold = write_folder(root / "gold", GOLD, "label")
        tags = [f"{index}\tLogic\t{'Negation' if index % 2 else 'Double Negation'}\n" for index in range(12)]
        (self.gold / "Probe.phenomena.tsv").write_text("index\tcoarse\tfine\n" + "".join(tags))
        groups = [f"{index}\t{index // 2}\t{'forward' if index % 2 else 'backward'}\n" for index in range(12)]
        (self.gold / "Probe.metadata.tsv").write_text("index\tgroup\tdirection\n" + "".join(groups))
        self.right = write_folder(root / "right", RIGHT, "prediction")
        self.worse = write_folder(root / "worse", WORSE, "prediction")

    def submission(self, name: str, columns) -> Path:
        return write_folder(self.root / name, columns, "prediction")

    def run(self, command: str, *arguments: object, env=None) -> Result:
        """The command with this world's manifest, its output and error apart."""
        words = [command, *map(str, arguments), "--benchmark", str(self.manifest)]
        return CliRunner(env=env).invoke(main, words, prog_name="gluebench")


@pytest.fixture
def world(tmp_path) -> World:
    return World(tmp_path)


@pytest.fixture
def server() -> Iterator[LocalServer]:
    """A file server on this machine, whose faults a test chooses."""
    with serving() as running:
        yield running


@pytest.fixture
def mine(tmp_path: Path, server: LocalServer) -> Mine:
    """A small benchmark whose files are on the server."""
    return Mine(tmp_path, server)
