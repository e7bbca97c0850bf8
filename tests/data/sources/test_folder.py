"""Preparing from a folder: which layout is read, what is told where none is, and what a failure leaves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from folders import prepare_files, prepared, read_text, sized, write_hub_file

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.data import load_split
from gluebench.data.dataset import Origin, SourceFile, read_dataset
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import fingerprint
from gluebench.data.sources.folder import find, prepare_from_folder
from gluebench.data.sources.release import Release, load_release

SENTENCES = "sentence\tlabel\nA bell rang.\t1\nA bell rung.\t0\n"


def cola(folder: Path, *, name: str = "CoLA") -> None:
    """Write a complete task: two examples in each split."""
    (folder / name).mkdir(parents=True)
    for split in ("train", "dev"):
        (folder / name / f"{split}.tsv").write_text("a\t1\t\tA bell rang.\nb\t0\t*\tA bell rung.\n")
    (folder / name / "test.tsv").write_text("index\tsentence\n0\tIt rains.\n1\tRain it.\n")


ALL = {"train": 2, "dev": 2, "test": 2}


def location(source: Path, to: Path) -> str:
    benchmark, task = sized("CoLA", ALL)
    return prepare_from_folder(source, to, benchmark, task, load_release("glue")).origin.location


@pytest.mark.parametrize(
    ("where", "named"),
    [
        ("glue_data/CoLA", "glue_data"),
        ("glue_data/CoLA", "."),
        ("glue_data/CoLA", "glue_data/CoLA"),
        ("mine", "mine"),
    ],
)
def test_the_folder_named_is_the_tasks_or_one_above_it(tmp_path: Path, where: str, named: str) -> None:
    source = tmp_path / "source"
    cola((source / where).parent, name=Path(where).name)
    assert location(source / named, tmp_path / "data").endswith("(TSV files)")


def test_dataset_json_says_what_was_read_and_tells_no_whole_path(tmp_path: Path) -> None:
    cola(tmp_path / "glue_data")
    benchmark, task = sized("CoLA", ALL)
    dataset = prepare_from_folder(
        tmp_path / "glue_data", tmp_path / "data", benchmark, task, load_release("glue")
    )
    assert read_dataset(tmp_path / "data/glue/CoLA") == dataset
    assert dataset.origin.kind == "folder"
    assert dataset.origin.location == "glue_data (TSV files)"
    assert [each.name for each in dataset.origin.files] == ["CoLA/train.tsv", "CoLA/dev.tsv", "CoLA/test.tsv"]
    assert dataset.origin.files[1].bytes == (tmp_path / "glue_data/CoLA/dev.tsv").stat().st_size
    assert str(tmp_path) not in (tmp_path / "data/glue/CoLA/dataset.json").read_text()
    record = dataset.splits["dev"]
    texts = ["A bell rang.", "A bell rung."]
    assert record.fingerprint == fingerprint({"sentence": texts}, ["1", "0"])
    assert record.text_fingerprint == fingerprint({"sentence": texts})


def test_the_caller_may_say_where_the_files_came_from(tmp_path: Path) -> None:
    origin = Origin("archive", "https://example.org/CoLA.zip", (SourceFile("CoLA.zip", 3, "00"),))
    files = {"CoLA/dev.tsv": b"a\t1\t\tA bell rang.\n"}
    assert prepare_files(tmp_path / "a", "CoLA", files, rows={}, origin=origin).dataset.origin == origin
    bare = prepare_files(tmp_path / "b", "CoLA", files, rows={}, origin=origin._replace(files=()))
    assert [each.name for each in bare.dataset.origin.files] == ["CoLA/dev.tsv"]


def hub_cache(folder: Path, revision: str, *, sentence: str = "From the hub.") -> None:
    """Write a snapshot of the hub's cache, its files links to blobs."""
    repository = folder / "datasets--nyu-mll--glue"
    for split in ("train", "validation", "test"):
        blob = repository / "blobs" / f"{split}-{revision}"
        write_hub_file(blob, {"sentence": [sentence, "Two."], "label": [1, 0], "idx": [0, 1]})
        link = repository / "snapshots" / revision / "cola" / f"{split}-00000-of-00001.parquet"
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))


