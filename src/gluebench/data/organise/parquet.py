"""Prepared data as an organiser's table: what `gluebench data build` made of a corpus."""

from __future__ import annotations

from pathlib import Path

from gluebench.data.dataset import read_dataset
from gluebench.data.errors import DataError
from gluebench.data.organise.read import Declared, RawTable


def read_parquet(path: Path) -> RawTable:
    """One split of a prepared task; its columns are known from the `dataset.json` beside it.

    Raises DataError where that is missing, ModuleNotFoundError without pyarrow.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    record = read_dataset(path.parent)
    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowException) as error:
        raise DataError([f"{path}: not a Parquet file that can be read ({error})"]) from None
    columns = [["" if cell is None else str(cell) for cell in each.to_pylist()] for each in table.columns]
    recipe = record.origin.recipe
    made = f"Built by the recipe {recipe} from {record.origin.location}." if recipe else ""
    return RawTable(
        path,
        "Parquet",
        tuple(table.column_names),
        [list(row) for row in zip(*columns, strict=True)],
        list(range(1, table.num_rows + 1)),
        Declared(record.columns, record.licence, made),
    )
