"""Read gold labels: a folder with `<test file>.tsv` files, and their tags and metadata."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from gluebench.benchmark import Benchmark, Role, Task, TestFile, load_benchmark
from gluebench.benchmark.metrics import needs, scheme_problem
from gluebench.reading.text import as_utf8
from gluebench.scoring.tags import (
    GROUP,
    Category,
    Metadata,
    Sheet,
    Tagged,
    categories,
    numbered,
    problem,
    read_metadata,
    read_phenomena,
    with_pairs,
)
from gluebench.submission.file import other_sizes
from gluebench.submission.forms import cell_form
from gluebench.submission.other_benchmark import count_rows, of_other_benchmark
from gluebench.submission.problems import Problem, listed
from gluebench.submission.rows import Layout
from gluebench.submission.shapes import is_shaped, read_shaped
from gluebench.submission.submission import Column
from gluebench.submission.tables import read_table
from gluebench.submission.values import as_tsv, file_named, plain_values

SUFFIX = ".tsv"
OTHER_SUFFIXES = (".csv", ".json", ".jsonl")
"""Files of labels of tasks whose predictions are in files of these kinds too."""
PLAIN_HEADERS = (b"index\tlabel", b"id\tlabel")
"""First line of a file of labels in the simplest shape, which every task may have."""
PHENOMENA_SUFFIX = ".phenomena.tsv"
METADATA_SUFFIX = ".metadata.tsv"
GROUPS = ".groups"
"""End of the name under which groups are given from Python."""
KEY_FILE = ".label-key"
KEY_BYTES = 32
SHOWN = 16
"""Hexadecimal digits of the hash of the labels, enough to distinguish versions."""

_LACKING = re.compile(rb"^[^\t\n]*\t\r?\n", re.MULTILINE)
"""A row without a label."""
GIVEN = "the mapping given"
"""Replaces the folder if the labels come from Python."""
PARTIAL = problem("no-gold, file").fix
"""What to do about labels that are missing."""


class GoldError(ValueError):
    """Invalid gold labels, which the organizer has to fix, not the submitter."""

    def __init__(self, problems: Sequence[Problem], *, folder: str) -> None:
        named = any(problem.code == "other-benchmark" for problem in problems)
        fault = "are of another benchmark" if named else "are at fault, not the submission"
        lines = [f"the gold labels in {folder} {fault}:", *listed(problems)]
        super().__init__("\n".join(lines))
        self.problems = list(problems)
        self.folder = folder

    def __reduce__(self) -> tuple[Any, ...]:
        """So that another process may raise it."""
        return partial(GoldError, folder=self.folder), (self.problems,)


@dataclass(frozen=True)
class Gold:
    """The gold labels of a split. Never print, log or send them."""

    benchmark: Benchmark = field(repr=False)
    role: Role
    folder: str
    columns: Mapping[str, Column] = field(repr=False)
    """Test-file name to labels, for the files that have them."""
    phenomena: Mapping[str, Tagged] = field(repr=False)
    """Test-file name to phenomenon to ascending positions in the file's column."""
    metadata: Mapping[str, Metadata] = field(repr=False)
    """Test-file name to the metadata of its examples."""
    partial: bool
    """Whether gold that lacks examples or files is accepted, and the rest scored."""
    version: str | None = None
    """Keyed hash of all of the above; None if no key could be stored, or the labels are public."""
    warnings: tuple[str, ...] = ()
    datasets: Mapping[str, str] = field(default_factory=dict)
    """Test-file name to the fingerprint of its examples, if the labels were read with them."""
    rows: str = ""
    """The rows included if some rows of a split are held back: "public" or "held back"."""
    share: float | None = None
    """The public share of the rows, if some are held back."""
    scope: str = ""
    """What the uncertainty is over, in a sentence, if the labels are those of a scored table."""

    def __post_init__(self) -> None:
        """Add declared pairs. Raise GoldError if a metric lacks groups or tags in its scheme."""
        problems = []
        object.__setattr__(self, "metadata", with_pairs(self.metadata, self.benchmark, self.columns))
        for task in self.benchmark.tasks:
            for metric in task.metrics:
                column = self.columns.get(metric.file)
                if column is None:
                    continue
                about = self.metadata.get(metric.file)
                grouped = about is not None and about.groups is not None
                if needs(metric.function, "groups") and not grouped:
                    problems.append(problem("no-groups", metric.file, name=metric.file, metric=metric.name))
                # The labels of a manifest were checked there; without any, the tags are those of the file.
                if needs(metric.function, "scheme") and not task.vocabulary:
                    tags = {tag for cell in column.cells for tag in cell}
                    fault = scheme_problem(tags, metric.scheme)
                    if fault:
                        problems.append(problem("other-scheme", metric.file, metric=metric.name, fault=fault))
        if problems:
            raise GoldError(problems, folder=self.folder)

    @cached_property
    def categories(self) -> dict[str, tuple[Category, ...]]:
        """Test-file name of a diagnostic set, or of a task of a scored table, to its reported categories."""
        return {
            name: categories(task, self.phenomena.get(name, {}), self.metadata.get(name), size=len(column))
            for task in self.benchmark.tasks
            if task.metadata or not task.scored
            for name in (file.name for file in task.files)
            if (column := self.columns.get(name)) is not None
        }


