"""Word vectors in the text format of GloVe and word2vec: on each line a word and its numbers."""

from __future__ import annotations

import gzip
from array import array
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from gluebench.data.errors import DataError


@dataclass(frozen=True, slots=True)
class Vectors:
    """Words and their vectors."""

    rows: dict[str, int]
    """Word to row of the matrix, in the order of the file."""
    matrix: NDArray[np.float32]
    """Shape (words, dimensions)."""

    def row(self, word: str) -> int | None:
        """The row of a word as written, else in lower case; None if the file has neither."""
        if word in self.rows:
            return self.rows[word]
        return self.rows.get(word.lower())


def read_vectors(path: Path, words: Collection[str] | None = None) -> Vectors:
    """The vectors of these words, or of all, in one pass over the file; `.gz` is decompressed.

    A first line of two integers (word2vec's header) is skipped. Words may contain spaces, as a few of GloVe
    840B do. Of a repeated word the last line counts, as for the paper's baselines. Raises DataError for lines
    without a word, a truncated last line, and lines of these words with a wrong number of numbers or a field
    that is not a number.
    """
    reader = _Reader(path, None if words is None else {word.encode() for word in words})
    with _open(path) as lines:
        reader.read(lines)
    return reader.vectors()


def vector_width(path: Path) -> int:
    """Return the width of a file of word vectors, from its first line."""
    with _open(path) as lines:
        fields = lines.readline().rstrip().split(b" ")
    width = int(fields[1]) if len(fields) == 2 and fields[1].isdigit() else len(fields) - 1
    if width < 1:
        raise DataError(f"{path}: line 1 has no numbers; expected a word and its vector on each line")
    return width


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb", buffering=1 << 20) as lines:
            yield cast("IO[bytes]", lines)
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{path}: cannot be read ({reason}); expected word vectors as text") from None


class _Reader:
    """Reads one file and collects its problems."""

    def __init__(self, path: Path, words: set[bytes] | None) -> None:
        self.path = path
        self.words = words
        self.several = {word.partition(b" ")[0] for word in words or () if b" " in word}
        """First parts of words with spaces: lines that begin so are parsed in full."""
        self.index: dict[bytes, int] = {}
        self.numbers = array("f")
        self.width = 0
        self.problems: list[str] = []

    def read(self, lines: IO[bytes]) -> None:
        for at, line in enumerate(lines, 1):
            end = line.find(b" ")
            if self.width and end > 0 and line.endswith(b"\n"):  # nearly every line
                word = line[:end]
                if self.words is not None and word not in self.words and word not in self.several:
                    continue
                if line.count(b" ") == self.width:
                    if self.words is None or word in self.words:
                        self._parse_quickly(at, word, line[end:])
                    continue
            text = line.rstrip()
            if at == 1 and len(text.split()) == 2 and all(map(bytes.isdigit, text.split())):
                continue  # word2vec's header
            self.width = self.width or _width(text)
            self._read_in_full(at, text, cut=not line.endswith(b"\n"))
        if not self.width:
            expected = "expected a word and its numbers on each line"
            self.problems.append(f"{self.path}: holds no vectors; {expected}")

    def _read_in_full(self, at: int, text: bytes, *, cut: bool) -> None:
        word, *numbers = text.rsplit(b" ", self.width)
        if len(numbers) < self.width or _is_number(word.rpartition(b" ")[2], within=word):
            self._reject(at, _count_problem(text, self.width, cut=cut))
        elif not word:
            self._reject(at, "the word before the numbers is missing (the line begins with a space)")
        elif self.words is None or word in self.words:
            self._parse_each(at, word, numbers)

    def _parse_quickly(self, at: int, word: bytes, text: bytes) -> None:
        """Add a line with the right number of fields; numpy parses it if it can."""
        try:
            values = np.fromstring(text.decode("latin-1"), dtype=np.float64, sep=" ").astype(np.float32)
        except ValueError:
            values = np.empty(0, np.float32)
        if len(values) != self.width or not np.isfinite(values).all():
            self._parse_each(at, word, text.split())
        else:
            self._store(word, array("f", values.tobytes()))

    def _parse_each(self, at: int, word: bytes, numbers: list[bytes]) -> None:
        invalid = [number for number in numbers if not _is_finite(number)]
        if invalid:
            self._reject(at, f'"{invalid[0].decode(errors="replace")}" is not a number')
        else:
            self._store(word, array("f", map(float, numbers)))

    def _store(self, word: bytes, values: array[float]) -> None:
        row = self.index.setdefault(word, len(self.index))
        self.numbers[row * self.width : (row + 1) * self.width] = values

    def _reject(self, at: int, problem: str) -> None:
        self.problems.append(f"{self.path}:{at}: {problem}")

    def vectors(self) -> Vectors:
        rows: dict[str, int] = {}
        for word in self.index:
            try:
                rows[word.decode()] = len(rows)
            except UnicodeDecodeError:
                self.problems.append(f"{self.path}: the word {word!r} is not UTF-8 text")
        if self.problems:
            raise DataError(self.problems)
        return Vectors(rows, np.frombuffer(self.numbers, dtype=np.float32).reshape(len(rows), self.width))


def _width(text: bytes) -> int:
    """Count the numbers at the end of a line; its first field is always a word."""
    count = 0
    for field in reversed(text.split(b" ")[1:]):
        if not _is_finite(field):
            break
        count += 1
    return count


def _is_finite(field: bytes) -> bool:
    try:
        return abs(float(field)) < float("inf")
    except ValueError:
        return False


def _is_number(field: bytes, *, within: bytes) -> bool:
    """Whether a word with spaces ends in a decimal, which is then an extra number, not part of the word."""
    return field != within and b"." in field and _is_finite(field)


def _count_problem(text: bytes, expected: int, *, cut: bool) -> str:
    width = _width(text)
    if width == expected - 1 and _is_finite(text.split(b" ")[0]):
        return f"{expected} numbers and no word before them"
    ending = "; the file is cut off here" if cut and width < expected else ""
    return f"{width} numbers, expected {expected}{ending}"
