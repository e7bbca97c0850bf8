"""AX, the diagnostic set, from the full file with its tags; recipes.toml has the procedure."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.errors import DataError
from gluebench.data.recipes import RecipeResult
from gluebench.data.recipes.reading import CLASSES, Reader, table

FILES = ("diagnostic-full.tsv", "diagnostics-full.tsv")
TAIL = ("Domain", "Premise", "Hypothesis", "Label")
HIDDEN = "test: labels left out as asked (--test-labels no); the paper publishes them"


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """The one split, test, with its labels unless they are to be left out."""
    reader = Reader(corpus, task, options)
    path = reader.need(*FILES)
    names = reader.inputs(2) + ("label", "domain", "phenomena")
    splits = {"test": table(names, _read_rows(reader, path))}
    reader.check()
    return reader.built(splits, reader.hide_labels(splits, HIDDEN))


def _read_rows(reader: Reader, path: Path) -> Iterator[tuple[Any, ...]]:
    lines = reader.lines(path)
    header = lines[0].split("\t")
    if tuple(header[-len(TAIL) :]) != TAIL:
        shown = " ".join(header)[:200]
        raise DataError(f'{path}:1: the header is "{shown}", expected columns of tags and {" ".join(TAIL)}')
    words = reader.words(CLASSES)
    names = _phenomenon_names(reader.task)
    for number, fields in reader.rows(path, lines, widths=(len(header),), first=2):
        *cells, domain, premise, hypothesis, label = fields
        tags = []
        for cell in cells:
            tags += [tag.strip() for tag in cell.split(";") if tag.strip()]
        problems = []
        for tag in tags:
            if tag not in names:
                problems.append(
                    f'the tag "{tag}" is neither a phenomenon of the manifest nor an alias of one'
                )
        if label not in CLASSES:
            problems.append(f'the label is "{label}", expected one of {", ".join(CLASSES)}')
        for problem in problems:
            reader.reject(path, number, problem)
        if not problems:
            yield premise, hypothesis, words[label], domain, [names[tag] for tag in tags]


def _phenomenon_names(task: Task) -> dict[str, str]:
    """Name or alias of a phenomenon to its name."""
    names = {}
    for phenomenon in task.phenomena:
        names[phenomenon.name] = phenomenon.name
        for alias in phenomenon.aliases:
            names[alias] = phenomenon.name
    return names
