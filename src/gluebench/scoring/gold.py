"""The only reader of gold files: a folder with one `<test file>.tsv` each, tags and metadata beside them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from gluebench.benchmark import Benchmark, Phenomenon, Role, Task, TestFile, load_benchmark
from gluebench.scoring.label_version import label_version
from gluebench.scoring.tags import Category, Metadata, categories, read_metadata, read_phenomena
from gluebench.submission.check import other_sizes
from gluebench.submission.column import Column
from gluebench.submission.problems import Problem, listed
from gluebench.submission.tables import Layout, read_table

SUFFIX = ".tsv"
PHENOMENA_SUFFIX = ".phenomena.tsv"
METADATA_SUFFIX = ".metadata.tsv"


PARTIAL = "Add the labels, or say that partial gold is allowed (--allow-partial-gold, or partial=True)."


class GoldError(ValueError):
    """Gold that cannot be scored against: for the organiser to mend, whoever submitted did nothing wrong."""

    def __init__(self, problems: Sequence[Problem], *, folder: str) -> None:
        lines = [f"the gold labels in {folder} are at fault, not the submission:", *listed(problems)]
        super().__init__("\n".join(lines))
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class Gold:
    """The labels of a split, as an organiser keeps them; never to be printed, logged or sent."""

    benchmark: Benchmark = field(repr=False)
    role: Role
    folder: str
    columns: Mapping[str, Column] = field(repr=False)
    """Test-file name to its labels, for the files that have them."""
    phenomena: Mapping[str, Mapping[Phenomenon, tuple[int, ...]]] = field(repr=False)
    """Test-file name to the positions in its column that each phenomenon is tagged at, ascending."""
    metadata: Mapping[str, Metadata] = field(repr=False)
    """Test-file name to the groups and divisions of its examples."""
    categories: Mapping[str, tuple[Category, ...]] = field(repr=False)
    """Test-file name of a diagnostic set to the parts of it that are reported."""
    partial: bool
    """Whether gold that lacks examples or files is scored as far as it goes."""
    version: str | None
    """Keyed hash of all of the above; None where no key could be kept, or the labels are public."""
    warnings: tuple[str, ...] = ()
    datasets: Mapping[str, str] = field(default_factory=dict)
    """Test-file name to the content fingerprint of the examples, where the labels were read with them."""
    rows: str = ""
    """Which rows of the files these are, where a split has held some back: "public" or "held back"."""


def read_gold(
    folder: str | os.PathLike[str],
    benchmark: Benchmark | str | os.PathLike[str],
    *,
    role: Role = "test",
    partial: bool = False,
) -> Gold:
    """Read a gold folder. A file may be absent, and then that task cannot be graded.

    Raises GoldError with all that is wrong; with `partial`, a file that lacks examples is not.
    """
    home = os.fspath(folder)
    benchmark = load_benchmark(benchmark)
    problems: list[Problem] = []
    columns: dict[str, Column] = {}
    phenomena: dict[str, Mapping[Phenomenon, tuple[int, ...]]] = {}
    metadata: dict[str, Metadata] = {}
    for file in benchmark.files(role):
        task = benchmark.task(file.task)
        table = _read_labels(home, file, task, role=role, partial=partial)
        problems += table.problems
        if table.column is not None:
            columns[file.name] = table.column
            divisions = _read_divisions(home, file, task, size=file.size(role), column=table.column)
            phenomena |= divisions.phenomena
            metadata |= divisions.metadata
            problems += divisions.problems
    if not columns and not problems:
        problems.append(_nothing_there(home, benchmark, role))
    if problems:
        raise GoldError(problems, folder=home)
    version = label_version(home, columns, phenomena, metadata=metadata)
    gold = gold_of(benchmark, role, home, columns, phenomena, metadata, partial=partial)
    return replace(gold, version=version.name, warnings=version.warnings)


def gold_of(
    benchmark: Benchmark,
    role: Role,
    folder: str,
    columns: Mapping[str, Column],
    phenomena: Mapping[str, Mapping[Phenomenon, tuple[int, ...]]],
    metadata: Mapping[str, Metadata],
    *,
    partial: bool,
    datasets: Mapping[str, str] | None = None,
) -> Gold:
    """Gold of labels that were read elsewhere; all of them by test-file name, in index order."""
    parts = _categories(benchmark, columns, phenomena, metadata=metadata)
    known = datasets or {}
    return Gold(benchmark, role, folder, columns, phenomena, metadata, parts, partial, None, datasets=known)


def _categories(
    benchmark: Benchmark,
    columns: Mapping[str, Column],
    phenomena: Mapping[str, Mapping[Phenomenon, tuple[int, ...]]],
    *,
    metadata: Mapping[str, Metadata],
) -> dict[str, tuple[Category, ...]]:
    names = {file.name: task for task in benchmark.diagnostics for file in task.files}
    return {
        name: categories(task, phenomena.get(name, {}), metadata.get(name), size=len(columns[name]))
        for name, task in names.items()
        if name in columns
    }


class _Labels(NamedTuple):
    column: Column | None
    problems: list[Problem]


def _read_labels(home: str, file: TestFile, task: Task, *, role: Role, partial: bool) -> _Labels:
    name = f"{file.name}{SUFFIX}"
    data = _content(home, name)
    if data is None:
        return _Labels(None, [])
    others = other_sizes(file, role)
    layout = Layout(task.words, file.size(role), value="label", complete=not partial, others=others)
    table = read_table(name, data, layout)
    problems = [
        replace(problem, fix=PARTIAL) if problem.code == "missing-index" else problem
        for problem in table.problems
        if problem.severity == "error"
    ]
    problems += [
        Problem("more", "error", name, f"{count:,} more of {code}", "Mend those above first.")
        for code, count in table.unshown.items()
    ]
    return _Labels(table.column, problems)


class _Divisions(NamedTuple):
    phenomena: dict[str, Mapping[Phenomenon, tuple[int, ...]]]
    metadata: dict[str, Metadata]
    problems: list[Problem]


def _read_divisions(home: str, file: TestFile, task: Task, *, size: int, column: Column) -> _Divisions:
    result = _Divisions({}, {}, [])
    tag_name, about_name = f"{file.name}{PHENOMENA_SUFFIX}", f"{file.name}{METADATA_SUFFIX}"
    tags, about = _content(home, tag_name), _content(home, about_name)
    if tags is None and about is None:
        return result
    indices = range(len(column)) if column.indices is None else column.indices
    positions = {index: position for position, index in enumerate(indices)}
    if tags is not None:
        tagged = read_phenomena(tag_name, tags, task, size=size, positions=positions)
        result.phenomena[file.name] = tagged.positions
        result.problems.extend(tagged.problems)
    if about is not None:
        divided = read_metadata(about_name, about, task, size=size, positions=positions)
        result.metadata[file.name] = divided.metadata
        result.problems.extend(divided.problems)
    return result


def _content(home: str, name: str) -> bytes | None:
    try:
        with open(os.path.join(home, name), "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _nothing_there(home: str, benchmark: Benchmark, role: Role) -> Problem:
    if not os.path.isdir(home):
        return Problem("no-gold", "error", home, "expected a folder of labels", "Check the path.")
    wanted = ", ".join(f"{file.name}{SUFFIX}" for file in benchmark.files(role))
    fix = "Put one file of labels there for each test file, with the header index<TAB>label."
    return Problem("no-gold", "error", "", f"expected at least one of {wanted}", fix)
