"""Compare prepared splits with the published ones, and list the rows that differ and how.

A fingerprint shows only that a split differs; marks show which rows differ, and in what way. They are four
bytes per row, from which no text can be recovered: 16 bits of a hash of its texts, 8 bits of a hash of only
their letters and digits, and a byte for its label.

The marks in the package are made by `python -m docs.tools.marks`.
"""

from __future__ import annotations

import json
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import SequenceMatcher
from hashlib import blake2b
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from gluebench.benchmark import Benchmark, Split, Task
from gluebench.data.dataset import FILE, Dataset, read_dataset, standing
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import Fingerprint, fingerprint_of
from gluebench.data.home import split_file, task_folder
from gluebench.data.prepared import other_release
from gluebench.data.sources.release import Release, load_release
from gluebench.data.table import Table, load
from gluebench.data.tsv import Example

HIDDEN = 255
"""Label byte of a row without a label."""
_SCORES = 200
"""Scores are hashed to a label byte below this."""
FORMAT = "gluebench.marks/1"


class Marks(NamedTuple):
    """The marks of a split's rows, in file order."""

    texts: array[int]
    """16 bits per row: a hash of the exact input columns."""
    letters: bytes
    """8 bits per row: a hash of their letters and digits, ignoring case."""
    labels: bytes
    """The code of the label word, a hash of a score, or HIDDEN."""

    def __len__(self) -> int:
        return len(self.letters)


def marks(task: Task, examples: Iterable[Example]) -> Marks:
    """The marks of examples, in their order."""
    texts = array("H")
    letters = bytearray()
    labels = bytearray()
    codes = {word: code for code, word in enumerate(task.words)}
    for example in examples:
        values = tuple(example.inputs.values())
        texts.append(text_mark(values))
        letters.append(letters_mark(values))
        if example.label in codes:
            labels.append(codes[str(example.label)])
        elif example.label is None:
            labels.append(HIDDEN)
        else:
            score = _digest(repr(example.label), 2)
            labels.append(int.from_bytes(score, "little") % _SCORES)
    return Marks(texts, bytes(letters), bytes(labels))


def text_mark(values: Sequence[str]) -> int:
    """16 bits of a hash of a row's texts."""
    return int.from_bytes(_digest("\x00".join(values), 2), "little")


def letters_mark(values: Sequence[str]) -> int:
    """8 bits of a hash of the letters and digits of a row's texts."""
    letters = ["".join(filter(str.isalnum, value.casefold())) for value in values]
    return _digest("\x00".join(letters), 1)[0]


def _digest(text: str, size: int) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()


def read_published_marks(benchmark: Benchmark) -> dict[tuple[str, str], Marks]:
    """Task and split name to the marks of the published rows; empty if the package has none."""
    known: dict[tuple[str, str], Marks] = {}
    for name in reversed(benchmark.lineage):
        resource = files(__package__).joinpath(f"{name}.marks")
        if resource.is_file():
            known.update(unpack_marks(resource.read_bytes()))
    return known


def unpack_marks(data: bytes) -> Iterator[tuple[tuple[str, str], Marks]]:
    """The splits of a file of marks: a line of JSON lists them, then each has texts, letters and labels.

    Raises ValueError for another format or a file cut short.
    """
    head, _, body = data.partition(b"\n")
    values = json.loads(head)
    if values["format"] != FORMAT or len(body) != 4 * sum(rows for _, _, rows in values["splits"]):
        raise ValueError(f"not a whole file of {FORMAT}")
    start = 0
    for task, split, rows in values["splits"]:
        texts = array("H", np.frombuffer(body, "<u2", rows, start).tolist())
        letters = body[start + 2 * rows : start + 3 * rows]
        yield (task, split), Marks(texts, letters, body[start + 3 * rows : start + 4 * rows])
        start += 4 * rows


MOST_ALIGNED = 5_000
"""With more rows between the first and the last difference, rows are compared in place, not aligned."""

BY_CHANCE = 0.005
"""A kind of change that explains at most this share of the differing rows is taken as a hash collision."""

ORDER = "another order"
MISSING = "missing"
ADDED = "added"
LABEL = "another label"
HIDDEN_LABEL = "label hidden"
SHOWN_LABEL = "label not published"
SPACING = "spaces, quotation marks, punctuation or case"
OTHER = "other text"


class Difference(NamedTuple):
    """One row that differs from the published one."""

    row: int
    """Its position in the file, from 0; for a missing row, its position in the published file."""
    kind: str
    detail: str = ""
    """Details beyond the kind: the two labels."""