def pinned(release: Release) -> str:
    """The commit of the hub's repository that the release names."""
    hub = release.tasks["CoLA"].hub
    assert hub is not None
    return hub.revision


@pytest.mark.parametrize(
    "named",
    [
        ".",
        "hub",
        "hub/datasets--nyu-mll--glue",
        "hub/datasets--nyu-mll--glue/snapshots",
        "hub/datasets--nyu-mll--glue/snapshots/PINNED",
        "hub/datasets--nyu-mll--glue/snapshots/PINNED/cola",
    ],
)
def test_the_hubs_cache_is_read_from_any_folder_above_the_files(tmp_path: Path, named: str) -> None:
    release = load_release("glue")
    revision = pinned(release)
    hub_cache(tmp_path / "hub", revision)
    benchmark, task = sized("CoLA", ALL)
    found = find(tmp_path / named.replace("PINNED", revision), benchmark, task, release, partial=False)
    assert (found.layout, list(found.files)) == ("hub", ["train", "dev", "test"])


def test_of_several_snapshots_the_pinned_one_is_read(tmp_path: Path) -> None:
    release = load_release("glue")
    for revision in ("0" * 40, pinned(release)):
        hub_cache(tmp_path, revision)
    benchmark, task = sized("CoLA", ALL)
    assert find(tmp_path, benchmark, task, release, partial=False).revision == pinned(release)


def test_what_was_prepared_comes_before_parquet_and_parquet_before_tsv(tmp_path: Path) -> None:
    source = tmp_path / "source"
    cola(source)
    benchmark, task = sized("CoLA", ALL)
    release = load_release("glue")
    layouts = [find(source, benchmark, task, release, partial=False).layout]
    hub_cache(source, "0" * 40)
    layouts.append(find(source, benchmark, task, release, partial=False).layout)
    tsv = tmp_path / "tsv"
    cola(tsv)
    prepare_from_folder(tsv, source, benchmark, task, release)
    layouts.append(find(source, benchmark, task, release, partial=False).layout)
    (source / "glue/CoLA/dev.parquet").unlink()
    layouts.append(find(source, benchmark, task, release, partial=False).layout)
    assert layouts == ["files", "hub", "prepared", "hub"]


@pytest.mark.parametrize("named", [".", "glue", "glue/CoLA"])
def test_prepared_data_are_prepared_anew_with_their_origin(tmp_path: Path, named: str) -> None:
    cola(tmp_path / "tsv")
    benchmark, task = sized("CoLA", ALL)
    release = load_release("glue")
    first = prepare_from_folder(tmp_path / "tsv", tmp_path / "one", benchmark, task, release)
    again = prepare_from_folder(tmp_path / "one" / named, tmp_path / "two", benchmark, task, release)
    assert again == first
    for split in ALL:
        files = [tmp_path / each / f"glue/CoLA/{split}.parquet" for each in ("one", "two")]
        assert files[0].read_bytes() == files[1].read_bytes()


def test_prepared_data_that_were_changed_since_are_told(tmp_path: Path) -> None:
    cola(tmp_path / "tsv")
    benchmark, task = sized("CoLA", ALL)
    release = load_release("glue")
    prepare_from_folder(tmp_path / "tsv", tmp_path / "one", benchmark, task, release)
    path = tmp_path / "one/glue/CoLA/dev.parquet"
    table = pq.read_table(path)
    pq.write_table(table.set_column(1, "sentence", [["Changed.", "A bell rung."]]), path)
    with pytest.raises(
        DataError, match=r"dev\.parquet: the rows have changed .*fingerprint .* prepare it again"
    ):
        prepare_from_folder(tmp_path / "one", tmp_path / "two", benchmark, task, release)


def test_the_sample_benchmark_is_read_in_its_plain_layout(
    tmp_path: Path, sample: Benchmark, sample_folder: Path
) -> None:
    release = load_release(sample)
    for task in sample.tasks:
        found = prepared(sample_folder, tmp_path, sample, task, release, partial=False)
        for split, table in found.tables.items():
            examples = load_split(sample_folder, sample, task.name, split)
            assert found.column("index", split) == [each.index for each in examples]
            for column in task.columns:
                assert table.column(column).to_pylist() == [each.inputs[column] for each in examples]
            labels = [each.label for each in examples]
            assert labels == (
                found.column("label", split) if "label" in table.column_names else [None] * len(table)
            )


