"""Small folders in the layouts of GLUE's release, and what preparing them gives."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.data.dataset import Dataset
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import Release, load_release

NONE_PUBLISHED = {"fingerprint": "", "text_fingerprint": ""}


class Prepared(NamedTuple):
    """What stands in a task's folder once it is prepared."""

    dataset: Dataset
    tables: Mapping[str, pa.Table]

    def column(self, name: str, split: str = "dev") -> list[Any]:
        values: list[Any] = self.tables[split].column(name).to_pylist()
        return values


def sized(name: str, rows: Mapping[str, int]) -> tuple[Benchmark, Task]:
    """GLUE with as many examples in a task's splits as a test has, and nothing published of them."""
    glue = load_benchmark("glue")
    task = glue.task(name)
    splits = {
        key: each._replace(size=rows.get(key, 1), **NONE_PUBLISHED) for key, each in task.splits.items()
    }
    task = task._replace(splits=splits)
    return glue._replace(tasks=tuple(task if each.name == name else each for each in glue.tasks)), task


def prepare_files(
    folder: Path, name: str, files: Mapping[str, bytes], *, rows: Mapping[str, int], **options: Any
) -> Prepared:
    """Write files (by their paths in the source folder) and prepare the task's splits that are among them."""
    source = folder / "glue_data"
    for path, content in files.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(content)
    benchmark, task = sized(name, rows)
    return prepared(source, folder / "data", benchmark, task, load_release("glue"), **options)


def prepared(
    source: Path, to: Path, benchmark: Benchmark, task: Task, release: Release, **options: Any
) -> Prepared:
    """Prepare the splits that are there and read them back."""
    options = {"partial": True, **options}
    dataset = prepare_from_folder(source, to, benchmark, task, release, **options)
    made = to / benchmark.name / task.name
    return Prepared(
        dataset, {split: pq.read_table(made / each.file) for split, each in dataset.splits.items()}
    )


def read_text(folder: Path, name: str, text: str, *, split: str = "dev", rows: int) -> Prepared:
    """Prepare one split of a task from the text of its TSV file."""
    file = load_benchmark("glue").task(name).splits[split].file
    return prepare_files(folder, name, {f"{name}/{file}": text.encode()}, rows={split: rows})


def write_hub_file(path: Path, columns: Mapping[str, Any], classes: Sequence[str] | None = None) -> None:
    """Write a Parquet file with the metadata that the hub's have."""
    table = pa.table(dict(columns))
    if classes is not None:
        info = {"info": {"features": {"label": {"names": list(classes), "_type": "ClassLabel"}}}}
        table = table.replace_schema_metadata({"huggingface": json.dumps(info)})
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path)
