"""Immutable records of a benchmark, read from one TOML manifest (see `manifest.py`).

They are named tuples: every command defines these classes at its start, and dataclasses take 8 times as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, get_args

from gluebench.benchmark.figures import DOWN
from gluebench.benchmark.lookup import UnknownNameError, find
from gluebench.benchmark.metrics import BUILT_IN, Form

Role = Literal["test", "dev"]
ROLES: tuple[Role, ...] = ("test", "dev")
Rule = Literal["mean", "borda", "median", "kemeny", "rank-score"]
RULES: tuple[Rule, ...] = get_args(Rule)
"""How systems are ranked by the scores of several tasks (docs/how-to/ranking.md)."""


def rule_named(name: str) -> Rule | None:
    """The rule of that name, if there is one."""
    return next((rule for rule in RULES if rule == name), None)


class Label(NamedTuple):
    """One label word, exactly as the benchmark's files write it."""

    word: str
    gloss: str
    synonyms: tuple[str, ...] = ()
    """Other words for it, accepted in a submission with a notice."""
    share: float | None = None
    """Share of the training split that has it; used to warn of predictions with swapped labels."""


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
    """Label word that F1 counts as positive; a number for `f1_from`."""
    labels: tuple[str, ...] = ()
    """Label words of the task, for sets, probabilities, tokens and spans."""
    scale: tuple[float, float] | None = None
    """Values that become 0 and 1, as the mean loss of a baseline and 0; None for the value itself."""
    parents: tuple[tuple[str, str], ...] = ()
    """The labels of the task that have a parent, each with it."""
    language: str = ""
    """Language whose rules normalize texts; empty for those of SQuAD."""
    score_range: tuple[float, float] | None = None
    """The lowest and highest rating of the task; None unless it is one of numbers."""
    scheme: str = ""
    """How tags mark entities, a key of `SCHEMES`; empty where no metric reads them."""
    scheme_assumed: bool = False
    """Whether neither the manifest nor the labels say the scheme."""

    @property
    def loss(self) -> bool:
        """Whether its values are negated losses, 0 at best, and not put on another scale."""
        known = BUILT_IN.get(self.function)
        return known is not None and known.highest == 0 and self.scale is None

    @property
    def words(self) -> str:
        """The name as words, with the capitals of the title; the title where the name is a symbol."""
        if self.function.startswith("neg_"):
            return self.title.removesuffix(DOWN)
        with_capitals = {word.casefold(): word for word in self.title.split()}
        words = [with_capitals.get(word, word) for word in self.name.split("_")]
        is_symbol = max(map(len, words)) <= 2
        return self.title if is_symbol else " ".join(words)


class Split(NamedTuple):
    """One split of a task: its file in the distribution and its number of examples."""

    name: str
    file: str
    size: int
    fingerprint: str = ""
    """Fingerprint of the published examples (gluebench.data.fingerprint); empty if not known."""
    text_fingerprint: str = ""
    """Fingerprint of their text only; empty if not known, or if they have no labels."""
    ids: Sequence[str] = ()
    """Ids of the examples in the order of their indices; empty where files have the indices."""
    ordered: bool = False
    """Whether files have neither ids nor indices, so that the order of the rows counts."""


class Version(NamedTuple):
    """Another release of a test file, recognized by its size."""

    name: str
    note: str
    sizes: Mapping[Role, int]


class GoldFile(NamedTuple):
    """How the released file of labels differs from a file of predictions; empty where it does not."""

    file: str = ""
    """Its name, with extension."""
    columns: Mapping[str, str] = {}
    """Column of the predictions to the name that it has there."""
    text: str = ""
    """JSON key of the text over whose length spans have weights."""


