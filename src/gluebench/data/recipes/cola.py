"""CoLA from its public release; recipes.toml has the procedure."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from gluebench.benchmark import Task
from gluebench.data.errors import DataError
from gluebench.data.recipes import RecipeResult
from gluebench.data.recipes.reading import Reader, table
from gluebench.data.sources.unpack import unpack

SPLITS = {"train": ("in_domain_train.tsv",), "dev": ("in_domain_dev.tsv", "out_of_domain_dev.tsv")}
ARCHIVE = "cola_public.zip"
NO_TEST = "test: left out; its sentences and labels are not in the public release"


def build(corpus: Path, task: Task, options: Mapping[str, Any]) -> RecipeResult:
    """The splits of a folder with the raw files, or with the archive they came in."""
    reader = Reader(corpus, task, options)
    names = reader.inputs(1) + ("label", "source", "mark")
    splits = {split: table(names, _read_rows(reader, files)) for split, files in SPLITS.items()}
    return reader.built(splits, (NO_TEST,))


def _read_rows(reader: Reader, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    words = reader.words("01")
    for name in names:
        path, lines = _find_lines(reader, name)
        for number, (source, label, mark, text) in reader.rows(path, lines, widths=(4,)):
            if label in words:
                yield text, words[label], source, mark
            else:
                reader.reject(path, number, f'the label is "{label}", expected 0 or 1')


def _find_lines(reader: Reader, name: str) -> tuple[Path | str, list[str]]:
    """Path of a file, in the folder or the archive, and its lines."""
    path: Path | None = reader.corpus / name
    if not (reader.corpus / name).is_file():
        path = reader.find(f"raw/{name}")  # tokenized/ has files of these names, too
    if path is not None:
        return path, reader.lines(path)
    archive = reader.find(ARCHIVE)
    if archive is None:
        problem = f"neither raw/{name} nor {ARCHIVE} in this folder"
        raise DataError(f"{reader.corpus}: {problem}")
    reader.read(archive)
    with TemporaryDirectory() as scratch:
        inside = unpack(archive, Path(scratch, "release")) / "raw" / name
        if not inside.is_file():
            raise DataError(f"{archive}: holds no raw/{name}; expected CoLA's release")
        return f"{archive}/{name}", reader.split(f"{archive}/{name}", inside.read_bytes())
