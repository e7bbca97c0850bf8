"""The real files: published counts and fingerprints, and each known quirk in its line."""

from __future__ import annotations

import csv
import shutil
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from folders import prepared, sized
from real import REAL, needs_real

from gluebench.benchmark import load_benchmark
from gluebench.data.errors import DataError
from gluebench.data.fingerprint import fingerprint
from gluebench.data.sources.files import read_released, survey
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release

pytestmark = needs_real

GLUE = REAL / "glue"
COUNTS = {
    ("CoLA", "train"): 8551,
    ("CoLA", "dev"): 1043,
    ("CoLA", "test"): 1063,
    ("SST-2", "train"): 67349,
    ("SST-2", "dev"): 872,
    ("SST-2", "test"): 1821,
    ("MRPC", "train"): 3668,
    ("MRPC", "dev"): 408,
    ("MRPC", "test"): 1725,
    ("STS-B", "train"): 5749,
    ("STS-B", "dev"): 1500,
    ("STS-B", "test"): 1379,
    ("QNLI", "dev"): 5463,
    ("QNLI", "test"): 5463,
    ("RTE", "train"): 2490,
    ("RTE", "dev"): 277,
    ("RTE", "test"): 3000,
    ("WNLI", "train"): 635,
    ("WNLI", "dev"): 71,
    ("WNLI", "test"): 146,
    ("AX", "test"): 1104,
}
TASKS = list(dict.fromkeys(task for task, _ in COUNTS))


@cache
def columns(path: str, name: str, split: str) -> dict[str, list[Any]]:
    """The columns of a real file, by the reader of released files."""
    task = load_benchmark("glue").task(name)
    batches = read_released(
        GLUE / path,
        survey(GLUE / path),
        task=task,
        split=task.splits[split],
        release=load_release("glue").tasks[name],
    )
    found: dict[str, list[Any]] = {}
    for batch in batches:
        for column, values in batch.to_pydict().items():
            found.setdefault(column, []).extend(values)
    return found


def at(path: str, name: str, split: str, line: int, column: str) -> Any:
    """What stands in a column of a line, line 1 being the header where there is one."""
    header = 0 if name == "CoLA" and split != "test" else 1
    return columns(path, name, split)[column][line - 1 - header]


@pytest.mark.parametrize("name", TASKS)
def test_counts_and_fingerprints_are_the_published(tmp_path: Path, name: str) -> None:
    glue = load_benchmark("glue")
    task = glue.task(name)
    dataset = prepare_from_folder(GLUE, tmp_path, glue, task, load_release("glue"), partial=name == "QNLI")
    assert dataset.notes == ()
    assert {split: record.rows for split, record in dataset.splits.items()} == {
        split: rows for (of, split), rows in COUNTS.items() if of == name
    }
    for split, record in dataset.splits.items():
        published = task.splits[split]
        assert record.fingerprint == published.fingerprint
        assert record.text_fingerprint == (published.text_fingerprint or published.fingerprint)


@pytest.mark.parametrize("name", ["CoLA", "STS-B", "WNLI"])
def test_fingerprints_are_those_of_the_lines_split_at_tabs(name: str) -> None:
    """By Python's own splitting, with the columns counted by hand."""
    label, texts = {"CoLA": (1, [3]), "STS-B": (9, [7, 8]), "WNLI": (3, [1, 2])}[name]
    task = load_benchmark("glue").task(name)
    lines = (GLUE / name / "train.tsv").read_bytes().decode().removesuffix("\n").split("\n")
    rows = [line.split("\t") for line in lines[0 if name == "CoLA" else 1 :]]
    labels = [row[label] if task.labels else float(row[label]) for row in rows]
    inputs = {each: [row[at] for row in rows] for each, at in zip(task.columns, texts, strict=True)}
    assert fingerprint(inputs, labels) == task.splits["train"].fingerprint
    assert fingerprint(inputs) == task.splits["train"].text_fingerprint


