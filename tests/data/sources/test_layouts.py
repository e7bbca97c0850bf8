"""One task in the forms in which people have GLUE on disk: the same rows come from all."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from folders import prepared, sized

from gluebench.data.errors import DataError
from gluebench.data.sources.release import load_release
from gluebench.data.sources.unpack import unpack

WORDS = ["entailment", "not_entailment"]
TEXTS = [('a "b" c', "d, e"), ("f", 'g "h"'), ("it\u2019s", "so")]
SPLITS = {"train": "train", "validation": "dev", "test": "test"}
ROWS = dict.fromkeys(SPLITS.values(), len(TEXTS))


def objects(split: str, *, numbers: bool = True) -> list[dict[str, Any]]:
    """The rows of a split as the hub has them; labels of test are hidden."""
    rows = []
    for at, (premise, hypothesis) in enumerate(TEXTS):
        label: Any = -1 if split == "test" else at % 2
        if not numbers:
            label = None if split == "test" else WORDS[at % 2]
        rows.append({"sentence1": premise, "sentence2": hypothesis, "label": label, "idx": at})
    return rows


def table(split: str, *, named: bool = True) -> pa.Table:
    """The rows of a split, with the metadata that `datasets` writes if `named`."""
    made = pa.Table.from_pylist(objects(split))
    info = {"info": {"features": {"label": {"names": WORDS[::-1], "_type": "ClassLabel"}}}}
    if not named:
        return made
    labels = [value if value < 0 else 1 - value for value in made.column("label").to_pylist()]
    made = made.set_column(made.column_names.index("label"), "label", [labels])
    return made.replace_schema_metadata({"huggingface": json.dumps(info)})


def write_stream(path: Path, rows: pa.Table) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, rows.schema) as writer:
        writer.write_table(rows)


def saved(folder: Path) -> None:
    """`DatasetDict.save_to_disk`: a folder for each split, whose state.json lists Arrow streams."""
    for name in SPLITS:
        home = folder / "rte" / name
        write_stream(home / "data-00000-of-00002.arrow", table(name).slice(0, 2))
        write_stream(home / "data-00001-of-00002.arrow", table(name).slice(2))
        files = [{"filename": f"data-0000{part}-of-00002.arrow"} for part in range(2)]
        (home / "state.json").write_text(json.dumps({"_data_files": files}))


def cache(folder: Path) -> None:
    for name in SPLITS:
        write_stream(folder / f"glue/rte/0.0.0/bcdcba79/glue-{name}.arrow", table(name))


def arrow_files(folder: Path) -> None:
    (folder / "RTE").mkdir()
    for name in SPLITS:
        file = pa.OSFile(str(folder / f"RTE/{name}.arrow"), "wb")
        with file, pa.ipc.new_file(file, table(name).schema) as writer:
            writer.write_table(table(name))


def parquet(folder: Path) -> None:
    (folder / "RTE").mkdir()
    for name in SPLITS:
        pq.write_table(table(name, named=False), folder / f"RTE/{name}.parquet")


def shards(folder: Path) -> None:
    (folder / "rte").mkdir()
    for name in SPLITS:
        for part in range(2):
            part_of = table(name).slice(2 * part, 2 if part == 0 else None)
            pq.write_table(part_of, folder / f"rte/{name}-0000{part}-of-00002.parquet")


def write_cells(
    path: Path, rows: Sequence[dict[str, Any]], *, delimiter: str = ",", numbered: bool = False
) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow([*([""] if numbered else []), *rows[0]])
        for number, row in enumerate(rows):
            writer.writerow([*([number] if numbered else []), *row.values()])


def comma(folder: Path) -> None:
    for name in SPLITS:
        write_cells(folder / f"RTE/{name}.csv", objects(name))


def pandas_comma(folder: Path) -> None:
    for name in SPLITS:
        write_cells(folder / f"rte/{name}.csv", objects(name), numbered=True)


def pandas_tab(folder: Path) -> None:
    for name, split in SPLITS.items():
        rows = [{**row, "label": row["label"] or ""} for row in objects(name, numbers=False)]
        write_cells(folder / f"RTE/{split}.tsv", rows, delimiter="\t")


def lines(folder: Path) -> None:
    for name, file in {"train": "train", "validation": "val", "test": "test"}.items():
        path = folder / f"data/rte/{file}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in objects(name, numbers=False)))


def message(number: int, content: bytes) -> bytes:
    """A field of Protocol Buffers with bytes, shorter than 16,384."""
    low, high = len(content) & 0x7F, len(content) >> 7
    return bytes([number << 3 | 2, *([low | 0x80, high] if high else [low])]) + content


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def example(row: dict[str, Any]) -> bytes:
    """A `tf.train.Example`: features of bytes and of packed integers."""
    entries = b""
    for name, value in row.items():
        kind, content = (1, value.encode()) if isinstance(value, str) else (3, varint(value))
        entries += message(1, message(1, name.encode()) + message(2, message(kind, message(1, content))))
    return message(1, entries)


def tfrecords(folder: Path) -> None:
    """As tensorflow_datasets writes them, but for the checksums of the data, which nobody reads here."""
    home = folder / "glue/rte/2.0.0"
    home.mkdir(parents=True)
    (home / "label.labels.txt").write_text("\n".join(WORDS))
    for name in SPLITS:
        data = b""
        for row in objects(name):
            body = example(row)
            head = len(body).to_bytes(8, "little")
            data += head + masked_crc(head).to_bytes(4, "little") + body + bytes(4)
        (home / f"glue-{name}.tfrecord-00000-of-00001").write_bytes(data)


def masked_crc(data: bytes) -> int:
    """CRC-32C by polynomial division, most significant bit first, then masked."""
    reverse = lambda value, bits: int(f"{value:0{bits}b}"[::-1], 2)  # noqa: E731
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= reverse(byte, 8) << 24
        for _ in range(8):
            rest = (rest << 1 ^ (0x1EDC6F41 if rest >> 31 else 0)) & 0xFFFFFFFF
    crc = reverse(rest, 32) ^ 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_the_checksum_is_that_of_the_standard() -> None:
    """RFC 3720 gives the CRC-32C of 32 zero bytes: 0x8A9136AA."""
    crc = 0x8A9136AA
    assert masked_crc(bytes(32)) == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def zipped(folder: Path) -> None:
    comma(folder / "made")
    with zipfile.ZipFile(folder / "RTE.zip", "w") as archive:
        for path in (folder / "made/RTE").iterdir():
            archive.write(path, f"RTE/{path.name}")
            path.unlink()
    (folder / "made/RTE").rmdir()
    (folder / "made").rmdir()


LAYOUTS = [
    saved,
    cache,
    arrow_files,
    parquet,
    shards,
    comma,
    pandas_comma,
    pandas_tab,
    lines,
    tfrecords,
    zipped,
]


@pytest.mark.parametrize("write", LAYOUTS)
def test_every_form_gives_the_same_rows(tmp_path: Path, write: Callable[[Path], None]) -> None:
    source = tmp_path / "source"
    source.mkdir()
    write(source)
    benchmark, task = sized("RTE", ROWS)
    found = prepared(source, tmp_path / "data", benchmark, task, load_release("glue"), partial=False)
    for split in ("train", "dev"):
        assert found.column("premise", split) == [premise for premise, _ in TEXTS]
        assert found.column("hypothesis", split) == [hypothesis for _, hypothesis in TEXTS]
        assert found.column("label", split) == [WORDS[at % 2] for at in range(len(TEXTS))]
        assert found.column("index", split) == [0, 1, 2]
    assert found.column("premise", "test") == [premise for premise, _ in TEXTS]
    assert "label" not in found.tables["test"].column_names


@pytest.mark.parametrize("below", ["", "0.0.0/bcdcba79"])
@pytest.mark.parametrize("train", [True, False])
def test_folders_for_the_parts_of_a_split(tmp_path: Path, train: bool, below: str) -> None:
    """The hub and caches of it have mnli_matched and mnli_mismatched beside mnli."""
    splits = {"matched": 3, "mismatched": 2}
    for part, rows in splits.items():
        for name in ("validation", "test"):
            home = tmp_path / f"mnli_{part}" / below
            home.mkdir(parents=True, exist_ok=True)
            labels = [-1] * rows if name == "test" else [*range(rows)]
            texts = [f"{part} {name} {at}" for at in range(rows)]
            columns = {"premise": texts, "hypothesis": texts, "label": labels, "idx": [*range(rows)]}
            pq.write_table(pa.table(columns), home / f"{name}-00000-of-00001.parquet")
    sizes = {f"{name}_{part}": rows for part, rows in splits.items() for name in ("dev", "test")}
    if train:
        (tmp_path / "mnli" / below).mkdir(parents=True)
        columns = {"premise": ["a"], "hypothesis": ["b"], "label": [2], "idx": [0]}
        pq.write_table(pa.table(columns), tmp_path / "mnli" / below / "train-00000-of-00001.parquet")
    benchmark, task = sized("MNLI", sizes)
    options = {"release": load_release("glue"), "partial": not train}
    found = prepared(tmp_path, tmp_path / "data", benchmark, task, **options)
    assert {*found.tables} == {*sizes, *(["train"] if train else [])}
    assert found.column("premise", "dev_matched") == [f"matched validation {at}" for at in range(3)]
    assert found.column("premise", "test_mismatched") == [f"mismatched test {at}" for at in range(2)]
    words = ["entailment", "neutral", "contradiction"]
    assert found.column("label", "dev_matched") == words
    assert found.column("label", "dev_mismatched") == words[:2]
    assert "label" not in found.tables["test_matched"].column_names


def test_a_file_that_is_no_tensorflow_record_is_told(tmp_path: Path) -> None:
    tfrecords(tmp_path)
    path = tmp_path / "glue/rte/2.0.0/glue-train.tfrecord-00000-of-00001"
    for content in (bytes(64), path.read_bytes()[:-9]):
        path.write_bytes(content)
        benchmark, task = sized("RTE", ROWS)
        with pytest.raises(DataError, match=r"of-00001: expected whole records of TensorFlow"):
            prepared(tmp_path, tmp_path / "data", benchmark, task, load_release("glue"))


def test_a_missing_shard_is_named(tmp_path: Path) -> None:
    shards(tmp_path)
    (tmp_path / "rte/train-00001-of-00002.parquet").unlink()
    benchmark, task = sized("RTE", ROWS)
    with pytest.raises(DataError, match=r"train-00001-of-00002\.parquet is missing"):
        prepared(tmp_path, tmp_path / "data", benchmark, task, load_release("glue"))


def test_a_cut_arrow_file_is_told(tmp_path: Path) -> None:
    cache(tmp_path)
    path = tmp_path / "glue/rte/0.0.0/bcdcba79/glue-train.arrow"
    path.write_bytes(path.read_bytes()[:-100])
    benchmark, task = sized("RTE", ROWS)
    with pytest.raises(DataError, match=r"glue-train\.arrow: .*damaged"):
        prepared(tmp_path, tmp_path / "data", benchmark, task, load_release("glue"))


def test_a_selection_of_rows_that_the_folder_keeps_apart_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    state = tmp_path / "rte/train/state.json"
    state.write_text(json.dumps(json.loads(state.read_text()) | {"_indices_data_files": [{"filename": "i"}]}))
    benchmark, task = sized("RTE", ROWS)
    with pytest.raises(DataError, match="without a selection of its rows"):
        prepared(tmp_path, tmp_path / "data", benchmark, task, load_release("glue"))


def test_a_zip_that_leads_out_of_its_folder_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "RTE.zip", "w") as archive:
        archive.writestr("../train.tsv", "sentence1\tsentence2\tlabel\n")
    with pytest.raises(DataError, match="leads out of the archive's folder"):
        unpack(tmp_path / "RTE.zip", tmp_path / "made")
    benchmark, task = sized("RTE", ROWS)
    with pytest.raises(DataError, match="leads out of the archive's folder"):
        prepared(tmp_path, tmp_path / "data", benchmark, task, load_release("glue"))


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (saved, "rte/train/state.json"),
        (cache, "glue/rte/0.0.0/bcdcba79/glue-train.arrow"),
        (tfrecords, "glue/rte/2.0.0/label.labels.txt"),
        (parquet, "RTE/train.parquet"),
        (lines, "data/rte/train.jsonl"),
    ],
)
@pytest.mark.parametrize("content", [b"[" * 100_000, b"\xff\xc8\x00", b""])
def test_a_damaged_file_is_told_by_name(
    tmp_path: Path, write: Callable[[Path], None], name: str, content: bytes
) -> None:
    write(tmp_path)
    (tmp_path / name).write_bytes(content)
    benchmark, task = sized("RTE", ROWS)
    with pytest.raises(DataError, match=Path(name).parts[-2]):
        prepared(tmp_path, tmp_path / "data", benchmark, task, load_release("glue"))


def test_texts_outside_of_an_arrow_file_are_told(tmp_path: Path) -> None:
    """Offsets of a column that lead beyond its bytes, as a flipped bit makes them."""
    cache(tmp_path)
    path = tmp_path / "glue/rte/0.0.0/bcdcba79/glue-train.arrow"
    data = path.read_bytes()
    offsets = b"".join(end.to_bytes(4, "little") for end in (0, 7, 8, 14))
    assert data.count(offsets) == 1
    path.write_bytes(data.replace(offsets, offsets[:12] + b"\x0e\x00\x00\x40"))
    benchmark, task = sized("RTE", ROWS)
    with pytest.raises(DataError, match=r"glue-train\.arrow: damaged"):
        prepared(tmp_path, tmp_path / "data", benchmark, task, load_release("glue"))
