"""The sample benchmark as one file: tables of examples without test labels, and the gold that holds them."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.data.sample import GOLD, MARK, pairs
from sample.frame import Row, Splits
from sample.tasks import generate

Files = dict[str, str]
"""Path in the folder to text."""


def tables(seed: int) -> Files:
    """Every file of the sample benchmark."""
    benchmark = load_benchmark("sample")
    files: Files = {}
    for task in benchmark.scored:
        files |= task_files(task, generate(task, seed))
    for task in benchmark.diagnostics:
        files |= _diagnostic_files(task)
    files[MARK] = _mark(benchmark, seed)
    return files


def _mark(benchmark: Benchmark, seed: int) -> str:
    mark = {"benchmark": benchmark.name, "seed": seed, "text": "written for gluebench", "license": "CC0-1.0"}
    return json.dumps(mark, indent=2) + "\n"


def pack(files: Mapping[str, str]) -> bytes:
    """The files as a compressed archive whose bytes depend on nothing but the files."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            content = files[name].encode()
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return lzma.compress(stream.getvalue(), preset=9 | lzma.PRESET_EXTREME)


def task_files(task: Task, splits: Splits) -> Files:
    """The splits of a task, and the gold of those that are graded."""
    graded = {file.splits[role].name: (role, file.name) for file in task.files for role in file.splits}
    files: Files = {}
    for split, rows in splits.items():
        role, name = graded.get(split, (None, ""))
        files[f"{task.name}/{task.splits[split].file}"] = _examples(task, rows, labeled=role != "test")
        if role is not None:
            gold = GOLD[role]
            files[f"{gold}/{name}.tsv"] = _table(("index", "label"), [(row.label,) for row in rows])
            if any(row.group for row in rows):
                files[f"{gold}/{name}.metadata.tsv"] = _table(("index", "group"), _groups(rows))
    return files


def _examples(task: Task, rows: Sequence[Row], *, labeled: bool) -> str:
    header = ("index", *task.columns, *(("label",) if labeled else ()))
    return _table(header, [(*row.inputs, *((row.label,) if labeled else ())) for row in rows])


class Judgment(NamedTuple):
    """One example: a pair read in one direction."""

    pair: int
    direction: str
    domain: str
    phenomena: tuple[str, ...]
    premise: str
    hypothesis: str
    label: str


def judgments() -> list[Judgment]:
    """Every pair forward, then backward: two examples with neighboring indices."""
    examples = []
    for number, pair in enumerate(pairs()):
        shared = (pair.domain, pair.phenomena)
        examples.append(Judgment(number, "forward", *shared, pair.first, pair.second, pair.forward))
        examples.append(Judgment(number, "backward", *shared, pair.second, pair.first, pair.backward))
    return examples


def _diagnostic_files(task: Task) -> Files:
    """A diagnostic set's examples, its gold labels, tags and metadata."""
    examples = judgments()
    rows = [Row((each.premise, each.hypothesis), each.label) for each in examples]
    coarse = {phenomenon.name: phenomenon.coarse for phenomenon in task.phenomena}
    tags = [
        (str(index), coarse[fine], fine) for index, each in enumerate(examples) for fine in each.phenomena
    ]
    metadata = [(str(each.pair), each.direction, each.domain) for each in examples]
    gold = GOLD["test"]
    return {
        f"{task.name}/{task.splits['test'].file}": _examples(task, rows, labeled=False),
        f"{gold}/{task.name}.tsv": _table(("index", "label"), [(row.label,) for row in rows]),
        f"{gold}/{task.name}.phenomena.tsv": _text(("index", "coarse", "fine"), tags),
        f"{gold}/{task.name}.metadata.tsv": _table(("index", "group", "direction", "domain"), metadata),
    }


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows in order, each under its number."""
    return _text(header, [(str(index), *row) for index, row in enumerate(rows)])


def _text(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in [header, *rows])


def _groups(rows: Sequence[Row]) -> list[tuple[str]]:
    """Number of each row's group, counted from 0 in the order in which groups appear."""
    numbers: dict[str, int] = {}
    return [(str(numbers.setdefault(row.group, len(numbers))),) for row in rows]