def differences(task: Task, examples: Sequence[Example], known: Marks) -> list[Difference]:
    """Every row whose marks differ from those of the published rows, in file order."""
    own = marks(task, examples)
    if own == known:
        return []
    own_rows = list(zip(*own, strict=True))
    known_rows = list(zip(*known, strict=True))
    if own.texts != known.texts and sorted(own_rows) == sorted(known_rows):
        moved = []
        for row, (here, there) in enumerate(zip(own_rows, known_rows, strict=True)):
            if here != there:
                moved.append(Difference(row, ORDER))
        return moved
    # Rows are matched by their texts, or by letters and digits only if most texts differ.
    common = (Counter(own.texts) & Counter(known.texts)).total()
    if 2 * common >= min(len(own), len(known)):
        positions = _align(own.texts, known.texts)
    else:
        positions = _align(own.letters, known.letters)
    differing: list[Difference] = []
    for own_row, known_row in positions:
        differing += _row_differences(task, examples, own, known, here=own_row, there=known_row)
    # A rare kind of change is a collision of 16-bit hashes: about 30 changes are tried per row.
    counts = Counter(difference.kind for difference in differing)
    collisions = {kind for kind, _ in _CHANGES if counts[kind] <= len(differing) * BY_CHANCE}
    for number, difference in enumerate(differing):
        if difference.kind in collisions:
            differing[number] = difference._replace(kind=SPACING)
    return differing


def summary(rows: Sequence[Difference]) -> dict[str, int]:
    """Kind to the number of rows, most frequent first."""
    return dict(Counter(difference.kind for difference in rows).most_common())


def _align(own: Sequence[int], known: Sequence[int]) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of matching positions; None in place of a missing partner.

    Between the first and the last difference, rows are matched in place if their numbers are equal and at
    least half agree, or if they are too many; else by the longest runs of equal marks.
    """
    start = _common_prefix(own, known)
    end = min(_common_prefix(own[::-1], known[::-1]), min(len(own), len(known)) - start)
    own_rows = range(start, len(own) - end)
    known_rows = range(start, len(known) - end)
    agreeing = sum(own[row] == known[row] for row in own_rows if row in known_rows)
    in_place = len(own_rows) == len(known_rows) and agreeing * 2 >= len(own_rows)
    for row in range(start):
        yield row, row
    if in_place or max(len(own_rows), len(known_rows)) > MOST_ALIGNED:
        yield from zip_longest(own_rows, known_rows)
    else:
        own_marks = [own[row] for row in own_rows]
        known_marks = [known[row] for row in known_rows]
        matcher = SequenceMatcher(None, own_marks, known_marks, autojunk=False)
        for _, low, high, begin, stop in matcher.get_opcodes():
            yield from zip_longest(own_rows[low:high], known_rows[begin:stop])
    yield from zip(range(own_rows.stop, len(own)), range(known_rows.stop, len(known)), strict=True)


def _common_prefix(one: Sequence[int], other: Sequence[int]) -> int:
    """Length of the common prefix."""
    for position, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return position
    return min(len(one), len(other))


def _row_differences(
    task: Task, examples: Sequence[Example], own: Marks, known: Marks, *, here: int | None, there: int | None
) -> Iterator[Difference]:
    """What differs between a row and the published row; None for one that is not there."""
    if here is None and there is not None:
        yield Difference(there, MISSING)
    elif here is not None and there is None:
        yield Difference(here, ADDED)
    elif here is not None and there is not None:
        if own.texts[here] != known.texts[there]:
            values = tuple(examples[here].inputs.values())
            yield Difference(here, _kind_of_change(values, known.texts[there], known.letters[there]))
        label = own.labels[here]
        published_label = known.labels[there]
        if label == published_label:
            return
        if label == HIDDEN:
            yield Difference(here, HIDDEN_LABEL)
        elif published_label == HIDDEN:
            yield Difference(here, SHOWN_LABEL)
        elif task.words:
            words = f"{task.words[label]} here, {task.words[published_label]} published"
            yield Difference(here, LABEL, words)
        else:
            yield Difference(here, LABEL)


def _kind_of_change(values: tuple[str, ...], text: int, letters: int) -> str:
    """The kind of change that restores the published row, found by trying each; else SPACING or OTHER."""
    for kind, change in _CHANGES:
        for candidate in _candidates(values, change):
            if candidate != values and text_mark(candidate) == text:
                return kind
    if letters_mark(values) == letters:
        return SPACING
    return OTHER


def _candidates(values: tuple[str, ...], change: Callable[[str], str]) -> Iterator[tuple[str, ...]]:
    """A row with each of its texts changed in turn, then with all of them."""
    for position, value in enumerate(values):
        yield values[:position] + (change(value),) + values[position + 1 :]
    yield tuple(change(value) for value in values)


_CHANGES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("a space at its end is lost", lambda value: value + " "),
    ("a space at its beginning is lost", lambda value: " " + value),
    ("spaces at its ends were added", str.strip),
    ("a quotation mark at its beginning is lost", lambda value: '"' + value),
    ("a quotation mark at its beginning is lost", lambda value: '" ' + value.removeprefix(" ")),
    ("quotation marks are lost", lambda value: f'"{value}"'),
    ("quotation marks are doubled", lambda value: value.replace('""', '"')),
    ("it is still quoted as in CSV", lambda value: value[1:-1].replace('""', '"')),
    ("its quotation as in CSV was undone", lambda value: '"' + value.replace('"', '""') + '"'),
    ("it was normalized (Unicode NFC)", lambda value: unicodedata.normalize("NFD", value)),
    ("it was decomposed (Unicode NFD)", lambda value: unicodedata.normalize("NFC", value)),
    ("it has a byte order mark", lambda value: value.removeprefix("\ufeff")),
    ("a byte order mark is lost", lambda value: "\ufeff" + value),
)
"""Typical damage by copying and converting, each with the function that undoes it."""

State = Literal["as published", "differs", "not known", "absent"]


class SplitCheck(NamedTuple):
    """The result for one split."""

    task: str
    split: str
    state: State
    rows: int | None
    """None where it is absent."""
    size: int
    """The published number of rows."""
    fingerprint: str
    reason: str
    """How the state is known, or what differs, as a sentence without a period."""
    differences: tuple[Difference, ...] = ()
    """The rows that differ, where they can be identified."""


class Reference(NamedTuple):
    """What prepared splits are compared with."""

    release: Release
    marks: Mapping[tuple[str, str], Marks]
    """Task and split name to the marks of the published rows, where these are known."""
    against: Path | None = None
    """Another data folder to compare with, in place of the published data."""


def reference(benchmark: Benchmark, against: Path | None = None) -> Reference:
    """The published data of a benchmark, as far as known, or another folder to compare with."""
    published_marks = {} if against else read_published_marks(benchmark)
    return Reference(load_release(benchmark), published_marks, against)


def check_task(folder: Path, benchmark: Benchmark, task: Task, compared: Reference) -> Iterator[SplitCheck]:
    """Every split of a task, in the manifest's order. Raises DataError for a file that cannot be read."""
    home = None
    record = None
    with suppress(DataError):
        home = task_folder(folder, benchmark, task)
    if home and (home / FILE).is_file():
        record = read_dataset(home)
    for split in task.splits.values():
        if home is None or split_file(home, split) is None:
            yield SplitCheck(task.name, split.name, "absent", None, split.size, "", "not on disk")
        else:
            table = load(task.name, split.name, folder, benchmark=benchmark)
            yield _check(benchmark, table, split, record, compared)


