"""MRPC from files of our own in Microsoft's layout, and from Microsoft's beside GLUE's copies."""

from __future__ import annotations

from pathlib import Path

import pytest
from real import REAL, needs_real

from gluebench.data.recipes.mrpc import tokenize

HEADER = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String\r\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "msr_paraphrase_train.txt").write_text(
        f"{HEADER}1\t10\t11\t\"The boat sank.\tThe boat's gone.\r\n"
        "0\t20\t21\tIt cost $5,000.\tIt didn't cost a lot.\r\n"
        "1\t30\t31\tAsk Dr. Low.\tShe wrote to the I\x12s.\r\n",
        newline="",
    )
    (tmp_path / "msr_paraphrase_test.txt").write_text(f"{HEADER}0\t40\t41\tRain.\tSun.\r\n", newline="")
    (tmp_path / "dev_ids.tsv").write_text("20\t21\n")
    return tmp_path


def test_the_listed_pairs_are_dev_and_the_rest_train(folder, make) -> None:
    built = make("mrpc", folder, "MRPC", tokenize="no", test_labels="yes")
    assert built.splits == {
        "train": {
            "sentence1": ['"The boat sank.', "Ask Dr. Low."],
            "sentence2": ["The boat's gone.", "She wrote to the I\x12s."],
            "label": ["1", "1"],
            "id1": ["10", "30"],
            "id2": ["11", "31"],
        },
        "dev": {
            "sentence1": ["It cost $5,000."],
            "sentence2": ["It didn't cost a lot."],
            "label": ["0"],
            "id1": ["20"],
            "id2": ["21"],
        },
        "test": {"sentence1": ["Rain."], "sentence2": ["Sun."], "label": ["0"], "id1": ["40"], "id2": ["41"]},
    }
    assert built.notes == ()


def test_glues_text_is_tokenized_and_its_test_labels_hidden(folder, make) -> None:
    built = make("mrpc", folder, "MRPC")
    assert built.splits["train"]["sentence1"] == ['" The boat sank .', "Ask Dr. Low ."]
    assert built.splits["train"]["sentence2"] == ["The boat 's gone .", "She wrote to the Is ."]
    assert built.splits["dev"]["sentence1"] == ["It cost $ 5,000 ."]
    assert built.splits["dev"]["sentence2"] == ["It didn 't cost a lot ."]
    assert "label" not in built.splits["test"]


def test_without_a_list_glues_own_is_used_and_what_it_misses_told(folder, make) -> None:
    (folder / "dev_ids.tsv").unlink()
    built = make("mrpc", folder, "MRPC")
    assert [len(built.splits[split]["id1"]) for split in ("train", "dev")] == [3, 0]
    assert "dev: 408 of the listed pairs are not in the train file" in built.notes


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The dogs' bowls weren't clean (yet).", "The dogs ' bowls weren 't clean ( yet ) ."),
        ("It rose 1,250, or 3%, by Sept. 4...", "It rose 1,250 , or 3 % , by Sept . 4 ..."),
        (
            "On Jan. 5 the U.S. team left. In Jan. Ann did.",
            "On Jan. 5 the U.S. team left . In Jan . Ann did .",
        ),
        ("A 1990's car -- see a_b/c@d.org.", "A 1990 's car -- see a _ b / c @ d.org."),
        ("J. Doe of Doe Corp. Ltd. sued.", "J. Doe of Doe Corp. Ltd. sued ."),
        ("  ", ""),
    ],
)
def test_tokens_in_the_manner_of_moses(text, tokens) -> None:
    assert tokenize(text) == tokens


def test_every_bad_row_is_named_and_a_spreadsheets_copy_explained(folder, problems) -> None:
    path = folder / "msr_paraphrase_test.txt"
    path.write_text(f"{HEADER}0\t40\t41\tRain\t in May.\tSun.\n2\t1\t2\ta\tb\n0\tx\t2\ta\tb\n1\t1\t2\n")
    told = problems("mrpc", folder, "MRPC")
    assert told[0].startswith(f"{path}: several rows lack columns or have too many")
    assert told[1:] == [
        f"{path}:2: 6 columns, expected 5",
        f'{path}:3: the row begins "2", "1", "2", expected 0 or 1 and two ids',
        f'{path}:4: the row begins "0", "x", "2", expected 0 or 1 and two ids',
        f"{path}:5: 3 columns, expected 5",
    ]


def test_another_header_and_a_bad_list_are_refused(folder, problems) -> None:
    (folder / "dev_ids.tsv").write_text("20\t21\n20 x\n")
    assert problems("mrpc", folder, "MRPC") == [f'{folder / "dev_ids.tsv"}:2: "20 x", expected two ids']
    path = folder / "msr_paraphrase_train.txt"
    path.write_text("label\ta\tb\n")
    (told,) = problems("mrpc", folder, "MRPC")
    assert told.startswith(f'{path}:1: the header is "label a b", expected Quality')


@needs_real
@pytest.mark.parametrize(("cut", "copy"), [("yes", "."), ("no", "variant-untokenized-msi")])
def test_microsofts_files_give_glues_ids_order_labels_and_text(make, released, cut, copy) -> None:
    built = make("mrpc", REAL / "corpora" / "msr-paraphrase", "MRPC", tokenize=cut, test_labels="yes")
    sizes = {}
    for split, columns in built.splits.items():
        _, *theirs = released(REAL / "glue" / "MRPC" / copy / f"{split}.tsv")
        sizes[split] = len(theirs)
        if split != "test":
            assert columns["label"] == [row[0] for row in theirs]
        ids = zip(columns["id1"], columns["id2"], strict=True)
        texts = zip(columns["sentence1"], columns["sentence2"], strict=True)
        assert list(map(list, ids)) == [row[1:3] for row in theirs]
        assert list(map(list, texts)) == [row[3:] for row in theirs]
    assert sizes == {"train": 3668, "dev": 408, "test": 1725}


@needs_real
def test_the_real_copy_that_a_spreadsheet_damaged_is_refused(problems) -> None:
    told = problems("mrpc", REAL / "corpora" / "msr-paraphrase" / "variant-aliastrm", "MRPC")
    assert "a spreadsheet has saved again" in told[0]
    assert len(told) > 1000
