"""Reading the file of examples that an organiser draws from: its texts, and nothing else that is in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gluebench.benchmark import Task
from gluebench.data import DataError, Example, Table, table_of

INDEX = "index"
OTHER = ("sentence1", "sentence2")
"""What the two texts are called in files of GLUE's release."""
MOST = 20
"""Problems that are told."""


def split_of(task: Task) -> str:
    """The split that the task's first metric is of."""
    return task.file(task.metrics[0].file).splits["test"].name


def suited(task: Task) -> bool:
    """Whether people can label its examples in both directions: pairs of texts, scored by their labels."""
    return bool(task.labels) and len(task.columns) == 2 and not task.scored


def read_table(data: bytes, task: Task) -> Table:
    """The examples of a tab-separated file with a header; labels, tags and other columns are passed over.

    The texts are in columns named as the manifest has them, or sentence1 and sentence2. Without a column
    `index`, rows are counted from 0. Raises DataError with what is wrong in which line.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError([f"line {line}: not UTF-8 text; save the file as UTF-8"]) from None
    lines = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]
    problems: list[str] = []
    examples = list(_examples(lines, task, problems))
    if problems:
        more = [f"and {len(problems) - MOST:,} more of the kind"] if len(problems) > MOST else []
        raise DataError(problems[:MOST] + more)
    return table_of(task, split_of(task), examples)


def _examples(lines: Sequence[str], task: Task, problems: list[str]) -> Iterator[Example]:
    header = [name.strip().casefold() for name in lines[0].split("\t")]
    places = _places(header, task)
    at = header.index(INDEX) if INDEX in header else None
    size = task.splits[split_of(task)].size
    seen: set[int] = set()
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(header):
            problems.append(f"line {number}: {len(cells)} columns; expected {len(header)}, as the header has")
            continue
        told = cells[at] if at is not None else str(number - 2)
        index = int(told) if told.isascii() and told.isdigit() and len(told) < 10 else -1
        if not 0 <= index < size or index in seen:
            wrong = "it stands twice" if index in seen else f"expected a number from 0 to {size - 1}"
            problems.append(f"line {number}: index {told[:20]!r}; {wrong}: {task.name} has {size} examples")
        seen.add(index)
        texts = (cells[place] for place in places)
        yield Example(index, dict(zip(task.columns, texts, strict=True)), None)


def _places(header: Sequence[str], task: Task) -> list[int]:
    """Where the texts stand."""
    for names in (task.columns, OTHER):
        if all(name.casefold() in header for name in names):
            return [header.index(name.casefold()) for name in names]
    raise DataError(
        [
            f"line 1: the header has {', '.join(header)[:200] or 'nothing'}; expected the columns "
            f"{' and '.join(task.columns)} (or {' and '.join(OTHER)}), separated by tabs"
        ]
    )
