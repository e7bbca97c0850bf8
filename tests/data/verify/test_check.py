"""`gluebench data verify`: published data are recognized, variants are explained, real ones too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result
from real import REAL, needs_real

from gluebench.benchmark import Benchmark, load_benchmark
from gluebench.cli import main
from gluebench.data.dataset import Origin
from gluebench.data.fingerprint import fingerprint
from gluebench.data.prepared import prepare
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release
from gluebench.data.verify.check import read_published_marks

TEXTS = ["It rains.", "The sun shines. ", "Tea is ready.", "Nobody came."]
LABELS = ["bad", "good", "good", "bad"]


def write_manifest(folder: Path, *, known: bool = True) -> Benchmark:
    lines = [
        '[benchmark]\nname = "mine"',
        '[tasks.Mood]\ncolumns = ["text"]\nlabels = { good = "good", bad = "bad" }',
        'metrics = [{ name = "accuracy" }]',
        "[tasks.Mood.splits.dev]\nsize = 4",
        f'fingerprint = "{fingerprint({"text": TEXTS}, LABELS)}"' if known else "",
        f'text_fingerprint = "{fingerprint({"text": TEXTS})}"' if known else "",
    ]
    (folder / "mine.toml").write_text("\n".join(lines))
    return load_benchmark(folder / "mine.toml")


def put(
    folder: Path, benchmark: Benchmark, texts: list[str], labels: list[str] | None, *, sized: bool = True
) -> None:
    columns = {"index": pa.array(range(len(texts)), pa.int64()), "text": texts}
    table = pa.table(columns if labels is None else {**columns, "label": labels})
    task = benchmark.task("Mood")
    prepare(folder, benchmark, task, {"dev": table.to_batches()}, origin=Origin("folder", "x"), sized=sized)


def verify(folder: Path, *words: str) -> Result:
    command = ["data", "verify", str(folder / "mine.toml"), "--data", str(folder), *words]
    return CliRunner().invoke(main, command)


def only(folder: Path, *words: str) -> dict[str, object]:
    done = verify(folder, "--json", *words)
    (split,) = json.loads(done.stdout)["splits"]
    return {**split, "exit": done.exit_code}


def test_published_rows_are_recognized(tmp_path: Path) -> None:
    put(tmp_path, write_manifest(tmp_path), TEXTS, LABELS)
    found = only(tmp_path)
    assert (found["state"], found["reason"], found["exit"]) == ("as published", "text and labels", 0)


def test_hidden_labels_leave_the_text_to_be_recognized(tmp_path: Path) -> None:
    put(tmp_path, write_manifest(tmp_path), TEXTS, None)
    assert only(tmp_path)["reason"] == "text; its labels are hidden"


def test_other_labels_other_text_and_other_counts_are_told_apart(tmp_path: Path) -> None:
    benchmark = write_manifest(tmp_path)
    put(tmp_path, benchmark, TEXTS, ["good", *LABELS[1:]])
    assert only(tmp_path)["reason"] == "the labels differ from the published"
    put(tmp_path, benchmark, [text.strip() for text in TEXTS], LABELS)
    assert only(tmp_path)["reason"] == "the text differs from the published"
    put(tmp_path, benchmark, TEXTS[:3], LABELS[:3], sized=False)
    found = only(tmp_path)
    assert (found["reason"], found["exit"]) == ("3 rows, published are 4", 1)


def test_what_is_not_known_is_not_claimed(tmp_path: Path) -> None:
    put(tmp_path, write_manifest(tmp_path, known=False), TEXTS, LABELS)
    found = only(tmp_path)
    assert (found["state"], found["exit"]) == ("not known", 0)


def test_a_file_changed_after_it_was_prepared_is_noticed(tmp_path: Path) -> None:
    benchmark = write_manifest(tmp_path)
    put(tmp_path / "other", benchmark, TEXTS[::-1], LABELS)
    put(tmp_path, benchmark, TEXTS, LABELS)
    shutil.copy(tmp_path / "other/mine/Mood/dev.parquet", tmp_path / "mine/Mood/dev.parquet")
    assert "changed after it was prepared" in str(only(tmp_path)["reason"])


def test_two_folders_are_compared_row_by_row(tmp_path: Path) -> None:
    benchmark = write_manifest(tmp_path)
    put(tmp_path / "other", benchmark, TEXTS, LABELS)
    put(tmp_path, benchmark, [text.strip() for text in TEXTS], ["good", *LABELS[1:]])
    done = verify(tmp_path, "--against", str(tmp_path / "other"))
    assert done.exit_code == 1
    assert "1 row: a space at its end is lost: 1" in done.stdout
    assert "1 row: another label: 0 (good here, bad published)" in done.stdout


def test_an_empty_folder_says_how_to_get_the_data(tmp_path: Path) -> None:
    write_manifest(tmp_path)
    done = verify(tmp_path)
    assert done.exit_code == 1
    assert "Get them with: gluebench data get mine" in done.stderr


def real(to: Path, source: Path, *names: str) -> Path:
    """Splits of the real files, prepared."""
    glue = load_benchmark("glue")
    for name in names:
        prepare_from_folder(source, to, glue, glue.task(name), load_release(glue), partial=True)
    return to


def kinds(data: Path, task: str) -> dict[str, dict[str, int]]:
    done = CliRunner().invoke(main, ["data", "verify", "--data", str(data), "--task", task, "--json"])
    return {each["split"]: each["kinds"] for each in json.loads(done.stdout)["splits"] if each["kinds"]}


@needs_real
def test_the_marks_of_the_package_are_those_of_the_real_files(tmp_path: Path) -> None:
    names = ("CoLA", "MRPC", "STS-B", "QNLI", "RTE", "WNLI", "AX", "SST-2")
    data = real(tmp_path, REAL / "glue", *names)
    done = CliRunner().invoke(main, ["data", "verify", "--data", str(data), "--json"])
    states = {(each["task"], each["split"]): each["state"] for each in json.loads(done.stdout)["splits"]}
    known = {place for place, state in states.items() if state == "as published"}
    assert done.exit_code == 0
    assert known == set(read_published_marks(load_benchmark("glue")))
    assert len(known) == 7 * 3 - 1 + 1  # seven tasks without QNLI train, and AX


@needs_real
def test_five_lost_quotation_marks_of_a_real_copy_are_found(tmp_path: Path) -> None:
    (tmp_path / "QNLI").mkdir()
    shutil.copy(REAL / "glue/QNLI/variant-llmcbench/dev.tsv", tmp_path / "QNLI")
    data = real(tmp_path / "data", tmp_path, "QNLI")
    done = CliRunner().invoke(main, ["data", "verify", "--data", str(data), "--task", "QNLI", "--json"])
    dev = json.loads(done.stdout)["splits"][1]
    assert dev["kinds"] == {"a quotation mark at its beginning is lost": 5}
    assert [each["row"] for each in dev["differences"]] == [694, 3428, 3479, 3529, 4080]


@needs_real
def test_the_untokenized_corpus_differs_in_spaces_and_marks_only(tmp_path: Path) -> None:
    (tmp_path / "MRPC").mkdir()
    for path in (REAL / "glue/MRPC/variant-untokenized-msi").glob("*.tsv"):
        shutil.copy(path, tmp_path / "MRPC")
    data = real(tmp_path / "data", tmp_path, "MRPC")
    for split, found in kinds(data, "MRPC").items():
        assert sum(found.values()) >= 400, split
        assert list(found) == ["spaces, quotation marks, punctuation or case"], split


@needs_real
@pytest.mark.parametrize(("task", "split", "rows"), [("RTE", "train", 2490), ("WNLI", "dev", 71)])
def test_lines_swallowed_by_a_stray_quotation_mark_are_missing_rows(
    tmp_path: Path, task: str, split: str, rows: int
) -> None:
    glue = load_benchmark("glue")
    data = real(tmp_path, REAL / "glue", task)
    table = pa.parquet.read_table(data / "glue" / task / f"{split}.parquet")
    kept = pa.concat_tables([table.slice(0, 20), table.slice(27)])
    record = glue.task(task)
    prepare(data, glue, record, {split: kept.to_batches()}, origin=Origin("folder", "x"), sized=False)
    assert kept.num_rows == rows - 7
    assert kinds(data, task) == {split: {"missing": 7}}


@needs_real
def test_wnlis_dev_set_is_shown_for_what_it_is(tmp_path: Path) -> None:
    """Five of its 71 hypotheses stand in train, all with the other label; 65 of its premises do."""
    data = real(tmp_path, REAL / "glue", "WNLI")
    done = CliRunner().invoke(main, ["data", "verify", "--data", str(data), "--task", "WNLI", "--json"])
    texts = [
        each["text"] for each in json.loads(done.stdout)["findings"]["WNLI"] if each["where"] == "train, dev"
    ]
    assert texts == [
        "65 rows of dev (91.5 %) share their premise with train, other text beside it, "
        "54 of them with another label",
        "5 rows of dev (7.0 %) share their hypothesis with train, other text beside it, "
        "all with another label",
    ]