def test_a_split_that_is_missing_is_told_unless_some_are_enough(tmp_path: Path) -> None:
    source = tmp_path / "source"
    cola(source)
    (source / "CoLA/dev.tsv").unlink()
    benchmark, task = sized("CoLA", ALL)
    with pytest.raises(
        DataError,
        match=r"CoLA: no dev\.tsv or dev\.parquet, the dev split of CoLA; its other splits are there",
    ) as raised:
        prepare_from_folder(source, tmp_path / "data", benchmark, task, load_release("glue"))
    assert raised.value.problems[-1].startswith("--partial (partial=True) takes")
    assert not (tmp_path / "data").exists()
    some = prepared(source, tmp_path / "data", benchmark, task, load_release("glue"))
    assert list(some.dataset.splits) == ["train", "test"]


def test_where_nothing_is_there_what_is_expected_is_told_in_two_lines(tmp_path: Path) -> None:
    (tmp_path / "source/CoLA").mkdir(parents=True)
    (tmp_path / "source/CoLA/train.xlsx").write_bytes(b"PK")
    benchmark, task = sized("CoLA", ALL)
    with pytest.raises(DataError) as caught:
        prepare_from_folder(
            tmp_path / "source", tmp_path / "data", benchmark, task, load_release("glue"), partial=True
        )
    first, second = caught.value.problems
    assert "train, dev (or validation, val) and test as TSV, JSON lines, JSON, CSV, Parquet" in second
    assert first.endswith("no files of CoLA; expected a folder CoLA in it, with train.tsv, dev.tsv, test.tsv")


def test_a_task_that_is_there_twice_is_not_chosen_between(tmp_path: Path) -> None:
    for name in ("old", "new"):
        cola(tmp_path / "source" / name)
    benchmark, task = sized("CoLA", ALL)
    with pytest.raises(DataError, match=r"CoLA is in it more than once, in new/CoLA, old/CoLA; name one"):
        prepare_from_folder(tmp_path / "source", tmp_path / "data", benchmark, task, load_release("glue"))
    cola(tmp_path / "source")
    assert location(tmp_path / "source", tmp_path / "data") == "source (TSV files)"


def test_another_tasks_folder_is_not_taken_for_this_ones(tmp_path: Path) -> None:
    cola(tmp_path, name="RTE")
    benchmark, task = sized("CoLA", ALL)
    with pytest.raises(DataError, match="no files of CoLA"):
        prepare_from_folder(tmp_path / "RTE", tmp_path / "data", benchmark, task, load_release("glue"))


def test_a_source_that_is_no_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    benchmark, task = sized("CoLA", ALL)
    with pytest.raises(FileNotFoundError, match="expected one with the files of CoLA"):
        prepare_from_folder(tmp_path / "none", tmp_path, benchmark, task, load_release("glue"))
    with pytest.raises(NotADirectoryError, match="expected one with the files of CoLA"):
        prepare_from_folder(tmp_path / "file", tmp_path, benchmark, task, load_release("glue"))


def test_a_file_of_the_right_name_and_the_wrong_version_is_told(tmp_path: Path) -> None:
    rows = "".join(f"{row}\tWhy {row}?\tSo {row}.\tentailment\n" for row in range(5732))
    path = tmp_path / "QNLI/dev.tsv"
    path.parent.mkdir()
    path.write_text("index\tquestion\tsentence\tlabel\n" + rows)
    glue = load_benchmark("glue")
    with pytest.raises(
        DataError, match=r"QNLI, dev: 5,732 rows, expected 5,463: this is v1, the first release"
    ):
        prepare_from_folder(
            tmp_path, tmp_path / "data", glue, glue.task("QNLI"), load_release("glue"), partial=True
        )


