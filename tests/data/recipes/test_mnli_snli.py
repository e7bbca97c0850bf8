"""MNLI and SNLI from files of our own in the originals' two layouts, and from the real rows at hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from real import REAL, needs_real

PARSES = ("sentence1_binary_parse", "sentence2_binary_parse", "sentence1_parse", "sentence2_parse")
MNLI = (
    *("gold_label", *PARSES, "sentence1", "sentence2", "promptID", "pairID", "genre"),
    *(f"label{number}" for number in range(1, 6)),
)
SNLI = (
    *("gold_label", *PARSES, "sentence1", "sentence2", "captionID", "pairID"),
    *(f"label{number}" for number in range(1, 6)),
)
FILES = {
    "mnli": ("multinli_1.0_train", "multinli_1.0_dev_matched", "multinli_1.0_dev_mismatched"),
    "snli": ("snli_1.0_train", "snli_1.0_dev", "snli_1.0_test"),
}
TESTS = ("multinli_0.9_test_matched_unlabeled", "multinli_0.9_test_mismatched_unlabeled")
COLUMNS = {"mnli": MNLI, "snli": SNLI}
PAIRS = [
    ("entailment", ' "It rains. ', "Water falls. "),
    ("-", "It rains.", "It is late."),
    ("contradiction", "caf\u00e9\u2028 \U0001f327", "It's dry"),
    ("neutral", "", "n/a"),
]


def row(name: str, number: int, gold: str, premise: str, hypothesis: str) -> dict[str, str]:
    values = {"gold_label": gold, "sentence1": premise, "sentence2": hypothesis, "genre": "letters"}
    values |= {"promptID": str(number), "pairID": f"{number}x", "captionID": f"{number}.jpg#1"}
    return {column: values.get(column, "( x )") for column in COLUMNS[name]}


def table(name: str, rows: list[dict[str, str]], *, labels: int = 5) -> str:
    """The .txt layout; a row has as many annotators' labels as were given."""
    cut = len(COLUMNS[name]) - 5 + labels
    return "".join(
        "\t".join(line) + "\n" for line in (COLUMNS[name], *(list(r.values())[:cut] for r in rows))
    )


def json_lines(rows: list[dict[str, str]]) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in rows)


def write(folder: Path, name: str, ending: str, pairs=PAIRS) -> Path:
    rows = [row(name, number, *pair) for number, pair in enumerate(pairs)]
    for stem in FILES[name]:
        text = table(name, rows) if ending == "txt" else json_lines(rows)
        (folder / f"{stem}.{ending}").write_text(text)
    return folder


@pytest.mark.parametrize("ending", ["txt", "jsonl"])
def test_mnli_keeps_text_genre_and_ids_and_drops_pairs_without_a_label(tmp_path, make, ending) -> None:
    built = make("mnli", write(tmp_path, "mnli", ending), "MNLI")
    assert list(built.splits) == ["train", "dev_matched", "dev_mismatched"]
    assert built.splits["dev_matched"] == {
        "premise": [' "It rains. ', "caf\u00e9\u2028 \U0001f327", ""],
        "hypothesis": ["Water falls. ", "It's dry", "n/a"],
        "label": ["entailment", "contradiction", "neutral"],
        "genre": ["letters"] * 3,
        "promptID": ["0", "2", "3"],
        "pairID": ["0x", "2x", "3x"],
    }
    assert "dev_matched: pairs without an agreed label, left out: 1" in built.notes
    assert f"test_matched: no {TESTS[0]}.jsonl nor .txt in the folder; left out" in built.notes


@pytest.mark.parametrize("ending", ["txt", "jsonl"])
def test_mnlis_test_pairs_have_no_label(tmp_path, make, ending) -> None:
    write(tmp_path, "mnli", ending)
    rows = [row("mnli", number, "hidden", *pair[1:]) for number, pair in enumerate(PAIRS)]
    text = table("mnli", rows) if ending == "txt" else json_lines(rows)
    (tmp_path / f"{TESTS[1]}.{ending}").write_text(text)
    test = make("mnli", tmp_path, "MNLI").splits["test_mismatched"]
    assert "label" not in test
    assert test["pairID"] == ["0x", "1x", "2x", "3x"]


@pytest.mark.parametrize("ending", ["txt", "jsonl"])
def test_snli_keeps_its_test_labels_and_takes_another_tasks_words(tmp_path, make, own_task, ending) -> None:
    task = own_task(["text", "aussage"], ["folgt", "offen", "falsch"])
    built = make("snli", write(tmp_path, "snli", ending), task)
    assert built.splits["test"] == {
        "text": [' "It rains. ', "caf\u00e9\u2028 \U0001f327", ""],
        "aussage": ["Water falls. ", "It's dry", "n/a"],
        "label": ["folgt", "falsch", "offen"],
        "captionID": ["0.jpg#1", "2.jpg#1", "3.jpg#1"],
        "pairID": ["0x", "2x", "3x"],
    }
    assert built.notes[0] == "train: pairs without an agreed label, left out: 1"


