"""Reading the files of a corpus without changing text, and listing every invalid row with its line."""

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from xml.parsers import expat

from gluebench.benchmark import Task
from gluebench.benchmark.figures import counted
from gluebench.data.errors import DataError
from gluebench.data.recipes import Columns, RecipeResult

HIDDEN = "test: labels left out, as in GLUE; the original publishes them (--test-labels yes)"
CLASSES = ("entailment", "neutral", "contradiction")
"""Classes of MultiNLI, SNLI and the diagnostic set."""


class Reader:
    """Reads the files of one corpus for a task; `check` raises all collected problems together."""

    def __init__(self, corpus: Path, task: Task, options: Mapping[str, Any]) -> None:
        self.corpus = corpus
        self.task = task
        self.options = options
        self.shown = options.get("test-labels") != "no"
        """Whether test keeps its labels."""
        self.files: list[Path] = []
        self.problems: list[str] = []

    def find(self, *names: str) -> Path | None:
        """The file with the first of these names that exists, up to two folders below the corpus; else None.

        Raises DataError if several folders of the same depth have that name.
        """
        for name in names:
            for pattern in (name, f"*/{name}", f"*/*/{name}"):
                paths = sorted(path for path in self.corpus.glob(pattern) if path.is_file())
                if len(paths) > 1:
                    several = " and ".join(str(path) for path in paths)
                    raise DataError(f"{several}: several files of one name; point at the folder of one")
                if paths:
                    return paths[0]
        return None

    def need(self, *names: str) -> Path:
        """As `find`, but raises DataError, with the names, if there is no such file."""
        path = self.find(*names)
        if path is None:
            raise DataError(f"{self.corpus}: no {' nor '.join(names)} in this folder")
        return path

    def read(self, path: Path) -> bytes:
        """The bytes of a file; adds it to `files`. Raises DataError if it is empty or a web page."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or 'cannot be read'}") from None
        self.files.append(path)
        if not data.strip():
            raise DataError(f"{path}: the file is empty")
        if data[:200].lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith((b"<!doctype html", b"<html")):
            raise DataError(f"{path}: a web page, not the data; download the file again")
        return data

    def lines(self, path: Path) -> list[str]:
        """The lines of a text file."""
        return self.split(path, self.read(path))

    def split(self, path: Path | str, data: bytes) -> list[str]:
        r"""Split at \n only, and remove one final \r; invalid UTF-8 gives an empty line and a problem."""
        raw = data.removeprefix(b"\xef\xbb\xbf").removesuffix(b"\n").split(b"\n")
        lines = []
        for number, line in enumerate(raw, 1):
            try:
                lines.append(line.removesuffix(b"\r").decode())
            except UnicodeDecodeError as error:
                self.reject(path, number, f"not UTF-8 text (byte {line[error.start]:#04x})")
                lines.append("")
        return lines

    def rows(
        self,
        path: Path | str,
        lines: Sequence[str],
        *,
        widths: Collection[int],
        first: int = 1,
        sep: str = "\t",
    ) -> Iterator[tuple[int, list[str]]]:
        """Line number and fields of each line from `first` on; another number of fields is a problem."""
        for number, line in enumerate(lines[first - 1 :], first):
            fields = line.split(sep)
            if len(fields) in widths:
                yield number, fields
            else:
                expected = " or ".join(map(str, sorted(widths)))
                self.reject(path, number, f"{counted(len(fields), 'column')}, expected {expected}")

    def header(self, path: Path, names: Sequence[str], expected: Sequence[str]) -> None:
        """Raises DataError unless the columns have these names."""
        if list(names) != list(expected):
            shown = " ".join(names)[:200]
            raise DataError(f'{path}:1: the header is "{shown}", expected {" ".join(expected)}')

    def reject(self, path: Path | str, line: int, problem: str) -> None:
        """Add a problem of one line."""
        self.problems.append(f"{path}:{line}: {problem}")

    def built(self, splits: Mapping[str, Columns], notes: Sequence[str] = ()) -> RecipeResult:
        """The result of the recipe. Raises DataError with all problems."""
        self.check()
        return RecipeResult(splits, dict(self.options), tuple(dict.fromkeys(self.files)), tuple(notes))

    def check(self) -> None:
        """Raises DataError with all problems so far."""
        if self.problems:
            raise DataError(self.problems)

    def words(self, classes: Sequence[str]) -> dict[str, str]:
        """Class of the corpus to label word, in order. Raises DataError if their numbers differ."""
        words = self.task.words
        if len(words) != len(classes):
            name = self.task.name
            raise DataError(f"{name}: {len(words)} labels, but this corpus has {len(classes)} classes")
        return dict(zip(classes, words, strict=True))

    def inputs(self, number: int) -> tuple[str, ...]:
        """The input columns. Raises DataError unless there are `number`, one for each text of the corpus."""
        columns = self.task.columns
        if len(columns) != number:
            name = self.task.name
            raise DataError(f"{name}: {len(columns)} columns, but this corpus has {number} texts a row")
        return columns

    def hide_labels(self, splits: Mapping[str, Columns], note: str = HIDDEN) -> list[str]:
        """Remove the labels of test unless `shown`; returns a note about that."""
        if self.shown:
            return []
        del splits["test"]["label"]
        return [note]


def table(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Columns:
    """Columns of these names, from rows of their values."""
    columns: Columns = {name: [] for name in names}
    for row in rows:
        for column, value in zip(columns.values(), row, strict=True):
            column.append(value)
    return columns


def train_and_dev(columns: Columns, count: int, seed: int) -> dict[str, Columns]:
    """Draw `count` rows for dev without replacement; the others are train. Both keep their order.

    Raises DataError unless some rows remain for train.
    """
    rows = range(len(columns["label"]))
    if not 0 <= count < len(rows):
        raise DataError(f"dev: {count} rows, expected fewer than the {len(rows)} there are, and none below 0")
    dev = set(random.Random(seed).sample(rows, count))
    train = [row for row in rows if row not in dev]
    return {"train": select(columns, train), "dev": select(columns, sorted(dev))}


def select(columns: Mapping[str, list[Any]], rows: Collection[int]) -> dict[str, list[Any]]:
    """The given rows of every column, in the given order."""
    selected = {}
    for name, values in columns.items():
        selected[name] = [values[row] for row in rows]
    return selected


class Record(NamedTuple):
    """One element of an XML corpus, as `<pair id="1"><t>...</t><h>...</h></pair>`."""

    line: int
    attributes: Mapping[str, str]
    texts: dict[str, list[str]]
    """Path of tags within the element, as "answers/answer", to the text of each such element."""

    def text(self, path: str) -> str:
        """The text at a path; empty if there is no such element."""
        return "".join(self.texts.get(path, ()))


def records(path: Path, data: bytes, tag: str) -> list[Record]:
    """Every element with a tag, in file order; external files are never opened.

    A document type that names a file is ignored; one that defines entities is refused, since their
    expansion has no bound. Raises DataError if the file is not well-formed.
    """
    elements: list[Record] = []
    inside: list[str] | None = None  # open tags within the current record; None outside records
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal inside
        if inside is not None:
            inside.append(name)
            elements[-1].texts.setdefault("/".join(inside), []).append("")
        elif name == tag:
            inside = []
            elements.append(Record(parser.CurrentLineNumber, attributes, {}))

    def end(_: str) -> None:
        nonlocal inside
        if inside:
            inside.pop()
        else:  # the record itself ends
            inside = None

    def text(content: str) -> None:
        """Add a text to every element that it is in."""
        open_tags = inside or []
        for depth in range(1, len(open_tags) + 1):
            elements[-1].texts["/".join(open_tags[:depth])][-1] += content

    def refuse(problem: str, name: str, *_: Any) -> None:
        raise DataError(f"{path}:{parser.CurrentLineNumber}: {problem.format(name)}")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = text
    parser.EntityDeclHandler = partial(refuse, "defines the entity {}, which corpora do not; refused")
    elsewhere = "&{}; is defined in another file, which is not read; write the character"
    parser.SkippedEntityHandler = partial(refuse, elsewhere)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise DataError(f"{path}:{error.lineno}: not well-formed XML: {what}") from None
    return elements
