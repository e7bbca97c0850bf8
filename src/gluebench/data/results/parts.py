"""What a reader of one file gives: the scores of a system on the items of a task."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import UnknownNameError
from gluebench.benchmark.figures import counted
from gluebench.data.errors import DataError
from gluebench.reading.notation import LARGEST, PLACE, NumberError, decimal
from gluebench.scoring.table import Unit

NAMED = 3
"""How many items a message names."""
LABELS = 200
"""Most gold labels that are taken for a set of labels; more are free answers."""
LONGEST = 60
"""Letters of an item's name in a message."""
CLASSES = 20
"""Most labels that may be whole numbers without doubt that they are classes."""
RIGHT_WORDS = {"true": 1.0, "right": 1.0, "correct": 1.0, "false": 0.0, "wrong": 0.0, "incorrect": 0.0}


class ItemScore(NamedTuple):
    """The score of one item."""

    score: float
    text: str = ""
    """Fingerprint of the item's text; empty if the file does not have it."""
    cluster: str = ""
    """Items of one cluster are dependent; empty if the item is independent."""
    categories: Mapping[str, str] = {}
    """Column to category."""


class SystemScores(NamedTuple):
    """The scores of one system on one task, as one file has them."""

    system: str
    task: str
    """Empty if the file does not name it."""
    rows: Mapping[str, ItemScore]
    """Item to its score, in the order of the file."""
    notes: Sequence[str] = ()
    """What was left out."""
    unit: Unit = "items"
    """Of what the rows are."""
    time: str | None = None
    """When it was made, if other files may have more rows of the same system and task; else None."""
    solved_only: bool = False
    """Whether the file may lack unsolved items, so that these follow from a list of all items."""


class GoldAnswer(NamedTuple):
    """The gold labels of one item."""

    labels: frozenset[str]
    """Any of them is right."""
    cluster: str = ""
    categories: Mapping[str, str] = {}


@dataclass(frozen=True)
class Settings:
    """What the files do not say."""

    metric: str | None = None
    gold: Mapping[str, Mapping[str, GoldAnswer]] | None = None
    """Column of gold labels to item to its labels; that of a file of JSON lines is named ""."""
    synonyms: Mapping[str, str] = field(default_factory=dict)
    """Predicted label to the label that it counts as."""
    predicted: Counter[str] = field(default_factory=Counter)
    """How often each label has been compared, as it is predicted."""
    known: set[str] = field(default_factory=set)
    """The gold labels of the items that have been compared."""
    whole: dict[str, int] = field(default_factory=dict)
    """Column of gold labels that is read to the number of them, if they are many whole numbers; else to 0."""

    @property
    def several(self) -> bool:
        """Whether there are several columns of gold labels."""
        return self.gold is not None and len(self.gold) > 1

    def answers(self, column: str = "") -> Mapping[str, GoldAnswer]:
        """Item to gold labels of this column, or of the only one; see `require_labels`."""
        gold = self.gold or {}
        answers = gold[column or next(iter(gold))]
        if column not in self.whole:
            labels: set[str] = set()
            for answer in answers.values():
                labels |= answer.labels
            self.require_labels(column, labels)
        return answers

    def require_labels(self, column: str, labels: Set[str]) -> None:
        """Raise DataError for gold labels that are numbers, of which only the same would be right.

        These are fractions, or many whole numbers with wide gaps between them. Others are noted.
        """
        numbers: list[int] = []
        if len(labels) > CLASSES and all(map(_is_whole, labels)):
            numbers = [int(label) for label in labels]
        has_gaps = bool(numbers) and max(numbers) - min(numbers) >= 2 * len(numbers)
        if has_gaps or any(map(is_fraction, labels)):
            raise DataError(
                f"{_gold_labels(column)} are numbers, not labels; expected labels. "
                "For numbers, give scores of each item. Write classes with numbers as words (c17)"
            )
        self.whole[column] = len(numbers)

    def notes(self) -> list[str]:
        """Notes on labels that may be numbers, and on predicted labels that are not among few gold labels.

        Also on synonyms of labels that no prediction has.
        """
        notes = []
        for column, count in self.whole.items():
            if count:
                notes.append(
                    f"{_gold_labels(column)} are {count:,} whole numbers, and only the same "
                    "number is right; if they are amounts, not classes, score each item yourself"
                )
        gold_labels = set(self.known)
        for column, answers in (self.gold or {}).items():
            different = {answer.labels for answer in answers.values()}
            gold_labels.update(*different)
            all_differ = len(answers) > CLASSES and len(different) == len(answers)
            if self.several and column in self.whole and all_differ:
                notes.append(
                    f"{_gold_labels(column)} differ in every item; if they are texts, leave that column out"
                )

        strange = []
        for label, count in self.predicted.items():
            if self.synonyms.get(label, label) not in gold_labels:
                strange.append(f"{label} ({count:,} times)")
        if strange and len(gold_labels) <= LABELS:
            notes.append(
                "predicted labels that count as wrong, since no gold label is like them: "
                f"{first_few(strange)}. If one is another name of a gold label: --synonym LABEL=LABEL"
            )
        for label in self.synonyms:
            if label not in self.predicted:
                notes.append(f"--synonym {label}: no prediction has this label")
        return notes

    def right(self, label: str, answer: GoldAnswer, *, at: str) -> float:
        """1.0 if the predicted label is a gold label, else 0.0. `at` is its file and line.

        Raises DataError for a fraction: as labels, all probabilities would be wrong without a message.
        """
        self.predicted[label] += 1
        self.known.update(answer.labels)
        right = self.synonyms.get(label, label) in answer.labels
        if not right and is_fraction(label) and not any(map(is_fraction, answer.labels)):
            raise DataError(
                f"{at}: {label!r}, where the gold label is {first_few(answer.labels)}; expected labels. For "
                "probabilities and numbers, give the scores of each item instead"
            )
        return float(right)