def test_every_published_fingerprint_is_of_a_file_that_is_at_hand() -> None:
    known = {
        (task.name, split)
        for task in load_benchmark("glue").tasks
        for split, each in task.splits.items()
        if each.fingerprint
    }
    assert known == set(COUNTS)


def test_cola_keeps_its_marks_and_its_last_line() -> None:
    marks = columns("CoLA/train.tsv", "CoLA", "train")["mark"]
    assert Counter(marks)[""] == 6024
    assert set(marks) == {"", "*", "?*", "??", "*?"}
    assert at("CoLA/dev.tsv", "CoLA", "dev", 684, "mark") == " "
    assert len(columns("CoLA/dev.tsv", "CoLA", "dev")["sentence"]) == 1043


def test_sst2_keeps_the_space_at_the_end_of_each_sentence() -> None:
    train = columns("SST-2/train.tsv", "SST-2", "train")["sentence"]
    assert all(text.endswith(" ") for text in train)
    assert [train[line - 2] for line in (4248, 8306, 17690)] == ["( ", ") ", "10 "]
    assert not any(text.endswith(" ") for text in columns("SST-2/test.tsv", "SST-2", "test")["sentence"])
    assert (
        len(train) - len(set(zip(train, columns("SST-2/train.tsv", "SST-2", "train")["label"], strict=True)))
        == 366
    )


def test_sst2_of_a_copy_with_crlf_has_clean_labels() -> None:
    labels = columns("SST-2/test-labeled.tsv", "SST-2", "dev")["label"]
    assert Counter(labels) == {"0": 917, "1": 909 - 5}


@pytest.mark.parametrize(("split", "quotes"), [("train", 169), ("dev", 16), ("test", 85)])
def test_mrpc_keeps_quotation_marks_without_a_partner(split: str, quotes: int) -> None:
    found = columns(f"MRPC/{split}.tsv", "MRPC", split)
    pairs = zip(found["sentence1"], found["sentence2"], strict=True)
    assert sum((first + second).count('"') % 2 for first, second in pairs) == quotes


def test_the_untokenized_mrpc_keeps_its_control_character_and_is_noted_as_another_text(
    tmp_path: Path,
) -> None:
    assert "\x12" in at("MRPC/variant-untokenized-msi/train.tsv", "MRPC", "train", 1587, "sentence1") + at(
        "MRPC/variant-untokenized-msi/train.tsv", "MRPC", "train", 1587, "sentence2"
    )
    glue = load_benchmark("glue")
    source = GLUE / "MRPC/variant-untokenized-msi"
    dataset = prepare_from_folder(source, tmp_path, glue, glue.task("MRPC"), load_release("glue"))
    assert [note.partition(";")[0] for note in dataset.notes] == [
        f"{split}: the text differs from the published" for split in ("train", "dev", "test")
    ]


def test_stsb_keeps_its_rows_numbers_and_leading_zeros() -> None:
    train = columns("STS-B/train.tsv", "STS-B", "train")
    assert at("STS-B/train.tsv", "STS-B", "train", 2051, "label") == 2.11111111111111
    assert train["old_index"][0] == "0001"
    assert at("STS-B/train.tsv", "STS-B", "train", 2003, "sentence1").startswith('"Then') or at(
        "STS-B/train.tsv", "STS-B", "train", 2003, "sentence2"
    ).startswith('"Then')
    assert columns("STS-B/test.tsv", "STS-B", "test")["index"] == list(range(1379))


def test_rte_and_wnli_keep_unclosed_quotation_marks_and_spaces_of_unicode() -> None:
    assert at("RTE/train.tsv", "RTE", "train", 2166, "premise").startswith('"') != at(
        "RTE/train.tsv", "RTE", "train", 2166, "hypothesis"
    ).startswith('"')
    for line in (1012, 1028, 1079):
        both = [at("RTE/test.tsv", "RTE", "test", line, column) for column in ("premise", "hypothesis")]
        assert "\xa0" in "".join(both)
    for line in (320, 389):
        hypothesis = at("WNLI/train.tsv", "WNLI", "train", line, "hypothesis")
        assert (hypothesis.count('"'), hypothesis.endswith('"')) == (1, True)


