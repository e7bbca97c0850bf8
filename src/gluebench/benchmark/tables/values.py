"""The values of a table for programs: CSV, JSON and a DataFrame."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from gluebench.benchmark.extras import optional


class _Echo:
    """A file that returns what is written to it."""

    def write(self, text: str) -> str:
        return text


def csv_lines(
    fields: Sequence[str],
    rows: Iterable[Sequence[object] | Mapping[str, object]],
    *,
    delimiter: str = ",",
    header: bool = True,
) -> Iterator[str]:
    """Yield a header and the rows as lines of CSV; None, or a field that a row lacks, is an empty cell."""
    writer = csv.writer(_Echo(), delimiter=delimiter, lineterminator="\n")
    if header:
        yield writer.writerow(fields)
    for row in rows:
        if isinstance(row, Mapping):
            yield writer.writerow([row.get(field) for field in fields])
        else:
            yield writer.writerow(row)


def to_csv(fields: Sequence[str], rows: Iterable[Sequence[object] | Mapping[str, object]]) -> str:
    """The lines of `csv_lines` as one text."""
    return "".join(csv_lines(fields, rows))


def to_json(data: object) -> str:
    """The data as one JSON document; the order of keys is kept."""
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def to_frame(fields: Sequence[str], records: Iterable[Mapping[str, object]]) -> Any:
    """A pandas DataFrame with these columns, a row for each record; what a record lacks is missing.

    Raises ImportError without pandas.
    """
    pandas = optional("pandas", "A DataFrame", "pandas")
    rows = []
    for record in records:
        rows.append([record.get(field) for field in fields])
    types = {}
    for position, field in enumerate(fields):
        # Without a type of its own, a column of ints with gaps would become one of floats.
        if {type(row[position]) for row in rows} == {int, type(None)}:
            types[field] = "Int64"
    return pandas.DataFrame(rows, columns=list(fields)).astype(types)
