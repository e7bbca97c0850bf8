"""Use of prepared data: `load` returns a table of examples, which are decoded when accessed."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from gluebench.benchmark import Benchmark, Split, Task, UnknownNameError, load_benchmark
from gluebench.data.dataset import INDEX, LABEL
from gluebench.data.errors import DataError
from gluebench.data.home import data_folder, split_file, task_folder
from gluebench.data.tsv import Example, read_examples

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes

SHOWN = 5
"""Examples that a notebook shows."""
PARTS = 10
"""Number of histogram bins of a plot of scores."""


def load(
    task: str,
    split: str = "train",
    data: str | os.PathLike[str] | None = None,
    *,
    benchmark: Benchmark | str | os.PathLike[str] = "glue",
) -> Table:
    """The examples of one split, by the task's name or alias; SNLI and other auxiliary data too.

    `data` is the folder they were prepared in, by default $GLUEBENCH_DATA. Reads only the Parquet file's
    metadata until rows are accessed. Raises DataError if the files are missing or wrong, UnknownNameError
    for an unknown task or split.
    """
    suite = load_benchmark(benchmark)
    record = suite.dataset(task)
    if split not in record.splits:
        raise UnknownNameError(split, list(record.splits), what=f"split of {record.name}")
    home = task_folder(data_folder(data), suite, record)
    return Table(record, record.splits[split], _source(home, record, record.splits[split]))


def load_split(folder: str | os.PathLike[str], benchmark: Benchmark, task: str, split: str) -> list[Example]:
    """All examples of one split of a data folder, as a list; raises what `load` raises."""
    return list(load(task, split, folder, benchmark=benchmark))


def table_of(task: Task, split: str, examples: list[Example]) -> Table:
    """A table of one split from examples in memory."""
    return Table(task, task.splits[split], _Listed(examples, task))


class Table(Sequence[Example]):
    """The examples of a split, in file order: iterate, index, or convert them for another library."""

    def __init__(self, task: Task, split: Split, source: _Parquet | _Listed) -> None:
        self.task = task
        self.split = split.name
        self._source = source

    def __repr__(self) -> str:
        return f"<{self.task.name} {self.split}: {len(self):,} examples, columns {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        from gluebench.benchmark import tables

        columns = _known_columns(self.task, labeled=self.labeled)
        rows = []
        for example in self[:SHOWN]:
            cells = [str(example.index)]
            cells += example.inputs.values()
            if self.labeled:
                cells.append(str(example.label))
            rows.append(cells)
        note = f"{len(self):,} examples"
        if len(self) > SHOWN:
            note += f", the first {SHOWN} shown"
        shown = tables.Table(columns, rows, title=f"{self.task.name} {self.split}", notes=[note])
        return tables.to_html(shown)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how often each label occurs, or a histogram of the scores in ten bins.

        Needs matplotlib (gluebench[plot]); draws into `ax`, or into a new figure. Returns the Axes. Raises
        ValueError for hidden labels.
        """
        from gluebench.scoring.plots import bars

        why = ""
        if not self.labeled:
            why = "its labels are hidden"
        elif self.task.form not in ("labels", "numbers"):
            why = f"its answers are {self.task.form}"
        if why:
            raise ValueError(f"{self.task.name} {self.split}: {why}; expected a split with labels or numbers")
        counts = dict(_counts(self.task, self.column(LABEL)))
        title = f"{self.task.name} {self.split}: {len(self):,} examples"
        return bars(counts, title=title, axis="% of the examples", ax=ax)

    def __len__(self) -> int:
        return len(self._source)

    def __iter__(self) -> Iterator[Example]:
        return self._source.examples(0, len(self))

    @overload
    def __getitem__(self, position: int) -> Example: ...
    @overload
    def __getitem__(self, position: slice) -> list[Example]: ...
    def __getitem__(self, position: int | slice) -> Example | list[Example]:
        """The example at a position in the file (which need not be its index), or those of a slice."""
        chosen = range(len(self))[position]
        if isinstance(chosen, int):
            return next(self._source.examples(chosen, chosen + 1))
        if chosen.step == 1:
            return list(self._source.examples(chosen.start, chosen.stop))
        return [self[at] for at in chosen]

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns: index, inputs, label unless it is hidden, and others of the source."""
        return self._source.columns

    @property
    def labeled(self) -> bool:
        """Whether there are labels."""
        return LABEL in self.columns

    @property
    def _has_words(self) -> bool:
        """Whether there are labels, and they are words, not scores."""
        return self.labeled and bool(self.task.labels)

    def column(self, name: str) -> list[Any]:
        """All values of one column. Raises UnknownNameError."""
        if name not in self.columns:
            raise UnknownNameError(name, self.columns, what=f"column of {self.task.name} {self.split}")
        return self._source.column(name)

    def to_arrow(self) -> pa.Table:
        """All columns as a pyarrow Table; `label` is a dictionary of label words, or double."""
        return self._source.arrow(list(self.columns))

    def to_pandas(self) -> Any:
        """A pandas DataFrame; `label` is categorical, its categories the task's label words in order."""
        frame = self.to_arrow().to_pandas()
        if self._has_words:
            frame[LABEL] = frame[LABEL].cat.set_categories(list(self.task.words))
        return frame

    def to_polars(self) -> Any:
        """A polars DataFrame; `label` is an Enum of the task's label words."""
        import polars

        frame = polars.DataFrame(self.to_arrow())
        if self._has_words:
            words = polars.Enum(list(self.task.words))
            frame = frame.with_columns(polars.col(LABEL).cast(polars.String).cast(words))
        return frame

    def to_huggingface(self) -> Any:
        """A `datasets.Dataset`; `label` is a ClassLabel whose ids are the manifest's order of words."""
        import datasets
        import pyarrow as pa

        table = self.to_arrow()
        if not self._has_words:
            return datasets.Dataset(table)
        words = table.column(LABEL).cast(pa.string())
        dataset = datasets.Dataset(table.set_column(table.schema.get_field_index(LABEL), LABEL, words))
        return dataset.cast_column(LABEL, datasets.ClassLabel(names=list(self.task.words)))

    def to_torch(self) -> Any:
        """A map-style `torch.utils.data.Dataset` of dicts: index, texts, and `label` as a tensor.

        A label is its code, an int64 (the position of its word in `task.words`), a float32 score, or the text
        of another form; hidden labels have no key. `torch.utils.data.DataLoader` batches it with its default
        collation.
        """
        import torch
        from torch.utils.data import Dataset as TorchDataset

        codes = {word: code for code, word in enumerate(self.task.words)}
        table = self

        class Examples(TorchDataset):  # type: ignore[misc,type-arg,unused-ignore]
            def __len__(self) -> int:
                return len(table)

            def __getitem__(self, position: int) -> dict[str, Any]:
                example = table[position]
                item: dict[str, Any] = {INDEX: example.index, **example.inputs}
                if isinstance(example.label, str):
                    item[LABEL] = torch.tensor(codes[example.label]) if codes else example.label
                elif example.label is not None:
                    item[LABEL] = torch.tensor(example.label, dtype=torch.float32)
                return item

        return Examples()