class TestFile(NamedTuple):
    """Predictions for one split of one task: a file of a submission, `<name>.tsv`, or a column of one.

    Its examples are numbered 0 to size - 1 by the index column of the released file, or by the split's ids.
    """

    name: str
    task: str
    splits: Mapping[Role, Split]
    """Role (test or dev) to the split that it has predictions for."""
    synonyms: tuple[str, ...] = ()
    """Other file stems accepted with a notice, as "diagnostic" for AX."""
    other_versions: tuple[Version, ...] = ()
    member: str = ""
    """File of the submission with its extension; `<name>.tsv` if empty."""
    column: str = ""
    """Column of that file; the only one but the index if empty."""
    id: str = ""
    """Column (in JSON: key) of the ids or indices; recognized by its name if empty."""
    columns: tuple[str, ...] = ()
    """Columns of that file, one for each label, of sets, probabilities and distributions; else empty."""
    gaps: bool = False
    """Whether examples may lack gold, which are then not scored."""
    parts: str = ""
    """Column of the scores of items, or the labels of spans, where each row is one; else empty."""
    gold: GoldFile = GoldFile()
    line: Mapping[str, object] = {}
    """First line of a file of JSON lines, whose keys and kind of label are written; empty for the default."""

    @property
    def path(self) -> str:
        """The file of the submission."""
        return self.member or f"{self.name}.tsv"

    def of_labels(self) -> TestFile:
        """The same with the names that its columns have in the file of labels."""
        gold_names = self.gold.columns
        column = self.column
        if not column and "label" in gold_names:
            column = "label"
        return self._replace(
            column=gold_names.get(column, column),
            id=gold_names.get(self.id or "id", self.id),
            columns=tuple(gold_names.get(name, name) for name in self.columns),
            parts=gold_names.get(self.parts, self.parts),
        )

    def size(self, role: Role = "test") -> int:
        """Number of examples of the split that is graded. Raises KeyError if the file has no such split."""
        return self.splits[role].size

    def is_shaped(self, role: Role) -> bool:
        """Whether the file has another shape than index<TAB>value."""
        return bool(self.member or self.column or self.id or self.columns or self.splits[role].ordered)


class Phenomenon(NamedTuple):
    """A fine-grained phenomenon of a diagnostic set and its coarse category (Table 2 of the paper)."""

    name: str
    coarse: str
    aliases: tuple[str, ...] = ()


class Reference(NamedTuple):
    """Published scores to show for comparison: of a majority class, of people."""

    name: str
    scores: Mapping[str, float]
    """Metric name to value, as fractions."""
    source: str


class Source(NamedTuple):
    """Origin and license of a task's text."""

    corpus: str
    license: str
    citation: str
    url: str = ""


class Card(NamedTuple):
    """Facts for catalogs of data sets that only the publisher of the data knows; empty if not stated."""

    license: str = ""
    """Of the data as a whole, as an address or in words."""
    version: str = ""
    published: str = ""
    """The date of publication, as 2026-11-22."""
    creators: tuple[str, ...] = ()
    """Names of people."""
    publisher: str = ""
    """Name of an organization."""
    rai: Mapping[str, str | bool] = {}
    """Answers on responsible use, by the names of the Croissant RAI vocabulary."""


class PrintedFigures(NamedTuple):
    """Figures printed in a publication, to compare with those of the files."""

    sizes: Mapping[str, str] = {}
    """Split name, or "test" for several, to its size as printed: "8.5k"."""
    categories: Mapping[str, Mapping[str, float]] = {}
    """Coarse category to `count`, and the percentage of each label word (Table 7)."""


