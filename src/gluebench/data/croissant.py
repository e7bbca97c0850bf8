"""A benchmark's data as Croissant 1.1 with its RAI vocabulary: the JSON-LD that catalogs of data read."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from gluebench.benchmark import Benchmark, Task
from gluebench.data.dataset import INDEX, LABEL
from gluebench.data.errors import DataError
from gluebench.data.home import sha256_of, split_file, task_folder
from gluebench.data.table import load

CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")
CONTEXT: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
"""All terms of the standard, also those not used here: readers warn of any other context."""
ENCODINGS = {".parquet": "application/x-parquet", ".tsv": "text/tab-separated-values"}


class PublishedFile(NamedTuple):
    """One file of examples."""

    path: str
    """Its name in the document, such as "RTE/train.tsv"."""
    url: str
    """Its address, or its path relative to the document."""
    task: str
    split: str
    rows: int
    sha256: str
    labeled: bool


def croissant(benchmark: Benchmark, files: Iterable[PublishedFile], *, url: str = "") -> dict[str, Any]:
    """The description of these files, with the facts of the manifest alone; see `unstated`.

    `url` is the page of the data, by default that of the benchmark. Each file has a record set of its own,
    since test files lack labels.
    """
    card = benchmark.card
    files = list(files)
    tasks = {file.task: benchmark.dataset(file.task) for file in files}
    licenses = dict.fromkeys(task.source.license for task in tasks.values() if task.source.license)
    facts: dict[str, Any] = {
        "description": benchmark.description,
        "url": url or benchmark.url,
        "license": card.license or list(licenses),
        "version": card.version,
        "datePublished": card.published,
        "creator": [{"@type": "sc:Person", "name": name} for name in card.creators],
        "publisher": "",
        "citeAs": benchmark.citation,
    }
    if card.publisher:
        facts["publisher"] = {"@type": "sc:Organization", "name": card.publisher}
    for name, answer in card.rai.items():
        facts[f"rai:{name}"] = answer
    known_facts = {name: value for name, value in facts.items() if value not in ("", [])}
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": benchmark.name,
        "alternateName": benchmark.title,
        "conformsTo": list(CONFORMS_TO),
        **known_facts,
        "distribution": [_file_object(file) for file in files],
        "recordSet": [_record_set(file, tasks[file.task]) for file in files],
    }


def missing_card_keys(benchmark: Benchmark) -> list[str]:
    """The keys of the manifest that catalogs ask for and that are empty."""
    card = benchmark.card
    values = {
        "description": benchmark.description,
        "url": benchmark.url,
        "citation": benchmark.citation,
        "card.license": card.license,
        "card.version": card.version,
        "card.published": card.published,
        "card.rai": card.rai,
        "card.creators": card.creators or card.publisher,
    }
    return [name for name, value in values.items() if not value]


def _file_object(file: PublishedFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.url,
        "encodingFormat": ENCODINGS[Path(file.path).suffix],
        "sha256": file.sha256,
    }


def _record_set(file: PublishedFile, task: Task) -> dict[str, Any]:
    name = f"{file.task}/{file.split}"
    types = {INDEX: "sc:Integer"}
    for column in task.columns:
        types[column] = "sc:Text"
    if file.labeled:
        types[LABEL] = "sc:Float" if task.form == "numbers" else "sc:Text"
    fields = []
    for column, data_type in types.items():
        field = {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "dataType": data_type,
            "source": {"fileObject": {"@id": file.path}, "extract": {"column": column}},
        }
        fields.append(field)
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"{task.title}, {file.split} split: {file.rows:,} examples",
        "key": {"@id": f"{name}/{INDEX}"},
        "field": fields,
    }


def prepared_files(folder: Path, benchmark: Benchmark) -> Iterator[PublishedFile]:
    """The files of a folder of prepared data, with paths relative to it. Raises DataError for a wrong one."""
    for task in benchmark.tasks + benchmark.auxiliary:
        try:
            home = task_folder(folder, benchmark, task)
        except DataError:
            continue  # not prepared
        for split in task.splits.values():
            path = split_file(home, split)
            if path is not None:
                table = load(task.name, split.name, folder, benchmark=benchmark)
                name = path.relative_to(folder).as_posix()
                yield PublishedFile(
                    path=name,
                    url=name,
                    task=task.name,
                    split=split.name,
                    rows=len(table),
                    sha256=sha256_of(path),
                    labeled=table.labeled,
                )