def test_rows_of_a_table_may_lack_labels_of_annotators_that_were_not_asked(tmp_path, make) -> None:
    write(tmp_path, "snli", "txt")
    path = tmp_path / "snli_1.0_train.txt"
    path.write_text(table("snli", [row("snli", 0, "neutral", "a", "b")], labels=1))
    assert make("snli", tmp_path, "MNLI").splits["train"]["label"] == ["neutral"]


def test_every_bad_line_of_json_is_named(tmp_path, problems) -> None:
    write(tmp_path, "snli", "jsonl")
    path = tmp_path / "snli_1.0_dev.jsonl"
    good = row("snli", 0, "neutral", "a", "b")
    lacking = {key: value for key, value in good.items() if key != "sentence2"}
    bad = [good | {"gold_label": "maybe"}, good | {"sentence1": None}, lacking, ["neutral"]]
    bad.append(good | {"sentence1": "half a \ud83c pair"})
    path.write_text("\n".join([json.dumps(good), *map(json.dumps, bad), '{"cut": ', "[" * 100_000, ""]))
    assert problems("snli", tmp_path, "MNLI") == [
        f'{path}:2: the gold label is "maybe", expected one of entailment, neutral, contradiction, -',
        f"{path}:3: sentence1: not text",
        f"{path}:4: no sentence2 in this row",
        f"{path}:5: not a JSON object",
        f"{path}:6: sentence1: not text",
        f"{path}:7: not a JSON object",
        f"{path}:8: not a JSON object",
    ]


def test_every_bad_row_of_a_table_is_named(tmp_path, problems) -> None:
    write(tmp_path, "mnli", "txt")
    path = tmp_path / "multinli_1.0_train.txt"
    good = row("mnli", 0, "neutral", "a", "b")
    lines = table("mnli", [good, good | {"gold_label": ""}, good]).splitlines()
    path.write_bytes("\n".join([*lines[:3], "neutral\ta\tb", f"{lines[1]}\tx", ""]).encode() + b"caf\xe9\n")
    told = problems("mnli", tmp_path, "MNLI")
    assert told[0] == f"{path}:6: not UTF-8 text (byte 0xe9)"
    assert told[1].startswith(f'{path}:3: the gold label is "", expected one of')
    widths = "expected 11 or 12 or 13 or 14 or 15"
    assert told[2:] == [
        f"{path}:4: 3 columns, {widths}",
        f"{path}:5: 16 columns, {widths}",
        f"{path}:6: 1 column, {widths}",
    ]


def test_another_table_and_missing_or_empty_files_are_refused(tmp_path, problems) -> None:
    (told,) = problems("mnli", tmp_path, "MNLI")
    assert told == f"{tmp_path}: no multinli_1.0_train.jsonl nor multinli_1.0_train.txt in this folder"
    write(tmp_path, "mnli", "txt")
    path = tmp_path / "multinli_1.0_train.txt"
    path.write_text("index\tquestion\tsentence\tlabel\n0\ta\tb\tc\n1\ta\tb\tc\n")
    (told,) = problems("mnli", tmp_path, "MNLI")
    assert told == f"{path}:2: no sentence1, sentence2, genre, promptID, pairID, gold_label in this row"
    path.write_text("")
    assert problems("mnli", tmp_path, "MNLI") == [f"{path}: the file is empty"]


def test_a_task_of_two_classes_or_one_column_is_refused(tmp_path, problems) -> None:
    write(tmp_path, "snli", "txt")
    assert problems("snli", tmp_path, "RTE") == ["RTE: 2 labels, but this corpus has 3 classes"]
    assert problems("snli", tmp_path, "CoLA") == ["CoLA: 1 columns, but this corpus has 2 texts a row"]


@needs_real
@pytest.mark.parametrize(
    ("name", "folder", "file"), [("mnli", "glue/MNLI", "dev_matched"), ("snli", "corpora/snli", "dev")]
)
def test_real_rows_laid_out_as_the_original_keep_their_text_and_label(
    tmp_path, make, released, name, folder, file
) -> None:
    """Rows at hand are few and come from GLUE's own layout: this checks quirks of text, not the release."""
    write(tmp_path, name, "txt")
    header, *rows = released(REAL / folder / "kshot-16-100" / f"{file}.tsv")
    # SNLI's rows have up to five annotators' labels under a header of one; the gold label is the last.
    given = [dict(zip(header, fields, strict=False)) | {"gold_label": fields[-1]} for fields in rows]
    text = table(name, [{column: each.get(column, "") for column in COLUMNS[name]} for each in given])
    (tmp_path / f"{FILES[name][0]}.txt").write_text(text, newline="")
    train = make(name, tmp_path, "MNLI").splits["train"]
    found = zip(train["premise"], train["hypothesis"], train["label"], train["pairID"], strict=True)
    fields = ("sentence1", "sentence2", "gold_label", "pairID")
    assert list(found) == [tuple(each[field] for field in fields) for each in given]
    assert len(given) == 48