class Task(NamedTuple):
    """One task, or a diagnostic set (`scored` false: reported, never averaged)."""

    name: str
    title: str
    summary: str
    """The kind of task, in the words of Table 1: "acceptability"."""
    section: str
    """Its heading in Table 1."""
    domain: str
    columns: tuple[str, ...]
    """Input columns, under the paper's names."""
    labels: tuple[Label, ...]
    """In the order of their codes; empty unless each example has one of them."""
    score_range: tuple[float, float] | None
    """Range of a regression task's scores; None for other forms."""
    metrics: tuple[Metric, ...]
    splits: Mapping[str, Split]
    files: tuple[TestFile, ...]
    source: Source
    aliases: tuple[str, ...] = ()
    scored: bool = True
    """Whether it is a task, not a diagnostic set."""
    predict_with: str | None = None
    """Task whose model predicts this one, if this one has no training data."""
    private: bool | None = None
    """Whether the test labels are not public; None if the manifest does not say."""
    phenomena: tuple[Phenomenon, ...] = ()
    metadata: tuple[str, ...] = ()
    """Columns of the gold folder's metadata file by which a diagnostic set is broken down."""
    references: tuple[Reference, ...] = ()
    notes: tuple[str, ...] = ()
    version: str = ""
    """Release of its data: "v2"."""
    recipe: str | None = None
    """Name of the recipe that builds it from the original corpus."""
    printed: PrintedFigures = PrintedFigures()
    trains: str | None = None
    """Auxiliary data only: the task whose training data it may extend."""
    form: Form = "labels"
    """What an example is answered with."""
    vocabulary: tuple[str, ...] = ()
    """Label words of sets, probabilities, tokens and spans; empty for other forms."""
    weight: float = 1.0
    """Its weight in the average; 0 if it is scored and compared without counting there."""
    separator: str = "|"
    """Text between the labels of a set."""
    exclusive: bool = True
    """Whether probabilities and distributions sum to 1."""
    glosses: tuple[str, ...] = ()
    """Meanings of the words of `vocabulary`, in their order."""
    in_pairs: bool = False
    """Whether examples 0 and 1, 2 and 3, and so on are one pair of sentences in both directions."""

    def __repr__(self) -> str:
        return f"<Task {self.name}: {self.form}, {', '.join(metric.name for metric in self.metrics)}>"

    @property
    def labels_public(self) -> bool:
        """Whether the manifest says that the test labels are public."""
        return self.private is False

    @property
    def words(self) -> tuple[str, ...]:
        """The label words in the order of their codes; empty unless each example has one of them."""
        return tuple(label.word for label in self.labels)

    @property
    def averaged(self) -> bool:
        """Whether it counts in the macro-average."""
        return self.scored and self.weight > 0

    @property
    def loss(self) -> bool:
        """Whether its score is a negated loss."""
        return any(metric.loss for metric in self.metrics)

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
    """Test files of the parent's other tasks (`extends` with `tasks`): ignored with a notice."""
    extends: tuple[str, ...] = ()
    """Names of the benchmarks whose tasks it has, the nearest first; it uses their data."""
    auxiliary: tuple[Task, ...] = ()
    """Training data that are not a task: examples only, without metrics or test files."""
    card: Card = Card()
    rank_by: Rule = "mean"
    """The rule that its systems are ranked by unless another is asked for."""

    def __repr__(self) -> str:
        return f"<Benchmark {self.name}: {', '.join(task.name for task in self.tasks)}>"

    def task(self, name: str) -> Task:
        """The task of that name or alias, letter case aside. Raises UnknownNameError."""
        return find(name, self.tasks, what=f"task of {self.name}")

    def dataset(self, name: str) -> Task:
        """The task or auxiliary data of that name or alias. Raises UnknownNameError."""
        return find(name, self.tasks + self.auxiliary, what=f"task or auxiliary data of {self.name}")

    @property
    def lineage(self) -> tuple[str, ...]:
        """Its name and those of the benchmarks that it extends: facts of their tasks hold here too."""
        return self.name, *self.extends

    @property
    def scored(self) -> tuple[Task, ...]:
        """The tasks that are no diagnostic sets."""
        return tuple(task for task in self.tasks if task.scored)

    @property
    def averaged(self) -> tuple[Task, ...]:
        """The tasks of the macro-average."""
        return tuple(task for task in self.tasks if task.averaged)

    @property
    def loss(self) -> bool:
        """Whether its average is one of negated losses."""
        return any(task.loss for task in self.averaged)

    @property
    def losses(self) -> tuple[Task, ...]:
        """The tasks whose score is a negated loss."""
        return tuple(task for task in self.scored if task.loss)

    @property
    def exact_scores(self) -> str:
        """Which scores a site does not round, and what these reveal, in a sentence; empty for none."""
        names = ", ".join(task.name for task in self.tasks if task.labels_public)
        if not names:
            return ""
        return (
            f"Scores of {names} have all digits, since the manifest says that their labels are public "
            "(private = false): labels can be read from scores (338 uploads for 99 % of STS-B)."
        )

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each scored task in the average."""
        return {task.name: task.weight for task in self.scored}

    @property
    def diagnostics(self) -> tuple[Task, ...]:
        """The diagnostic sets: reported by phenomenon, not averaged."""
        return tuple(task for task in self.tasks if not task.scored)

    def files(self, role: Role = "test") -> Iterator[TestFile]:
        """Every test file with a split of that role, in task order (AX, for example, has no dev split)."""
        for task in self.tasks:
            for file in task.files:
                if role in file.splits:
                    yield file

    def file(self, name: str) -> TestFile:
        """The test file of that name. Raises UnknownNameError."""
        names = []
        for task in self.tasks:
            for file in task.files:
                if file.name == name:
                    return file
                names.append(file.name)
        raise UnknownNameError(name, names, what="test file")
