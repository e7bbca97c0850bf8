"""MRPC from the Microsoft Research Paraphrase Corpus.

The corpus (section 3.2 of the paper) has a train and a test file. GLUE sets 408 of the train pairs aside as
dev; which ones is known from its list of id pairs, which comes with this recipe. Order within each split is
that of the corpus. Quality 1 (equivalent) is the task's second label word, 0 its first.

GLUE's text is not Microsoft's: it ships a copy tokenised in the manner of the Moses toolkit. This recipe
makes that text from Microsoft's (`moses.py`), or keeps Microsoft's with `--tokenise no`, control characters
and all. Nothing is quoted in either.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.recipes.moses import tokenise
from gluebench.data.recipes.reading import TEST_LABELS, Reader, classes, inputs, select, switch
from gluebench.data.recipes.recipe import Built, Columns, Option, Recipe

HEADER = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
DEV_IDS = "mrpc_dev_ids.txt"
HIDDEN = "test: labels left out, as in GLUE; the original publishes them (--test-labels yes)"
DAMAGED = (
    "several rows lack columns or have too many: this looks like a copy that a spreadsheet has saved "
    "again, in which commas became tabs and quotation marks were lost; fetch Microsoft's own file"
)


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> Built:
    """Train without the dev pairs, the dev pairs, and test."""
    reader = Reader(corpus)
    shown, cut = switch(options, "test-labels"), switch(options, "tokenise")
    rows = _columns(reader, task, "msr_paraphrase_train.txt")
    test = _columns(reader, task, "msr_paraphrase_test.txt")
    wanted = _dev_ids(reader)
    reader.check()
    pairs = list(zip(rows["id1"], rows["id2"], strict=True))
    dev = [row for row, pair in enumerate(pairs) if pair in wanted]
    train = [row for row, pair in enumerate(pairs) if pair not in wanted]
    splits = {"train": select(rows, train), "dev": select(rows, dev), "test": test}
    for columns in splits.values() if cut else ():
        for name in task.columns:
            columns[name] = [tokenise(text) for text in columns[name]]
    return _built(reader, options, splits, missing=len(wanted - set(pairs)), shown=shown)


def _built(
    reader: Reader, options: Mapping[str, Any], splits: dict[str, Columns], *, missing: int, shown: bool
) -> Built:
    notes = [f"dev: {missing} of the listed pairs are not in the train file"] if missing else []
    if not shown:
        del splits["test"]["label"]
        notes.append(HIDDEN)
    return Built(splits, dict(options), tuple(reader.files), tuple(notes))


def _columns(reader: Reader, task: Task, name: str) -> Columns:
    path = reader.need(name)
    lines = reader.lines(path)
    reader.header(path, lines, HEADER)
    words = dict(zip("01", classes(task, 2), strict=True))
    columns: Columns = {name: [] for name in (*inputs(task, 2), "label", "id1", "id2")}
    before = len(reader.problems)
    for number, (quality, first, second, *texts) in reader.rows(path, lines, widths=(5,), first=2):
        if quality not in words or not (first + second).isdecimal():
            shown = f'"{quality}", "{first}", "{second}"'
            reader.reject(path, number, f"the row begins {shown}, expected 0 or 1 and two ids")
            continue
        values = (*texts, words[quality], first, second)
        for column, value in zip(columns.values(), values, strict=True):
            column.append(value)
    if len(reader.problems) - before > 2:
        reader.problems.insert(before, f"{path}: {DAMAGED}")
    return columns


def _dev_ids(reader: Reader) -> set[tuple[str, str]]:
    """GLUE's dev pairs, or those of a list in the corpus folder."""
    path = reader.find("mrpc_dev_ids.tsv", "dev_ids.tsv")
    if path is not None:
        lines, shown = reader.lines(path), str(path)
    else:
        shown = DEV_IDS
        lines = reader.split(DEV_IDS, resources.files(__package__).joinpath(DEV_IDS).read_bytes())
    found = set()
    for number, fields in enumerate(map(str.split, lines), 1):
        if len(fields) == 2 and all(field.isdecimal() for field in fields):
            found.add((fields[0], fields[1]))
        else:
            reader.reject(shown, number, f'"{" ".join(fields)}", expected two ids')
    return found


RECIPE = Recipe(
    name="mrpc",
    corpus=(
        "The Microsoft Research Paraphrase Corpus "
        "(https://www.microsoft.com/en-us/download/details.aspx?id=52398): msr_paraphrase_train.txt "
        "and msr_paraphrase_test.txt, unpacked from its installer; dev_ids.tsv, if there, takes the "
        "place of GLUE's list of dev pairs."
    ),
    build=build,
    options=(
        Option(
            "tokenise",
            str,
            "yes",
            "Whether to tokenise as GLUE's copy is (yes), or keep Microsoft's text (no).",
        ),
        TEST_LABELS,
    ),
)
