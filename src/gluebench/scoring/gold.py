"""Read gold labels: a folder with `<test file>.tsv` files, and their tags and metadata."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain
from typing import Any

from gluebench.benchmark import Benchmark, Metric, Role, Split, Task, TestFile, load_benchmark
from gluebench.benchmark.metrics import needs, scheme_problem
from gluebench.reading.text import as_utf8
from gluebench.scoring.tags import (
    GROUP,
    Category,
    Metadata,
    Sheet,
    Tagged,
    categories,
    group_numbers,
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
Read = Callable[[str], bytes | None]
"""Gives the content of a file of labels by its name; None if there is none."""
GIVEN = "the mapping given"
"""Replaces the folder if the labels come from Python."""
PARTIAL = problem("no-gold, file").fix
"""What to do about labels that are missing."""


class GoldError(ValueError):
    """Invalid gold labels, which the organizer has to fix, not the submitter."""

    def __init__(self, problems: Sequence[Problem], *, folder: str) -> None:
        fault = "are at fault, not the submission"
        if any(problem.code == "other-benchmark" for problem in problems):
            fault = "are of another benchmark"
        lines = [f"the gold labels in {folder} {fault}:"]
        lines += listed(problems)
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
        object.__setattr__(self, "metadata", with_pairs(self.metadata, self.benchmark, self.columns))
        problems: list[Problem] = []
        for task in self.benchmark.tasks:
            for metric in task.metrics:
                if metric.file in self.columns:
                    problems += self._problems(task, metric)
        if problems:
            raise GoldError(problems, folder=self.folder)

    def _problems(self, task: Task, metric: Metric) -> Iterator[Problem]:
        """What a metric lacks in the gold of its test file."""
        metadata = self.metadata.get(metric.file)
        has_groups = metadata is not None and metadata.groups is not None
        if needs(metric.function, "groups") and not has_groups:
            yield problem("no-groups", metric.file, name=metric.file, metric=metric.name)
        # The labels of a manifest were checked there; without any, the tags are those of the file.
        if needs(metric.function, "scheme") and not task.vocabulary:
            tags = set(chain.from_iterable(self.columns[metric.file].cells))
            fault = scheme_problem(tags, metric.scheme)
            if fault:
                yield problem("other-scheme", metric.file, metric=metric.name, fault=fault)

    @cached_property
    def categories(self) -> dict[str, tuple[Category, ...]]:
        """Test-file name of a diagnostic set, or of a task of a scored table, to its reported categories."""
        by_file = {}
        for task in self.benchmark.tasks:
            if task.scored and not task.metadata:
                continue
            for file in task.files:
                if file.name in self.columns:
                    tags = self.phenomena.get(file.name, {})
                    metadata = self.metadata.get(file.name)
                    size = len(self.columns[file.name])
                    by_file[file.name] = categories(task, tags, metadata, size=size)
        return by_file


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
    read = _reader_of(folder, benchmark, role)
    problems: list[Problem] = []
    columns: dict[str, Column] = {}
    phenomena: dict[str, Tagged] = {}
    metadata: dict[str, Metadata] = {}
    warnings: list[str] = []
    for file in benchmark.files(role):
        task = benchmark.task(file.task)
        name, content = _find_labels(read, file, role)
        if content is None:
            continue
        labels = file.of_labels()
        column, groups = _read_labels(name, content, labels, task, problems, role=role, partial=partial)
        if column is None:
            continue
        columns[file.name] = column
        tags = _read_sheet(read, f"{file.name}{PHENOMENA_SUFFIX}", file.splits[role], column)
        if tags is not None:
            phenomena[file.name] = read_phenomena(tags, task)
            problems += tags.problems
        about = _read_sheet(read, f"{file.name}{METADATA_SUFFIX}", file.splits[role], column)
        if about is not None:
            metadata[file.name] = read_metadata(about, task)
            problems += about.problems
        elif groups and _needs_groups(task):
            groups_of_rows = [groups[index] for index in column.row_indices]
            metadata[file.name] = Metadata(group_numbers(groups_of_rows), {})
            warnings.append(f"{file.name}: its groups come from the nesting of {name}")
    if not columns and not problems:
        problems.append(_nothing_there(home, benchmark, role))
    if problems:
        raise GoldError(_other_benchmark(read, benchmark, role) or problems, folder=home)
    gold = Gold(benchmark, role, home, columns, phenomena, metadata, partial, warnings=tuple(warnings))
    if isinstance(folder, Mapping):
        return gold
    return _with_version(gold)


def _needs_groups(task: Task) -> bool:
    return any(needs(metric.function, "groups") for metric in task.metrics)


def _reader_of(folder: str | os.PathLike[str] | Mapping[str, Any], benchmark: Benchmark, role: Role) -> Read:
    """The function that reads a file of labels: from the folder, or from labels given from Python."""
    if isinstance(folder, Mapping):
        return _contents_of(folder, benchmark, role).get
    home = os.fspath(folder)

    def read(name: str) -> bytes | None:
        try:
            with open(os.path.join(home, name), "rb") as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    return read


def _read_sheet(read: Read, name: str, split: Split, column: Column) -> Sheet | None:
    """A file of tags or metadata beside a file of labels; None if there is none."""
    content = read(name)
    if content is None:
        return None
    return Sheet(name, content, split, column.row_indices)


def _other_benchmark(read: Read, benchmark: Benchmark, role: Role) -> list[Problem]:
    """The problem that the labels are of another benchmark, if their numbers of rows say so; else none."""
    rows = {}
    for file in benchmark.files(role):
        content = read(f"{file.name}{SUFFIX}")
        if content is not None:
            rows[file.path] = count_rows(content)
    other = of_other_benchmark(rows, benchmark, role)
    return [] if other is None else [other]


def _contents_of(labels: Mapping[str, Any], benchmark: Benchmark, role: Role) -> dict[str, bytes]:
    """The files that would hold these labels from Python, by name."""
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


def _find_labels(read: Read, file: TestFile, role: Role) -> tuple[str, bytes | None]:
    """The file of labels and its content; None if there is none."""
    names = [f"{file.name}{SUFFIX}"]
    if _is_shaped(file, role):
        names += [f"{file.name}{suffix}" for suffix in OTHER_SUFFIXES]
        names += [file.gold.file, file.path]
    for name in names:
        if not name:  # the manifest names no file of labels
            continue
        content = read(name)
        if content is not None:
            return name, content
    return "", None


def _is_shaped(file: TestFile, role: Role) -> bool:
    """Whether labels may be in another shape than index<TAB>label."""
    return file.is_shaped(role) or bool(file.gold.file or file.gold.columns)


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
    words = task.words
    if task.form == "probabilities":  # their gold is the right label
        words = task.vocabulary
    layout = Layout(
        words,
        file.size(role),
        value="label",
        complete=not (partial or file.gaps),
        others=other_sizes(file, role),
        form=cell_form(task, gold=True),
        ids=file.splits[role].ids,
    )
    if _is_shaped(file, role) and data.partition(b"\n")[0].strip() not in PLAIN_HEADERS:
        from gluebench.submission.shapes import read_shaped

        shaped = read_shaped(name, data, file, task, layout, role)
        table = shaped.table
        groups = shaped.groups
    else:
        if file.gaps:
            data = _LACKING.sub(b"", data)
        table = read_table(name, data, layout)
    for fault in table.problems:
        if fault.code == "missing-index":
            fault = replace(fault, fix=PARTIAL)
        if fault.severity == "error":
            problems.append(fault)
    for code, count in table.unshown.items():
        problems.append(problem("more", name, what=f"{count:,} more of {code}"))
    return table.column, groups


def _nothing_there(home: str, benchmark: Benchmark, role: Role) -> Problem:
    if not os.path.isdir(home):
        return problem("no-gold", home)
    names: list[str] = []
    for file in benchmark.files(role):
        for name in (f"{file.name}{SUFFIX}", file.gold.file or file.member):
            if name and name not in names:
                names.append(name)
    return problem("no-gold, empty", names=", ".join(names))


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
        return replace(gold, warnings=gold.warnings + (warning,))
    for part in _parts_to_hash(gold):
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


def _parts_to_hash(gold: Gold) -> Iterator[bytes]:
    """All that scores depend on, as bytes that stay the same between versions of gluebench."""
    for name, column in sorted(gold.columns.items()):
        yield name.encode()
        yield repr(column.labels).encode()
        if isinstance(column.values, bytes):
            yield column.values
        else:
            yield repr(list(column.values)).encode()
        if column.indices is None:
            yield b""
        else:
            yield repr(column.indices.tolist()).encode()
        tags = gold.phenomena.get(name, {})
        tagged = [(phenomenon.coarse, phenomenon.name, rows) for phenomenon, rows in tags.items()]
        yield repr(tagged).encode()
        metadata = gold.metadata.get(name)
        if metadata is None:
            yield b""
        else:
            yield repr((metadata.groups, sorted(metadata.columns.items()))).encode()