def test_text_or_labels_that_differ_from_the_published_are_noted(tmp_path: Path) -> None:
    benchmark, task = sized("SST-2", {"dev": 2})
    texts, labels = ["A bell rang.", "A bell rung."], ["1", "0"]
    (tmp_path / "SST-2").mkdir()
    (tmp_path / "SST-2/dev.tsv").write_text(SENTENCES)
    notes = {}
    for name, published in {
        "same": (texts, labels),
        "text": (["A bell rings.", texts[1]], labels),
        "labels": (texts, ["0", "0"]),
    }.items():
        known = task.splits["dev"]._replace(
            fingerprint=fingerprint({"sentence": published[0]}, published[1]),
            text_fingerprint=fingerprint({"sentence": published[0]}),
        )
        variant = task._replace(splits={**task.splits, "dev": known})
        found = prepared(tmp_path, tmp_path / name, benchmark, variant, load_release("glue"))
        notes[name] = found.dataset.notes
    assert notes == {
        "same": (),
        "text": ("dev: the text differs from the published; to see where: gluebench data verify",),
        "labels": ("dev: the labels differ from the published; to see where: gluebench data verify",),
    }


def left(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}


def test_an_error_leaves_the_old_copy_and_no_scratch(tmp_path: Path) -> None:
    read_text(tmp_path, "SST-2", SENTENCES, rows=2)
    before = left(tmp_path / "data")
    with pytest.raises(DataError):
        read_text(tmp_path, "SST-2", SENTENCES + "A third.\tx\n", rows=3)
    assert left(tmp_path / "data") == before
    assert [each.name for each in (tmp_path / "data/glue").iterdir()] == ["SST-2"]


def test_a_folder_of_something_else_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "data/glue/SST-2").mkdir(parents=True)
    (tmp_path / "data/glue/SST-2/thesis.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="not a folder of prepared data"):
        read_text(tmp_path, "SST-2", SENTENCES, rows=2)
    assert left(tmp_path / "data") == {"glue/SST-2/thesis.txt": b"mine"}


PREPARE = """
import os, resource, sys
from pathlib import Path
import pyarrow.parquet
sys.path.insert(0, {tests!r})
from folders import sized
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import Release, load_release
benchmark, task = sized("SST-2", {{"dev": 20000}})
release = load_release("glue")
{limit}
try:
    prepare_from_folder(Path("source"), Path("data"), benchmark, task, release, partial=True)
except OSError as error:
    print(type(error).__name__, error)
else:
    print("pandas:", "pandas" in sys.modules)
"""


def prepare_under(folder: Path, limit: str) -> str:
    """What preparing 20,000 rows says in a process of its own, under a limit that it sets itself."""
    (folder / "source/SST-2").mkdir(parents=True, exist_ok=True)
    rows = "".join(f"{os.urandom(40).hex()}\t1\n" for _ in range(20_000))
    (folder / "source/SST-2/dev.tsv").write_text("sentence\tlabel\n" + rows)
    for path in (folder / "source", folder / "source/SST-2", folder / "source/SST-2/dev.tsv"):
        path.chmod(0o755)  # whatever umask an earlier test left
    tests = str(Path(__file__).parents[2])
    code = PREPARE.format(tests=tests, limit=limit)
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, env=here, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def old_copy(folder: Path) -> dict[str, bytes]:
    """A task's folder as it was prepared before, and what it holds."""
    made = folder / "data/glue/SST-2"
    made.mkdir(parents=True)
    (made / "dataset.json").write_text(json.dumps({"old": True}))
    return left(folder / "data")


def test_a_full_disk_leaves_the_old_copy_and_no_scratch(tmp_path: Path) -> None:
    before = old_copy(tmp_path)
    told = prepare_under(tmp_path, "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))")
    assert "OSError" in told
    assert "File too large" in told
    assert left(tmp_path / "data") == before
    assert [each.name for each in (tmp_path / "data/glue").iterdir()] == ["SST-2"]


def test_a_read_only_folder_is_told_and_left_as_it_was(tmp_path: Path) -> None:
    before = old_copy(tmp_path)
    tmp_path.chmod(0o755)
    (tmp_path / "data/glue").chmod(0o555)
    nobody = "os.setgid(65534), os.setuid(65534)" if os.geteuid() == 0 else ""
    told = prepare_under(tmp_path, nobody)
    (tmp_path / "data/glue").chmod(0o755)
    assert told.startswith("PermissionError")
    assert "data/glue" in told
    assert left(tmp_path / "data") == before


def test_preparing_does_not_import_pandas_for_whoever_has_it(tmp_path: Path) -> None:
    assert prepare_under(tmp_path, "") == "pandas: False\n"