def read_gold(
    folder: str | os.PathLike[str] | Mapping[str, Any],
    benchmark: Benchmark | str | os.PathLike[str],
    *,
    role: Role = "test",
    partial: bool = False,
) -> Gold:
    """Read a gold folder. A task whose file is absent cannot be graded.

    `folder` may instead be a mapping of task or test file to labels, in any form that `grade` accepts for
    predictions, with the groups of "MultiRC" under "MultiRC.groups". Raises GoldError with all problems; with
    `partial`, files may lack examples.
    """
    benchmark = load_benchmark(benchmark)
    home = GIVEN if isinstance(folder, Mapping) else os.fspath(folder)
    given = _given(folder, benchmark, role) if isinstance(folder, Mapping) else None

    def read(name: str) -> bytes | None:
        return _content(home, name) if given is None else given.get(name)

    problems: list[Problem] = []
    columns: dict[str, Column] = {}
    phenomena: dict[str, Tagged] = {}
    metadata: dict[str, Metadata] = {}
    warnings: list[str] = []
    sheets: tuple[tuple[str, Callable[[Sheet, Task], Any], dict[str, Any]], ...] = (
        (PHENOMENA_SUFFIX, read_phenomena, phenomena),
        (METADATA_SUFFIX, read_metadata, metadata),
    )
    for file in benchmark.files(role):
        task, split = benchmark.task(file.task), file.splits[role]
        name, content = _find_labels(read, file, role)
        if content is None:
            continue
        labels = file.of_labels()
        column, groups = _read_labels(name, content, labels, task, problems, role=role, partial=partial)
        if column is None:
            continue
        columns[file.name] = column
        grouped = any(needs(metric.function, "groups") for metric in task.metrics)
        if grouped and groups and read(f"{file.name}{METADATA_SUFFIX}") is None:
            own = [groups[index] for index in column.row_indices]
            metadata[file.name] = Metadata(numbered(own), {})
            warnings.append(f"{file.name}: its groups come from the nesting of {name}")
        for suffix, read_sheet, by_file in sheets:
            data = read(name := f"{file.name}{suffix}")
            if data is not None:
                sheet = Sheet(name, data, split, column.row_indices)
                by_file[file.name] = read_sheet(sheet, task)
                problems += sheet.problems
    if not columns and not problems:
        problems.append(_nothing_there(home, benchmark, role))
    if problems:
        contents = {file.path: read(f"{file.name}{SUFFIX}") for file in benchmark.files(role)}
        lines = {path: count_rows(data) for path, data in contents.items() if data is not None}
        other = of_other_benchmark(lines, benchmark, role)
        raise GoldError(problems if other is None else [other], folder=home)
    gold = Gold(benchmark, role, home, columns, phenomena, metadata, partial, warnings=tuple(warnings))
    return gold if given is not None else _with_version(gold)


def _given(labels: Mapping[str, Any], benchmark: Benchmark, role: Role) -> dict[str, bytes]:
    """Convert labels given from Python to the content of files."""
    files = {}
    for name, values in labels.items():
        file = file_named(name.removesuffix(GROUPS), benchmark, role)
        if name.endswith(GROUPS):
            rows = "".join(f"{index}\t{group}\n" for index, group in enumerate(plain_values(values)))
            files[f"{file.name}{METADATA_SUFFIX}"] = f"index\t{GROUP}\n{rows}".encode()
            continue
        try:
            files[f"{file.name}{SUFFIX}"] = as_tsv(
                values, benchmark.task(file.task), header="label", ids=file.splits[role].ids
            )
        except ValueError as error:
            raise ValueError(f"the gold labels of {name}: {error}") from None
    return files