def _gold_labels(column: str) -> str:
    """What messages call the gold labels of a column, or of the only one."""
    return f"the gold labels of {column}" if column else "the gold labels"


def is_fraction(label: str) -> bool:
    """Whether a label is a number that is not an integer."""
    number = score_of(label)
    return number is not None and number % 1 != 0


def _is_whole(label: str) -> bool:
    return PLACE.fullmatch(label.removeprefix("-")) is not None


def fingerprint(text: str) -> str:
    """A short hash of an item's text."""
    return sha256(text.encode()).hexdigest()[:16]


def first_few(items: Iterable[str]) -> str:
    """ "a, b, c, ..." """
    names = list(items)
    if len(names) > NAMED:
        names[NAMED:] = ["..."]
    return ", ".join(names)


def score_of(value: Any) -> float | None:
    """A number of usable size, a truth value, or a word for right or wrong; None for anything else."""
    if isinstance(value, str):
        text = value.strip().casefold()
        if text in RIGHT_WORDS:
            return RIGHT_WORDS[text]
        try:
            return decimal(text)
        except NumberError:
            return None
    return float(value) if isinstance(value, int | float) and abs(value) <= LARGEST else None


def label_of(value: Any) -> str:
    """A label as text: `true`, "true" and "True" are one label, and so are 1, "1" and 1.0."""
    text = str(value).strip()
    if text.endswith(".0") and _is_whole(text[:-2]):
        return text[:-2]
    return text.lower() if text in ("True", "False") else text


def choose_metric(path: Path, metrics: Sequence[str], metric: str | None, prefer: Sequence[str] = ()) -> str:
    """The metric to read: that named by the user, the only one, or the first that is preferred.

    Raises UnknownNameError, and DataError if there are none, or the user has to choose.
    """
    if not metrics:
        raise DataError(f"{path}: no item has a score")
    if metric is not None:
        if metric not in metrics:
            raise UnknownNameError(metric, metrics, what=f"metric of {path}")
        return metric
    if len(metrics) == 1:
        return metrics[0]
    for name in prefer:
        if name in metrics:
            return name
    raise DataError(
        f"{path}: its metrics are {', '.join(metrics)}; choose one with --metric NAME (metric=NAME)"
    )


def missing_note(path: Path, items: Sequence[str], why: str) -> list[str]:
    """A note on the items that have no score; none if there are none."""
    if not items:
        return []
    return [f"{path.name}: {counted(len(items), 'item')} {why}, left out: {first_few(items)}"]


def part_of(
    path: Path,
    system: str,
    task: str,
    items: Iterable[tuple[str, ItemScore | None]],
    why: str,
    *,
    hint: str = "",
) -> SystemScores:
    """The part of these items, and a note on those that are None, with `why`.

    Raises DataError, with the hint, for an item that is there twice.
    """
    rows: dict[str, ItemScore] = {}
    missing = []
    for item, row in items:
        if item in rows:
            shown = item if len(item) <= LONGEST else f"{item[:LONGEST]}..."
            raise DataError(f"{path}: item {shown} has two scores of system {system}; expected one{hint}")
        if row is None:
            missing.append(item)
        else:
            rows[item] = row
    return SystemScores(system, task, rows, missing_note(path, missing, why))


def entry(path: Path, value: Any, *keys: str) -> Any:
    """The value at nested keys. Raises DataError that names the first missing one."""
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            raise DataError(f"{path}: expected the key {key!r} ({' / '.join(keys)}), which is missing")
        value = value[key]
    return value
