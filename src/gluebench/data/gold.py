"""Gold labels from prepared data, for grading dev predictions without a gold folder."""

import os
from array import array
from collections.abc import Mapping, Sequence

from gluebench.benchmark import Benchmark, Phenomenon, Role, load_benchmark
from gluebench.data.dataset import FILE, GROUP, TAGS, read_dataset
from gluebench.data.errors import DataError
from gluebench.data.home import data_folder, task_folder
from gluebench.data.table import Table, load
from gluebench.scoring import Gold
from gluebench.scoring.tags import Metadata, group_numbers
from gluebench.submission import Column
from gluebench.submission.forms import cell_form


def gold_from_data(
    data: str | os.PathLike[str] | None,
    benchmark: Benchmark | str | os.PathLike[str],
    *,
    role: Role = "dev",
    partial: bool = False,
) -> Gold:
    """The labels of the prepared splits of a role, as `read_gold` would give them.

    A task whose data are absent or have no labels cannot be graded; with `partial`, it is skipped.
    Raises DataError if no task has labels, or a file is wrong.
    """
    suite = load_benchmark(benchmark)
    home = data_folder(data)
    columns: dict[str, Column] = {}
    phenomena: dict[str, Mapping[Phenomenon, tuple[int, ...]]] = {}
    metadata: dict[str, Metadata] = {}
    fingerprints: dict[str, str] = {}
    absent: list[str] = []
    for file in suite.files(role):
        try:
            folder = task_folder(home, suite, suite.task(file.task))
        except DataError as error:
            absent += error.problems
            continue
        split = file.splits[role].name
        table = load(file.task, split, home, benchmark=suite)
        if not table.labeled:
            continue
        order = sorted(range(len(table)), key=table.column("index").__getitem__)
        columns[file.name] = _column(table, order)
        if table.task.phenomena and TAGS in table.columns:
            phenomena[file.name] = _phenomena(table, order)
        if table.task.metadata or GROUP in table.columns:
            metadata[file.name] = _metadata(table, order)
        if (folder / FILE).is_file():
            fingerprints[file.name] = read_dataset(folder).splits[split].fingerprint
    if not columns:
        raise DataError(absent or [f"{home}: no {role} split of {suite.name} has labels; they are hidden"])
    return Gold(suite, role, str(home), columns, phenomena, metadata, partial=partial, datasets=fingerprints)


def _phenomena(table: Table, order: Sequence[int]) -> dict[Phenomenon, tuple[int, ...]]:
    """Phenomenon to the positions of its rows, in index order."""
    tags = table.column(TAGS)
    ordered = [tags[position] for position in order]
    rows = {}
    for phenomenon in table.task.phenomena:
        rows[phenomenon] = tuple(at for at, names in enumerate(ordered) if phenomenon.name in names)
    return rows


def _column(table: Table, order: Sequence[int]) -> Column:
    """The labels in index order."""
    indices = table.column("index")
    labels = table.column("label")
    numbers = array("q", (indices[position] for position in order))
    stored = None if list(numbers) == list(range(len(numbers))) else numbers
    form = cell_form(table.task, gold=True)
    if form is not None:
        return Column((), tuple(form.read(labels[position]) for position in order), stored)
    words = table.task.words or table.task.vocabulary  # of labels, or of the gold of probabilities
    if not words:
        return Column((), array("d", (labels[position] for position in order)), stored)
    codes = {word: code for code, word in enumerate(words)}
    return Column(words, bytes(codes[labels[position]] for position in order), stored)


def _metadata(table: Table, order: Sequence[int]) -> Metadata:
    """Groups and categories of a set, from the columns of the file; groups are in `group`."""
    columns = {}
    for name in table.task.metadata:
        if name in table.columns:
            values = table.column(name)
            columns[name] = tuple(str(values[position]) for position in order)
    groups: tuple[int, ...] | None = None
    if GROUP in table.columns:
        names = table.column(GROUP)
        groups = group_numbers([names[position] for position in order])
    return Metadata(groups, columns)