def _known_columns(task: Task, *, labeled: bool) -> tuple[str, ...]:
    """Index, inputs and, if there are labels, these; without other columns of the source."""
    columns = (INDEX,) + task.columns
    if labeled:
        columns += (LABEL,)
    return columns


def _counts(task: Task, labels: Sequence[Any]) -> Iterator[tuple[str, int]]:
    """How often each label word occurs, or scores in each bin of their range."""
    if task.words:
        for word in task.words:
            yield word, labels.count(word)
        return
    low, high = task.score_range or (min(labels), max(labels))
    step = (high - low) / PARTS or 1.0
    bins = Counter(min(int((label - low) / step), PARTS - 1) for label in labels)  # last includes `high`
    for number in range(PARTS):
        yield f"{low + number * step:g} to {low + (number + 1) * step:g}", bins[number]


def _source(home: Path, task: Task, split: Split) -> _Parquet | _Listed:
    """The Parquet file of a split if there is one, else the plain TSV. Raises DataError without either."""
    path = split_file(home, split)
    if path is None:
        absent = f"neither {split.name}.parquet nor {split.file} is there"
        raise DataError(f"{home}: {absent}; expected the {split.name} split of {task.name}")
    if path.suffix == ".parquet":
        return _Parquet(path, task)
    return _Listed(read_examples(path, task, split), task)