def _check(
    benchmark: Benchmark, table: Table, split: Split, record: Dataset | None, compared: Reference
) -> SplitCheck:
    columns = table.task.columns
    fingerprint = fingerprint_of(columns, table.to_arrow().to_batches())
    if compared.against is not None:
        other = load(table.task.name, split.name, compared.against, benchmark=benchmark)
        other_fingerprint = fingerprint_of(columns, other.to_arrow().to_batches())
        state, reason = _compare_fingerprints(fingerprint, other_fingerprint, str(compared.against))
        expected_marks: Marks | None = marks(table.task, other)
    else:
        state, reason = _as_published(table, split, record, fingerprint, compared.release)
        expected_marks = compared.marks.get((table.task.name, split.name))
    rows: tuple[Difference, ...] = ()
    if state == "differs" and expected_marks:
        rows = tuple(differences(table.task, table, expected_marks))
    size = split.size
    if compared.against is not None and expected_marks is not None:
        size = len(expected_marks)
    return SplitCheck(table.task.name, split.name, state, len(table), size, fingerprint.full, reason, rows)


def _compare_fingerprints(fingerprint: Fingerprint, other: Fingerprint, name: str) -> tuple[State, str]:
    if fingerprint.full == other.full:
        return "as published", f"text and labels are those of {name}"
    if fingerprint.text == other.text:
        return "differs", f"the text is that of {name}, the labels are not"
    return "differs", f"text differs from that of {name}"


def _as_published(
    table: Table, split: Split, record: Dataset | None, fingerprint: Fingerprint, published_release: Release
) -> tuple[State, str]:
    recorded = record.splits.get(split.name) if record else None
    if recorded and recorded.fingerprint != fingerprint.full:
        return "differs", f"the file was changed after it was prepared ({FILE} has another fingerprint)"
    if len(table) != split.size:
        release = other_release(table.task, split, len(table))
        return "differs", f"{len(table):,} rows, published are {split.size:,}{release}"
    if split.fingerprint:
        return standing(fingerprint.full, fingerprint.text, split)
    hub = published_release.tasks[table.task.name].splits[split.name].hub
    if hub and record and any(file.sha256 == hub.sha256 for file in record.origin.files):
        return "as published", "made from the hub's file, whose checksum is the published one"
    return "not known", "the number of rows is right; what the published rows hold is not known here"
