"""`load`: the same examples whatever the file, decoded when asked for, handed on to every library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from gluebench import UnknownNameError, load
from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data import DataError, Table, load_split
from gluebench.data.dataset import Origin, read_dataset
from gluebench.data.fingerprint import fingerprint
from gluebench.data.home import data_folder, task_folder
from gluebench.data.prepared import ROW_GROUP, prepare

TINY = Path(__file__).resolve().parents[1] / "tiny.toml"
MANIFEST = """
[benchmark]
name = "mine"

[tasks.Mood]
columns = ["text"]
labels = { good = "a good mood", bad = "a bad mood" }
metrics = [{ name = "accuracy" }]
splits.train.size = ROWS
splits.test.size = 3

[tasks.Warmth]
columns = ["one", "two"]
score_range = [0.0, 5.0]
metrics = [{ name = "pearson" }]
splits.dev.size = 2
"""
ROWS = 2 * ROW_GROUP + 7


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    path = tmp_path_factory.mktemp("manifest") / "mine.toml"
    path.write_text(MANIFEST.replace("ROWS", str(ROWS)))
    return load_benchmark(path)


def words(count: int) -> list[str]:
    return ["good" if each % 3 else "bad" for each in range(count)]


@pytest.fixture(scope="module")
def folder(mine: Benchmark, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("data")
    train = pa.table(
        {
            "index": pa.array(range(ROWS), pa.int64()),
            "text": [f"text \t{each} " for each in range(ROWS)],
            "label": words(ROWS),
            "source": ["a"] * ROWS,
        }
    )
    test = pa.table({"index": pa.array([7, 5, 6], pa.int64()), "text": ["x", "", "“z”"]})
    origin = Origin("folder", "by hand")
    splits = {"train": train.to_batches(max_chunksize=1000), "test": test.to_batches()}
    prepare(home, mine, mine.task("Mood"), splits, origin=origin)
    dev = pa.table(
        {"index": pa.array([0, 1], pa.int64()), "one": ["a", "b"], "two": ["c", "d"], "label": [0.5, 5.0]}
    )
    prepare(home, mine, mine.task("Warmth"), {"dev": dev.to_batches()}, origin=origin)
    return home


@pytest.fixture
def train(mine: Benchmark, folder: Path) -> Table:
    return load("mood", "train", folder, benchmark=mine)


def test_examples_come_in_file_order_byte_for_byte(train: Table) -> None:
    assert len(train) == ROWS
    assert [each.index for each in train] == list(range(ROWS))
    assert train[ROW_GROUP].inputs == {"text": f"text \t{ROW_GROUP} "}
    assert [each.label for each in train] == words(ROWS)
    assert train.columns == ("index", "text", "label", "source")


@pytest.mark.parametrize("position", [0, -1, ROW_GROUP - 1, ROW_GROUP, ROWS - 1])
def test_any_position_gives_what_iteration_gives(train: Table, position: int) -> None:
    assert train[position] == list(train)[position]


@pytest.mark.parametrize(
    "cut", [slice(None, 3), slice(ROW_GROUP - 1, ROW_GROUP + 2), slice(None, None, 9000), slice(5, 5)]
)
def test_slices_may_cross_row_groups(train: Table, cut: slice) -> None:
    assert train[cut] == list(train)[cut]


def test_a_position_beyond_the_end_is_an_index_error(train: Table) -> None:
    with pytest.raises(IndexError):
        train[ROWS]


def test_hidden_labels_are_none_and_the_files_own_index_is_kept(mine: Benchmark, folder: Path) -> None:
    test = load("Mood", "test", folder, benchmark=mine)
    assert not test.labeled
    assert [(each.index, each.inputs["text"], each.label) for each in test] == [
        (7, "x", None),
        (5, "", None),
        (6, "“z”", None),
    ]


def test_the_record_beside_it_counts_and_fingerprints(mine: Benchmark, folder: Path, train: Table) -> None:
    record = read_dataset(task_folder(folder, mine, mine.task("Mood")))
    split = record.splits["train"]
    texts = [each.inputs["text"] for each in train]
    assert split.labels == {"good": words(ROWS).count("good"), "bad": words(ROWS).count("bad")}
    assert split.fingerprint == fingerprint({"text": texts}, words(ROWS))
    assert split.text_fingerprint == fingerprint({"text": texts})
    assert record.splits["test"].labels is None


def test_a_column_by_its_name(train: Table) -> None:
    assert train.column("source") == ["a"] * ROWS
    with pytest.raises(UnknownNameError, match="Did you mean text"):
        train.column("txet")


def test_arrow_pandas_and_polars_have_every_column(train: Table) -> None:
    assert train.to_arrow().column_names == list(train.columns)
    frame = train.to_pandas()
    assert list(frame["label"].cat.categories) == ["good", "bad"]
    assert list(frame["text"][:2]) == ["text \t0 ", "text \t1 "]
    polar = train.to_polars()
    assert polar["label"].to_list() == words(ROWS)
    assert str(polar["label"].dtype) == "Enum(categories=['good', 'bad'])"


def test_huggingface_has_class_labels_in_the_manifests_order(
    train: Table, mine: Benchmark, folder: Path
) -> None:
    found = train.to_huggingface()
    assert found.features["label"].names == ["good", "bad"]
    assert found[:4]["label"] == [1, 0, 0, 1]
    assert load("Warmth", "dev", folder, benchmark=mine).to_huggingface()[1]["label"] == 5.0


def test_torch_gives_codes_and_scores_as_tensors(train: Table, mine: Benchmark, folder: Path) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed; the training extra brings it")
    first = train.to_torch()[0]
    assert (first["index"], first["text"], first["label"].item()) == (0, "text \t0 ", 1)
    batch = next(iter(torch.utils.data.DataLoader(train.to_torch(), batch_size=4)))
    assert batch["label"].tolist() == [1, 0, 0, 1]
    score = load("Warmth", "dev", folder, benchmark=mine).to_torch()[0]["label"]
    assert score.dtype == torch.float32
    assert score.item() == 0.5


def test_the_plain_files_of_the_sample_load_alike(sample: Benchmark, sample_folder: Path) -> None:
    table = load("RTE", "dev", sample_folder, benchmark=sample)
    assert list(table) == load_split(sample_folder, sample, "RTE", "dev")
    assert table.to_arrow().column("label").to_pylist() == [each.label for each in table]


def test_unknown_names_and_absent_data_are_told_with_the_way_to_get_them(
    mine: Benchmark, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean Mood"):
        load("Moood", "train", folder, benchmark=mine)
    with pytest.raises(UnknownNameError, match="no split of Mood is called 'dev'"):
        load("Mood", "dev", folder, benchmark=mine)
    with pytest.raises(DataError, match="gluebench data get mine --task Mood"):
        load("Mood", "train", tmp_path, benchmark=mine)


def test_a_file_that_is_no_parquet_is_told(mine: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "Mood").mkdir()
    (tmp_path / "Mood" / "train.parquet").write_bytes(b"<html>Not found</html>")
    with pytest.raises(DataError, match=r"train\.parquet: not a Parquet file"):
        load("Mood", "train", tmp_path, benchmark=mine)


def test_the_folder_is_the_named_one_or_the_variables_or_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert data_folder(tmp_path) == tmp_path
    monkeypatch.setenv("GLUEBENCH_DATA", str(tmp_path / "kept"))
    assert data_folder() == tmp_path / "kept"
    monkeypatch.delenv("GLUEBENCH_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder() == tmp_path / "cache" / "gluebench"


def test_a_part_of_a_benchmark_finds_the_data_of_the_whole(
    mine: Benchmark, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(MANIFEST.replace("ROWS", str(ROWS)))
    (tmp_path / "part.toml").write_text(
        '[benchmark]\nname = "part"\nextends = "./mine.toml"\ntasks = ["Mood"]\n'
    )
    assert len(load("Mood", "train", folder, benchmark=tmp_path / "part.toml")) == ROWS


def test_opening_decodes_nothing_and_imports_no_other_library(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(MANIFEST.replace("ROWS", str(ROWS)))
    code = (
        "import json, sys, gluebench\n"
        f"table = gluebench.load('Mood', data={str(folder)!r}, benchmark={str(tmp_path / 'mine.toml')!r})\n"
        "len(table)\n"
        "heavy = {'pandas', 'polars', 'datasets', 'torch'} & set(sys.modules)\n"
        "print(json.dumps([sorted(heavy), table._source._decoded[0]]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], -1]


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [("index", 0, "index 0 stands in the rows 1 and 3"), ("label", "fine", "1 rows have the label 'fine'")],
)
def test_what_no_split_may_have_is_refused_and_nothing_is_left(
    mine: Benchmark, tmp_path: Path, column: str, value: object, message: str
) -> None:
    rows: dict[str, list[object]] = {"index": [0, 1, 2], "text": ["a", "b", "c"], "label": ["good"] * 3}
    rows[column][2] = value
    table = pa.table(rows)
    with pytest.raises(DataError, match=message):
        prepare(tmp_path, mine, mine.task("Mood"), {"test": table.to_batches()}, origin=Origin("folder", "x"))
    assert list((tmp_path / "mine").iterdir()) == []


def test_a_folder_of_something_else_is_left_alone(mine: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "mine" / "Mood").mkdir(parents=True)
    (tmp_path / "mine" / "Mood" / "thesis.txt").write_text("mine")
    table = pa.table({"index": pa.array(range(3), pa.int64()), "text": ["a", "b", "c"]})
    with pytest.raises(FileExistsError, match=r"dataset\.json"):
        prepare(tmp_path, mine, mine.task("Mood"), {"test": table.to_batches()}, origin=Origin("folder", "x"))
    assert (tmp_path / "mine" / "Mood" / "thesis.txt").read_text() == "mine"


def test_opening_prepared_data_imports_no_other_room() -> None:
    """Rooms of submissions and scores take as long to import as a split takes to open."""
    code = "import sys, gluebench; gluebench.load; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in done.stdout.split() if name.startswith("gluebench.")}
    assert rooms <= {"benchmark", "data", "reading", "version"}
