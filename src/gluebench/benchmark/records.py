"""What a benchmark is: frozen records, filled from one TOML manifest (see `manifest.py`).

Named tuples, since every command makes these classes anew, and a dataclass takes eight times as long to make.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple

from gluebench.benchmark.lookup import UnknownNameError, find

Role = Literal["test", "dev"]
ROLES: tuple[Role, ...] = ("test", "dev")


class Label(NamedTuple):
    """One label word, exactly as the benchmark's files write it."""

    word: str
    gloss: str
    synonyms: tuple[str, ...] = ()
    """Other words a submission may use for it, taken with a notice."""
    share: float | None = None
    """Share of the training split that has it: predictions that fit only when swapped are warned of."""


class Metric(NamedTuple):
    """One number of a task: a scoring function applied to one of its test files."""

    name: str
    """Unique within the task; the key of the report."""
    function: str
    """Name of the function in `gluebench.scoring`, or of an entry point."""
    title: str
    """Short heading, as "acc." or "F1"."""
    file: str
    """Name of the test file it is computed on."""
    positive: str | None = None
    """Label word that F1 counts as positive."""


class Split(NamedTuple):
    """One split of a task: its file in the distribution and its number of examples."""

    name: str
    file: str
    size: int
    fingerprint: str = ""
    """Of the published examples (gluebench.data.fingerprint); empty where it is not known."""
    text_fingerprint: str = ""
    """Of their text alone; empty where it is not known, or where they have no labels."""


class Version(NamedTuple):
    """An older or other release of a test file, recognised by its size."""

    name: str
    note: str
    sizes: Mapping[Role, int]


class TestFile(NamedTuple):
    """One file of a submission, `<name>.tsv`: the predictions for one split of one task.

    Its examples are numbered 0 to size - 1 by the index column of the released file.
    """

    name: str
    task: str
    splits: Mapping[Role, Split]
    """The split it holds predictions for when the test or the dev split is graded."""
    synonyms: tuple[str, ...] = ()
    """Other file stems taken with a notice, as "diagnostic" for AX."""
    other_versions: tuple[Version, ...] = ()

    def size(self, role: Role = "test") -> int:
        """Number of examples of the split that is graded. Raises KeyError if the file has no such split."""
        return self.splits[role].size


class Phenomenon(NamedTuple):
    """A fine-grained phenomenon of a diagnostic set and its coarse category (Table 2 of the paper)."""

    name: str
    coarse: str
    aliases: tuple[str, ...] = ()


class Reference(NamedTuple):
    """A published score to show beside others: a majority class, a human."""

    name: str
    scores: Mapping[str, float]
    """Metric name to value, as fractions."""
    source: str


class Source(NamedTuple):
    """Where a task's text comes from, and on what terms."""

    corpus: str
    licence: str
    citation: str
    url: str = ""


class Printed(NamedTuple):
    """Figures as a publication prints them, to stand beside what the files hold."""

    sizes: Mapping[str, str] = {}
    """Split name, or "test" for several, to its size as printed: "8.5k"."""
    categories: Mapping[str, Mapping[str, float]] = {}
    """Coarse category to `count`, and the percentage of each label word (Table 7)."""


class Task(NamedTuple):
    """One task, or a diagnostic set (`scored` false: reported, never averaged)."""

    name: str
    title: str
    summary: str
    """What is asked, in the words of Table 1: "acceptability"."""
    section: str
    """The heading of Table 1 it stands under."""
    domain: str
    columns: tuple[str, ...]
    """Input columns, under the paper's names."""
    labels: tuple[Label, ...]
    """In the order of their codes; empty for a regression task."""
    score_range: tuple[float, float] | None
    """Range of a regression task's scores; None for classification."""
    metrics: tuple[Metric, ...]
    splits: Mapping[str, Split]
    files: tuple[TestFile, ...]
    source: Source
    aliases: tuple[str, ...] = ()
    scored: bool = True
    """Whether the task counts in the macro-average."""
    predict_with: str | None = None
    """Task whose model answers this one, which has no training data of its own."""
    private: bool | None = None
    """Whether the test labels are still unknown to the public; None where the manifest does not say."""
    phenomena: tuple[Phenomenon, ...] = ()
    metadata: tuple[str, ...] = ()
    """Columns of the gold folder's metadata file by which a diagnostic set is broken down."""
    references: tuple[Reference, ...] = ()
    notes: tuple[str, ...] = ()
    version: str = ""
    """Release of its data: "v2"."""
    recipe: str | None = None
    """Name of the recipe that builds it from the original corpus."""
    printed: Printed = Printed()
    trains: str | None = None
    """Auxiliary data only: the task whose training it may join."""

    @property
    def labels_public(self) -> bool:
        """Whether the manifest says that the test labels are public; where it is silent they are not."""
        return self.private is False

    @property
    def words(self) -> tuple[str, ...]:
        """The label words in the order of their codes; empty for a regression task."""
        return tuple(label.word for label in self.labels)

    def file(self, name: str) -> TestFile:
        """The test file of that name. Raises UnknownNameError."""
        return find(name, self.files, what="test file")

    def metrics_by_file(self) -> dict[str, list[Metric]]:
        """Test-file name to the metrics of that file, in the manifest's order."""
        by_file: dict[str, list[Metric]] = {}
        for metric in self.metrics:
            by_file.setdefault(metric.file, []).append(metric)
        return by_file

    def coarse(self) -> tuple[str, ...]:
        """The coarse categories of its phenomena, in the manifest's order."""
        return tuple(dict.fromkeys(phenomenon.coarse for phenomenon in self.phenomena))


class Benchmark(NamedTuple):
    """A suite of tasks, and the average over those that are scored."""

    name: str
    title: str
    description: str
    tasks: tuple[Task, ...]
    url: str = ""
    citation: str = ""
    notes: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    ignored: tuple[TestFile, ...] = ()
    """Test files of the parent's other tasks (`extends` with `tasks`): passed over with a notice."""
    extends: tuple[str, ...] = ()
    """Names of the benchmarks it is a part of, the nearest first; their data are its own."""
    auxiliary: tuple[Task, ...] = ()
    """Training data that is not a task of its own: examples only, without metrics or test files."""

    def task(self, name: str) -> Task:
        """The task of that name or alias, letter case aside. Raises UnknownNameError."""
        return find(name, self.tasks, what=f"task of {self.name}")

    def dataset(self, name: str) -> Task:
        """The task or auxiliary data of that name or alias. Raises UnknownNameError."""
        return find(name, (*self.tasks, *self.auxiliary), what=f"task or auxiliary data of {self.name}")

    @property
    def scored(self) -> tuple[Task, ...]:
        """The tasks that the macro-average is taken over."""
        return tuple(task for task in self.tasks if task.scored)

    @property
    def diagnostics(self) -> tuple[Task, ...]:
        """The diagnostic sets: reported by phenomenon, not averaged."""
        return tuple(task for task in self.tasks if not task.scored)

    def files(self, role: Role = "test") -> Iterator[TestFile]:
        """Every test file that has the split, in task order (AX, for one, has no dev split)."""
        for task in self.tasks:
            for file in task.files:
                if role in file.splits:
                    yield file

    def file(self, name: str) -> TestFile:
        """The test file of that name. Raises UnknownNameError."""
        for task in self.tasks:
            for file in task.files:
                if file.name == name:
                    return file
        raise UnknownNameError(
            name, [file.name for task in self.tasks for file in task.files], what="test file"
        )
