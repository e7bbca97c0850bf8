"""The careful way through a file: any order of rows, and every fault of every row found.

`read_lines` is the definition, one line at a time. `columns.read_columns` reads files without a fault faster,
and `arrays.read_arrays` large files of labels; tests hold both against it on mutated files.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from gluebench.reading.notation import NumberError, RepeatedError, decimal
from gluebench.submission.forms import CellForm
from gluebench.submission.problems import SHOWN_PER_FILE
from gluebench.submission.relations import PartError
from gluebench.submission.submission import Values

INDEX = re.compile(rb"0|[1-9][0-9]{0,17}")
_SPARE_ROWS = 10_000
MOST_BYTES = 16 << 20
"""Files larger than this are not searched for mistakes."""


class Fault(NamedTuple):
    """One thing wrong with one row, or one index that no row has."""

    code: str
    line: int | None
    example: int | None
    value: bytes | None


class Rows(NamedTuple):
    """What a body holds: a value for every index, and every fault counted."""

    values: Values
    """In the order of `indices`; empty where there are faults."""
    indices: array[int]
    """Ascending; empty where there are faults, or when they are 0 to size - 1."""
    shown: list[Fault]
    """The first faults in the order of lines; missing indices last."""
    faults: Counter[str]
    """Every fault, by its code."""
    rows: int
    """Rows that are not blank."""
    blank: int
    synonyms: int
    """Rows whose label was a synonym."""


class Choices(NamedTuple):
    """What the author of a file decides about it."""

    words: tuple[str, ...] = ()
    """Label words in the order of class numbers or probabilities; empty if not given."""
    argmax: bool = False
    """Whether to take the label with the largest of several numbers."""


@dataclass(frozen=True)
class Layout:
    """What a file should hold."""

    words: tuple[str, ...]
    """Label words in the order of their codes; empty for other forms."""
    size: int
    """Indices run from 0 to size - 1."""
    synonyms: Mapping[str, int] = field(default_factory=dict)
    """Other words for a label, to its code."""
    glosses: tuple[str, ...] = ()
    """Meanings of the label words, in their order."""
    value: str = "prediction"
    """Name of the second column."""
    versions: Mapping[int, str] = field(default_factory=dict)
    """Number of rows to the other release of the data that has it, with what to do."""
    complete: bool = True
    """Whether every index must be there."""
    others: Mapping[int, str] = field(default_factory=dict)
    """Number of rows to the other split that has it: "dev", where test is expected."""
    score_range: tuple[float, float] | None = None
    """Lowest and highest score, of a file whose numbers may have lost their decimal points."""
    form: CellForm | None = None
    """How cells are read; None for labels and numbers."""
    ids: Sequence[str] = ()
    """Ids in the order of their indices; empty where the file has the indices."""
    names: tuple[str, ...] = ()
    """Names of the test file, one of which may be the key over all of its answers in JSON."""

    @property
    def key(self) -> str:
        """Name of the first column."""
        return "id" if self.ids else "index"

    @cached_property
    def known_words(self) -> tuple[str, ...]:
        """Synonyms and label words."""
        return tuple(self.synonyms) + self.words

    @cached_property
    def places(self) -> dict[bytes, int]:
        """Id, as bytes, to its index."""
        return {name.encode(): index for index, name in enumerate(self.ids)}

    @cached_property
    def codes(self) -> dict[bytes, int]:
        """Label word, as bytes, to its code; empty for numbers."""
        return {word.encode(): code for code, word in enumerate(self.words)}

    @cached_property
    def synonym_codes(self) -> dict[bytes, int]:
        """Other word for a label, as bytes, to its code."""
        return {word.encode(): code for word, code in self.synonyms.items()}

    @property
    def row_bytes(self) -> int:
        """Bytes of a row, on average, above which a file is too large."""
        longest = max(map(len, self.ids), default=0) * 4
        return longest + (4096 if self.form else 32)

    @property
    def most_rows(self) -> int:
        """Rows above which a file is not read row by row, so that it cannot fill the memory."""
        return 2 * self.size + _SPARE_ROWS


def read_lines(body: bytes, layout: Layout, *, first_line: int = 2) -> Rows:
    """The definition: one line at a time."""
    values: dict[int, Any] = {}
    shown: list[Fault] = []
    faults: Counter[str] = Counter()
    blank = synonyms = rows = 0
    for line, text in enumerate(body.split(b"\n")[:-1], first_line):
        if not text:
            blank += 1
            continue
        rows += 1
        line_faults, index, value, synonym = read_line(line, text, layout)
        if index is not None:
            if index in values:
                line_faults.insert(0, Fault("repeated-index", line, index, None))
            else:
                values[index] = value
                synonyms += synonym
        for fault in line_faults:
            faults[fault.code] += 1
            if len(shown) < SHOWN_PER_FILE:
                shown.append(fault)
    if layout.complete and len(values) < layout.size:
        missing = [index for index in range(layout.size) if index not in values]
        faults["missing-index"] += len(missing)
        room = max(0, SHOWN_PER_FILE - len(shown))
        shown += [Fault("missing-index", None, index, None) for index in missing[:room]]
    indices = [] if faults else sorted(values)
    column = _pack([values[index] for index in indices], layout)
    partial = array("q")
    if len(indices) != layout.size:
        partial.extend(indices)
    return Rows(column, partial, shown, faults, rows, blank, synonyms)


def _pack(values: Sequence[Any], layout: Layout) -> Values:
    """The values in the type in which a column keeps them."""
    if layout.form:
        return tuple(values)
    if layout.codes:
        return bytes(values)
    return array("d", values)


def read_line(line: int, text: bytes, layout: Layout) -> tuple[list[Fault], int | None, Any, bool]:
    """Faults, index (None when the row has none that counts), value, and whether that is a synonym."""
    fields = text.split(b"\t")
    if len(fields) != 2:
        return [Fault("columns", line, None, text)], None, 0, False
    key, cell = fields
    faults: list[Fault] = []
    index: int | None = None
    if layout.ids:
        index = layout.places.get(key)
    elif INDEX.fullmatch(key):
        index = int(key)
    if index is None:
        faults.append(Fault("bad-index", line, None, key))
    elif index >= layout.size:
        faults.append(Fault("extra-index", line, index, None))
        index = None

    value, code = _read_value(cell, layout)
    if code:
        wrong = cell
        if isinstance(value, PartError):
            wrong = str(value).encode()
        faults.append(Fault(code, line, index, wrong))
    is_synonym = bool(layout.codes) and not code and cell not in layout.codes
    return faults, index, value, is_synonym


def _read_value(text: bytes, layout: Layout) -> tuple[Any, str | None]:
    """The label code, number or cell, or a PartError; and the code of what is wrong with it."""
    if layout.form and (text or layout.form.blank):
        try:
            return layout.form.read(text.decode()), None
        except RepeatedError:
            return (), "repeated-part"
        except PartError as error:
            return error, "bad-cell"
        except ValueError:
            return (), "bad-cell"
    if not text:
        return 0, "empty-value"
    if layout.codes:
        value = layout.codes.get(text, layout.synonym_codes.get(text))
        if value is None:
            return 0, "unknown-label"
        return value, None
    try:
        return decimal(text.decode("ascii", "replace")), None
    except NumberError as error:
        return 0.0, str(error)