class _Parquet:
    """A prepared file; the row group read last is kept decoded."""

    def __init__(self, path: Path, task: Task) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._path = path
        self._task = task
        try:
            self._file = pq.ParquetFile(path, memory_map=True)
        except (OSError, pa.ArrowException) as error:
            raise DataError(f"{path}: not a Parquet file that can be read ({error})") from None
        self.columns: tuple[str, ...] = tuple(self._file.schema_arrow.names)
        missing = [name for name in (INDEX, *task.columns) if name not in self.columns]
        if missing:
            raise DataError(
                f"{path}: has no column {', '.join(missing)}, but {', '.join(self.columns)}; "
                f"prepare {task.name} again (gluebench data get)"
            )
        self._decoded: tuple[int, list[Example]] = (-1, [])

    def __len__(self) -> int:
        rows: int = self._file.metadata.num_rows
        return rows

    @cached_property
    def _starts(self) -> list[int]:
        """The position of the first row of each row group, and the end of the last."""
        metadata = self._file.metadata
        sizes = (metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
        return list(accumulate(sizes, initial=0))

    def examples(self, start: int, stop: int) -> Iterator[Example]:
        while start < stop:
            group = bisect_right(self._starts, start) - 1
            if self._decoded[0] != group:
                columns = _known_columns(self._task, labeled=LABEL in self.columns)
                table = self._file.read_row_group(group, columns=list(columns))
                self._decoded = (group, _examples(table, self._task))
            offset = self._starts[group]
            end = min(stop, self._starts[group + 1])
            yield from self._decoded[1][start - offset : end - offset]
            start = end

    def column(self, name: str) -> list[Any]:
        values: list[Any] = self.arrow([name]).column(name).to_pylist()
        return values

    def arrow(self, columns: list[str]) -> pa.Table:
        return self._file.read(columns=columns)


def _examples(table: pa.Table, task: Task) -> list[Example]:
    indices = table.column(INDEX).to_pylist()
    texts = zip(*(table.column(name).to_pylist() for name in task.columns), strict=True)
    labels = [None] * table.num_rows
    if LABEL in table.column_names:
        labels = table.column(LABEL).to_pylist()
    examples = []
    for index, row, label in zip(indices, texts, labels, strict=True):
        examples.append(Example(index, dict(zip(task.columns, row, strict=True)), label))
    return examples


class _Listed:
    """Examples in memory, as read from a plain TSV."""

    def __init__(self, examples: list[Example], task: Task) -> None:
        self._examples = examples
        self._task = task
        labeled = bool(examples) and examples[0].label is not None
        self.columns = _known_columns(task, labeled=labeled)

    def __len__(self) -> int:
        return len(self._examples)

    def examples(self, start: int, stop: int) -> Iterator[Example]:
        return iter(self._examples[start:stop])

    def column(self, name: str) -> list[Any]:
        if name == INDEX:
            return [example.index for example in self._examples]
        if name == LABEL:
            return [example.label for example in self._examples]
        return [example.inputs[name] for example in self._examples]

    def arrow(self, columns: list[str]) -> pa.Table:
        import pyarrow as pa

        values = {INDEX: pa.array(self.column(INDEX), pa.int64())}
        for name in self._task.columns:
            values[name] = pa.array(self.column(name), pa.string())
        if LABEL in self.columns:
            labels = pa.array(self.column(LABEL))
            if self._task.labels:
                labels = labels.dictionary_encode()
            values[LABEL] = labels
        return pa.table({name: values[name] for name in columns})