def test_qnli_keeps_marks_inside_a_sentence_and_stray_quotation_marks() -> None:
    assert at("QNLI/dev.tsv", "QNLI", "dev", 62, "sentence").count("\ufeff") == 3
    for line in (660, 696, 919):
        assert at("QNLI/dev.tsv", "QNLI", "dev", line, "sentence").startswith('" ')


def test_qnli_v1_is_told_by_its_size(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    with pytest.raises(DataError) as caught:
        prepare_from_folder(
            GLUE / "QNLI-v1", tmp_path, glue, glue.task("QNLI"), load_release("glue"), partial=True
        )
    assert [line[:65] for line in caught.value.problems] == [
        "QNLI, dev: 5,732 rows, expected 5,463: this is v1, the first rele",
        "QNLI, test: 5,740 rows, expected 5,463: this is v1, the first rel",
    ]


def test_an_export_of_hugging_faces_datasets_has_the_rows_of_the_release(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    release = load_release("glue")
    source = GLUE / "RTE/variant-miec-fyp"
    dataset = prepare_from_folder(source, tmp_path, glue, glue.task("RTE"), release)
    assert [note for note in dataset.notes if "differs" in note] == []
    assert any("labels are class numbers; 0 is entailment" in note for note in dataset.notes)


def test_superglues_ax_b_has_the_texts_and_tags_of_ax_but_two_spaces(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    tables = []
    for name, file in (("full", "diagnostic-full.tsv"), ("b", "superglue-AX-b.jsonl")):
        path = tmp_path / name / "AX" / file.replace("superglue-", "")
        path.parent.mkdir(parents=True)
        shutil.copy(GLUE / "AX" / file, path)
        tables.append(
            prepared(tmp_path / name, tmp_path / f"{name}-data", glue, glue.task("AX"), load_release("glue"))
        )
    full, merged = tables
    assert full.column("phenomena", "test") == merged.column("phenomena", "test")
    for column in ("premise", "hypothesis"):
        pairs = [*zip(full.column(column, "test"), merged.column(column, "test"), strict=True)]
        assert sum(ours != theirs for ours, theirs in pairs) == 1
        assert all(ours.strip() == theirs for ours, theirs in pairs if ours != theirs)
    labels = zip(full.column("label", "test"), merged.column("merged_label", "test"), strict=True)
    assert all((ours == "entailment") == (theirs == "entailment") for ours, theirs in labels)


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_the_hubs_scores_written_again_by_pandas_are_the_published(tmp_path: Path, kind: str) -> None:
    import pandas as pd  # noqa: TID251 - what a user gives

    glue = load_benchmark("glue")
    for split, name in (("train", "train"), ("dev", "validation"), ("test", "test")):
        read = columns(f"STS-B/{split}.tsv", "STS-B", split)
        frame = pd.DataFrame({column: read[column] for column in ("sentence1", "sentence2")})
        frame["label"] = pd.Series(read.get("label", [-1.0] * len(frame))).astype("float32").astype(kind)
        frame["idx"] = range(len(frame))
        (tmp_path / "stsb").mkdir(exist_ok=True)
        frame.to_parquet(tmp_path / f"stsb/{name}-00000-of-00001.parquet")
    found = prepared(tmp_path, tmp_path / "data", glue, glue.task("STS-B"), load_release("glue"))
    assert found.dataset.origin.location.endswith("(the hub's Parquet files)")


def test_qqp_loses_its_csv_quoting_and_its_row_without_a_tab_is_left_out(tmp_path: Path) -> None:
    benchmark, task = sized("QQP", {"train": 23_496})
    (tmp_path / "QQP").mkdir()
    header = b"id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
    lines = (GLUE / "QQP/mieseung.new_dev.tsv").read_bytes().splitlines(keepends=True)
    (tmp_path / "QQP/train.tsv").write_bytes(header + b"".join(lines))
    found = prepared(tmp_path, tmp_path / "data", benchmark, task, load_release("glue"))
    assert found.dataset.notes == ("train: 1 lines that lack a column are left out: train.tsv, line 2",)
    fields = [line.decode().rstrip("\n").split("\t") for line in lines[1:]]
    for position, column in ((3, "question1"), (4, "question2")):
        kept = found.column(column, "train")
        assert kept == [next(csv.reader([row[position]], delimiter="\t"), [""])[0] for row in fields]
        assert kept != [row[position] for row in fields]
    assert "\ufeff" in "".join(
        found.column(column, "train")[7065 - 2] for column in ("question1", "question2")
    )


def test_mnli_rows_with_all_their_columns_are_read() -> None:
    for seed in (13, 21, 42, 87, 100):
        found = columns(f"MNLI/kshot-16-{seed}/dev_matched.tsv", "MNLI", "train")
        assert len(found["premise"]) == 48
        assert {"genre", "pairID", "promptID", "sentence1_parse", "label1"} <= found.keys()
        assert set(found["label"]) == {"entailment", "neutral", "contradiction"}
    first = columns("MNLI/kshot-16-100/dev_matched.tsv", "MNLI", "train")
    for line in (9, 17, 43):
        assert any(
            first[column][line - 2] != first[column][line - 2].strip() for column in ("premise", "hypothesis")
        )


def test_ax_has_its_tags_under_the_names_of_the_paper() -> None:
    found = columns("AX/diagnostic-full.tsv", "AX", "test")
    tags = found["phenomena"]
    names = {phenomenon.name for phenomenon in load_benchmark("glue").task("AX").phenomena}
    assert sum(map(len, tags)) == 1540
    assert {tag for row in tags for tag in row} == names
    assert [row + 2 for row, each in enumerate(tags) if not each] == [432, 433]
    assert at("AX/diagnostic-full.tsv", "AX", "test", 398, "phenomena")[:2] == ["Factivity", "Quantifiers"]
    assert Counter(found["label"]) == {"entailment": 460, "neutral": 386, "contradiction": 258}
    assert Counter(found["domain"]) == {
        "Artificial": 300,
        "News": 204,
        "Wikipedia": 200,
        "ACL": 200,
        "Reddit": 200,
    }
    assert at("AX/diagnostic-full.tsv", "AX", "test", 690, "hypothesis").endswith(" ")
    assert at("AX/diagnostic-full.tsv", "AX", "test", 691, "premise").endswith(" ")


def test_the_damaged_spreadsheet_copy_is_told_row_by_row(tmp_path: Path) -> None:
    (tmp_path / "MRPC").mkdir()
    source = REAL / "corpora/msr-paraphrase/variant-aliastrm/msr_paraphrase_test.txt"
    lines = source.read_bytes()
    (tmp_path / "MRPC/dev.tsv").write_bytes(lines + b'1\t2\t3\tan "open mark\tb\r\n')
    benchmark, task = sized("MRPC", {"dev": 1714})
    with pytest.raises(DataError) as caught:
        prepared(tmp_path, tmp_path / "data", benchmark, task, load_release("glue"))
    assert all("MRPC/dev.tsv:" in line and "expected 5 fields" in line for line in caught.value.problems)
    assert len(caught.value.problems) > 1000


@pytest.mark.parametrize(("split", "pandas_rows"), [("test", 1651), ("train", 3571), ("dev", 390)])
def test_a_csv_reader_would_have_lost_rows_that_are_kept(split: str, pandas_rows: int) -> None:
    with open(GLUE / f"MRPC/{split}.tsv", encoding="utf-8-sig", newline="") as file:
        assert sum(1 for _ in csv.reader(file, delimiter="\t")) == pandas_rows
    assert len(columns(f"MRPC/{split}.tsv", "MRPC", split)["index"]) == COUNTS["MRPC", split]
