"""STS-B from files of our own in the original's layout, and from the original beside GLUE's copy."""

from __future__ import annotations

from pathlib import Path

import pytest
from real import REAL, needs_real

LINE = "main-news\theadlines\t2014\t0007\t2.6\tRain fell.\tIt rained."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sts-train.csv").write_text(
        f'{LINE}\nmain-forum\tdeft\t2015\t0008\t2.11111111111111\t "It rained.\tThe rain "fell".  \thttps://a\tb\n'
    )
    (tmp_path / "sts-dev.csv").write_text(f"{LINE}\n")
    (tmp_path / "sts-test.tsv").write_text(f"{LINE}\r\n")
    return tmp_path


def test_rows_of_seven_and_nine_columns_become_glues(folder, make) -> None:
    built = make("stsb", folder, "STS-B")
    assert built.splits["train"] == {
        "sentence1": ["Rain fell.", '"It rained.'],
        "sentence2": ["It rained.", 'The rain "fell".'],
        "label": [2.6, 2.11111111111111],
        "genre": ["main-news", "main-forum"],
        "filename": ["headlines", "deft"],
        "year": ["2014", "2015"],
        "old_index": ["0007", "0008"],
        "source1": ["none", "https://a"],
        "source2": ["none", "b"],
    }


def test_test_scores_are_kept_only_when_asked_for(folder, make) -> None:
    hidden = make("stsb", folder, "STS-B")
    assert "label" not in hidden.splits["test"]
    assert "--test-labels yes" in hidden.notes[0]
    shown = make("stsb", folder, "STS-B", test_labels="yes")
    assert (shown.splits["test"]["label"], shown.notes) == ([2.6], ())


def test_every_bad_row_is_named(folder, problems) -> None:
    path = folder / "sts-dev.csv"
    bad = [
        LINE,
        LINE.replace("2.6", "5.1"),
        LINE.replace("2.6", "-1"),
        f"{LINE}\tx",
        "",
        LINE.replace("2.6", "nan"),
    ]
    path.write_text("\n".join(bad))
    assert problems("stsb", folder, "STS-B") == [
        f'{path}:2: the score is "5.1", expected a number from 0 to 5',
        f'{path}:3: the score is "-1", expected a number from 0 to 5',
        f"{path}:4: 8 columns, expected 7 or 9",
        f"{path}:5: 1 column, expected 7 or 9",
        f'{path}:6: the score is "nan", expected a number from 0 to 5',
    ]


def test_a_task_with_label_words_cannot_take_scores(folder, problems) -> None:
    assert problems("stsb", folder, "MRPC") == [
        "MRPC: this task has label words, but the corpus has scores; choose a task with a score_range"
    ]


def test_a_missing_file_is_named(folder, problems) -> None:
    (folder / "sts-dev.csv").unlink()
    assert problems("stsb", folder, "STS-B") == [f"{folder}: no sts-dev.csv nor sts-dev.tsv in this folder"]


@needs_real
@pytest.mark.parametrize(("split", "rows"), [("train", 5749), ("dev", 1500), ("test", 1379)])
def test_the_original_equals_glues_copy_in_every_field(make, released, split, rows) -> None:
    built = make("stsb", REAL / "corpora" / "stsbenchmark", "STS-B", test_labels="yes")
    columns = built.splits[split]
    header, *theirs = released(REAL / "glue" / "STS-B" / f"{split}.tsv")
    assert len(theirs) == rows
    for place, name in enumerate(header[1:], 1):
        field = [row[place] for row in theirs]
        assert columns["label" if name == "score" else name] == (
            [float(score) for score in field] if name == "score" else field
        ), name
    assert len(columns["label"]) == rows
