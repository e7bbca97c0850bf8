"""Writing the sample benchmark as a folder: examples without test labels, and the gold that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from gluebench.benchmark import Role, Task
from gluebench.data.sample.diagnostic import Judgement
from gluebench.data.sample.rows import Row, Splits

GOLD: Mapping[Role, str] = {"test": "gold", "dev": "gold-dev"}
"""Gold folder of each split that can be graded."""


def write_task(folder: Path, task: Task, splits: Splits) -> None:
    """Write the splits of a task, and the gold of those that are graded."""
    graded = {file.splits[role].name: (role, file.name) for file in task.files for role in file.splits}
    for split, rows in splits.items():
        role, name = graded.get(split, (None, ""))
        write_examples(folder / task.name / task.splits[split].file, task, rows, labelled=role != "test")
        if role is not None:
            gold = folder / GOLD[role]
            write_table(gold / f"{name}.tsv", ("index", "label"), [(row.label,) for row in rows])
            if any(row.group for row in rows):
                write_table(gold / f"{name}.metadata.tsv", ("index", "group"), _groups(rows))


def write_examples(path: Path, task: Task, rows: Sequence[Row], *, labelled: bool) -> None:
    """Write one split: index, input columns and, unless it is hidden, the label."""
    header = ("index", *task.columns, *(("label",) if labelled else ()))
    write_table(path, header, [(*row.inputs, *((row.label,) if labelled else ())) for row in rows])


def write_diagnostic(folder: Path, task: Task, *, examples: Sequence[Judgement]) -> None:
    """Write a diagnostic set's examples, its gold labels, tags and metadata."""
    rows = [Row((each.premise, each.hypothesis), each.label) for each in examples]
    write_examples(folder / task.name / task.splits["test"].file, task, rows, labelled=False)
    gold = folder / GOLD["test"]
    write_table(gold / f"{task.name}.tsv", ("index", "label"), [(row.label,) for row in rows])
    coarse = {phenomenon.name: phenomenon.coarse for phenomenon in task.phenomena}
    tags = [
        (str(index), coarse[fine], fine) for index, each in enumerate(examples) for fine in each.phenomena
    ]
    _write(gold / f"{task.name}.phenomena.tsv", ("index", "coarse", "fine"), tags)
    metadata = [(str(each.pair), each.direction, each.domain) for each in examples]
    write_table(gold / f"{task.name}.metadata.tsv", ("index", "group", "direction", "domain"), metadata)


def write_table(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Write rows in order, each under its number."""
    _write(path, header, [(str(index), *row) for index, row in enumerate(rows)])


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join("\t".join(row) + "\n" for row in [header, *rows])
    path.write_bytes(text.encode())


def _groups(rows: Sequence[Row]) -> list[tuple[str]]:
    """Number of each row's group, counted from 0 in the order in which groups appear."""
    numbers: dict[str, int] = {}
    return [(str(numbers.setdefault(row.group, len(numbers))),) for row in rows]
