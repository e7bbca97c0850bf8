"""How a benchmark's data are released: file layouts, addresses and checksums, read from a TOML file.

The benchmark's manifest describes tasks; this file describes formats and locations of their data, separately,
so that grading need not read it. A packaged benchmark has `<name>.toml` in this folder. For your own manifest
`mine.toml` it is `mine.release.toml` beside it; without it, files have the plain layout of
docs/reference/data.md. Tasks of a benchmark that a manifest extends are released as that benchmark says.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gluebench.benchmark import Benchmark, ManifestError, load_benchmark
from gluebench.benchmark.manifest import extended_by, installed, path_text
from gluebench.benchmark.reader import Finding, Section, one_of

HOME = os.path.dirname(__file__)


class Hub(NamedTuple):
    """A repository of Parquet files, at one commit."""

    endpoint: str
    repository: str
    revision: str


class HubFile(NamedTuple):
    """One file of the hub's repository."""

    path: str
    sha256: str
    bytes: int
    fingerprint: str = ""
    """Fingerprint of its rows if they are not those of the manifest, so that a rewritten copy is known."""


class SplitRelease(NamedTuple):
    """The files of one split."""

    files: tuple[str, ...]
    """Possible names of its file in the released layout; the first that exists is read."""
    header: tuple[str, ...] = ()
    """Column names of a file without header row; empty if the file has one."""
    hub: HubFile | None = None
    records: str = ""
    """Keys that lead to the records of nested JSON, as "passage.questions.answers"."""
    incomplete: int = 0
    """How many lines of its released file lack a column; so many are left out, with a note."""


class TaskRelease(NamedTuple):
    """The files of one task."""

    splits: Mapping[str, SplitRelease]
    folders: tuple[str, ...]
    """Possible names of its folder; of two that are there, the first is read."""
    columns: Mapping[str, str] = {}
    """Column name in the file to that in the benchmark; other columns keep their names."""
    quoted: bool = False
    """Whether fields with quotation marks are quoted as in CSV, with inner marks doubled."""
    archive: str = ""
    """Address of the official archive, a zip or a single TSV; empty if there is none."""
    original: bool = False
    """Whether the archive is the original corpus, which the task's recipe reads."""
    manual: str = ""
    """Instructions for a manual download, if license or sign-in forbid an automatic one."""
    faults: str = ""
    """Advice on known invalid lines of the released files."""
    merged_labels: tuple[str, ...] = ()
    """Labels of a copy that merges some of the task's; they become the column `merged_label`."""
    classes: tuple[str, ...] = ()
    """The label of each class number, where copies number them in another order than the manifest."""
    shape: str = ""
    """How files of another shape than a table are read; see `gluebench.data.sources.shapes`."""
    unlabeled: tuple[str, ...] = ()
    """Values in place of a label whose rows are left out, with a note."""
    hub: Hub | None = None
    """The repository that its files on the hub are in, the same for all tasks of a TOML file."""


KEYS: Mapping[str, tuple[str, ...]] = {
    "release": ("hub", "tasks"),
    "hub": Hub._fields,
    "task": tuple(field for field in TaskRelease._fields if field != "hub"),
    "split": SplitRelease._fields,
    "hub file": HubFile._fields,
}
"""The keys that each kind of table may have."""


class Release(NamedTuple):
    """How a benchmark's data are released."""

    tasks: Mapping[str, TaskRelease]


def load_release(name_or_path: Benchmark | str | os.PathLike[str]) -> Release:
    """The release of a packaged benchmark, or of the manifest at a path; every task has an entry.

    A task that the benchmark has from one that it extends gets that one's entry, unless its own file has one.
    A `Benchmark` object gets the packaged releases of its names. Raises ManifestError.
    """
    benchmark = load_benchmark(name_or_path)
    inherited: Mapping[str, TaskRelease] = {}
    if parent := _parent(name_or_path, benchmark):
        inherited = load_release(parent).tasks
    if isinstance(name_or_path, Benchmark) or benchmark.name in installed():
        path = Path(HOME, f"{benchmark.name}.toml")
    else:
        path = Path(name_or_path).with_suffix(".release.toml")
    findings: list[Finding] = []
    values = {}
    try:
        if path.is_file():
            values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ManifestError([f"{path}: cannot be read as TOML ({error})"]) from None
    root = Section(values, (), findings=findings, keys=KEYS["release"])
    tasks = _tasks(root, benchmark, inherited)
    if findings:
        raise ManifestError([f"{path}: {path_text(finding.path)}: {finding.text}" for finding in findings])
    return Release(tasks)


def _parent(name_or_path: Benchmark | str | os.PathLike[str], benchmark: Benchmark) -> str:
    """The name or the path of what a benchmark extends; empty if there is none that could be found."""
    if isinstance(name_or_path, Benchmark):
        for name in benchmark.extends:
            if name in installed():
                return name
        return ""
    return extended_by(name_or_path)


def _tasks(
    root: Section, benchmark: Benchmark, inherited: Mapping[str, TaskRelease]
) -> dict[str, TaskRelease]:
    hub = None
    if "hub" in root.values:
        known_hub = root.inner("hub", KEYS["hub"])
        hub = Hub(known_hub.text("endpoint"), known_hub.text("repository"), known_hub.text("revision"))
    sections = dict(root.named("tasks", KEYS["task"]))
    known = benchmark.tasks + benchmark.auxiliary
    names = tuple(task.name for task in known)
    for name in sections.keys() - set(names):
        root.inner("tasks").reject(name, f"is not a task; {one_of(names)}")
    tasks = {}
    for task in known:
        if task.name in inherited and task.name not in sections:
            tasks[task.name] = inherited[task.name]
            continue
        section = sections.get(task.name, Section({}, ("tasks", task.name), findings=root.findings))
        classes = section.texts("classes")
        if classes and sorted(classes) != sorted(task.words):
            section.reject(
                "classes", f"expected each label once, in the order of their numbers: {', '.join(task.words)}"
            )
        splits = dict(section.named("splits", KEYS["split"]))
        for name in splits.keys() - task.splits.keys():
            section.inner("splits").reject(name, f"is not a split; {one_of(task.splits)}")
        tasks[task.name] = TaskRelease(
            splits={name: _split(splits.get(name), split.file) for name, split in task.splits.items()},
            folders=section.texts("folders") + (task.name,),
            columns=section.texts_by_name("columns"),
            **section.read(quoted=False, archive="", original=False, manual="", faults="", merged_labels=()),
            classes=classes,
            **section.read(shape="", unlabeled=()),
            hub=hub,
        )
    return tasks


def _split(section: Section | None, file: str) -> SplitRelease:
    if section is None:
        return SplitRelease((file,))
    inner = section.inner("hub", KEYS["hub file"])
    hub = None
    if inner.values:
        hub = HubFile(
            path=inner.text("path"),
            sha256=inner.text("sha256"),
            bytes=inner.count("bytes"),
            fingerprint=inner.text("fingerprint", ""),
        )
    incomplete = 0
    if "incomplete" in section.values:
        incomplete = section.count("incomplete")
    return SplitRelease(
        files=(file,) + section.texts("files"),
        header=section.texts("header"),
        hub=hub,
        records=section.text("records", ""),
        incomplete=incomplete,
    )