def _find_labels(read: Callable[[str], bytes | None], file: TestFile, role: Role) -> tuple[str, bytes | None]:
    """The file of labels and its content; None if there is none."""
    names = [f"{file.name}{SUFFIX}"]
    if _is_shaped(file, role):
        names += [f"{file.name}{suffix}" for suffix in OTHER_SUFFIXES]
        names += [file.gold.file, file.path]
    for name in filter(None, names):
        data = read(name)
        if data is not None:
            return name, data
    return "", None


def _is_shaped(file: TestFile, role: Role) -> bool:
    """Whether labels may be in another shape than index<TAB>label."""
    return is_shaped(file, role) or bool(file.gold.file or file.gold.columns)


def _read_labels(
    name: str,
    data: bytes,
    file: TestFile,
    task: Task,
    problems: list[Problem],
    *,
    role: Role,
    partial: bool,
) -> tuple[Column | None, Mapping[int, int]]:
    """The labels of a file, and index to group if they are nested in JSON; append errors to `problems`."""
    data = as_utf8(data)
    groups: Mapping[int, int] = {}
    layout = Layout(
        task.words or (task.vocabulary if task.form == "probabilities" else ()),
        file.size(role),
        value="label",
        complete=not (partial or file.gaps),
        others=other_sizes(file, role),
        form=cell_form(task, gold=True),
        ids=file.splits[role].ids,
    )
    if _is_shaped(file, role) and data.partition(b"\n")[0].strip() not in PLAIN_HEADERS:
        shaped = read_shaped(name, data, file, task, layout, role)
        table = shaped.table
        groups = shaped.groups
    else:
        data = _LACKING.sub(b"", data) if file.gaps else data
        table = read_table(name, data, layout)
    problems += [
        replace(fault, fix=PARTIAL) if fault.code == "missing-index" else fault
        for fault in table.problems
        if fault.severity == "error"
    ]
    problems += [
        problem("more", name, what=f"{count:,} more of {code}") for code, count in table.unshown.items()
    ]
    return table.column, groups


def _content(home: str, name: str) -> bytes | None:
    try:
        with open(os.path.join(home, name), "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _nothing_there(home: str, benchmark: Benchmark, role: Role) -> Problem:
    if not os.path.isdir(home):
        return problem("no-gold", home)
    names = dict[str, None]()
    for file in benchmark.files(role):
        names |= dict.fromkeys((f"{file.name}{SUFFIX}", file.gold.file or file.member))
    return problem("no-gold, empty", names=", ".join(filter(None, names)))


def _with_version(gold: Gold) -> Gold:
    """Set the version: an HMAC-SHA256 of all that scores depend on, not of line ends or the order of rows.

    Labels could be guessed from a plain hash of a small label set by trying; a keyed hash prevents this.
    """
    import hashlib
    import hmac

    try:
        digest = hmac.new(label_key(gold.folder), digestmod=hashlib.sha256)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        warning = f"the version of the labels has no name: no key could be kept beside the gold ({reason})"
        return replace(gold, warnings=(*gold.warnings, warning))
    for part in _hashed(gold):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return replace(gold, version=digest.hexdigest()[:SHOWN])


def label_key(folder: str) -> bytes:
    """The secret key of a gold folder, created on first use. Raises OSError if none can be stored."""
    path = os.path.join(folder, KEY_FILE)
    try:
        with open(path, "rb") as file:
            key = file.read()
    except FileNotFoundError:
        key = _new_key(path)
    if len(key) != KEY_BYTES:
        raise OSError(0, f"{KEY_FILE} holds {len(key)} bytes, expected {KEY_BYTES}")
    return key


def _new_key(path: str) -> bytes:
    """Create the key; if several processes do so at once, all use the first."""
    temporary = f"{path}.{os.getpid()}.{os.urandom(4).hex()}"
    descriptor = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(os.urandom(KEY_BYTES))
        os.link(temporary, path)  # unlike a rename, this never replaces an existing key
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)
    with open(path, "rb") as kept:
        return kept.read()


def _hashed(gold: Gold) -> Iterator[bytes]:
    for name, column in sorted(gold.columns.items()):
        yield name.encode()
        yield repr(column.labels).encode()
        yield column.values if isinstance(column.values, bytes) else repr([*column.values]).encode()
        yield b"" if column.indices is None else repr(column.indices.tolist()).encode()
        tags = gold.phenomena.get(name, {})
        yield repr([(phenomenon.coarse, phenomenon.name, at) for phenomenon, at in tags.items()]).encode()
        about = gold.metadata.get(name)
        yield b"" if about is None else repr((about.groups, sorted(about.columns.items()))).encode()
