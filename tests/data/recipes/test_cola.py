"""CoLA from files of our own in the release's layout, and from the public release beside GLUE's copy."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from real import REAL, needs_real

ROWS = {
    "in_domain_train.tsv": "ab01\t1\t\tThe cat slept.\nab01\t0\t*\tCat the slept.\n",
    "in_domain_dev.tsv": 'ab02\t0\t?*\t"Whose the dog ran?\nab02\t1\t \tIt  rained.',
    "out_of_domain_dev.tsv": "cd03\t1\t\tShe ate caf\u00e9 cake, and\u2028 left.\r\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    (tmp_path / "tokenized").mkdir()
    for name, text in ROWS.items():
        (tmp_path / "raw" / name).write_text(text, newline="")
        (tmp_path / "tokenized" / name).write_text("ab01\t1\t\ttokens are not read .\n")
    return tmp_path


def archive(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "cola_public.zip", "w") as packed:
        for name, text in ROWS.items():
            packed.writestr(f"cola_public/raw/{name}", text)
    return folder


def test_train_is_in_domain_and_dev_goes_on_out_of_domain(folder, make) -> None:
    built = make("cola", folder, "CoLA")
    assert built.splits == {
        "train": {
            "sentence": ["The cat slept.", "Cat the slept."],
            "label": ["1", "0"],
            "source": ["ab01", "ab01"],
            "mark": ["", "*"],
        },
        "dev": {
            "sentence": ['"Whose the dog ran?', "It  rained.", "She ate caf\u00e9 cake, and\u2028 left."],
            "label": ["0", "1", "1"],
            "source": ["ab02", "ab02", "cd03"],
            "mark": ["?*", " ", ""],
        },
    }
    assert [note.partition(":")[0] for note in built.notes] == ["test"]
    assert [path.parent.name for path in built.files] == ["raw"] * 3


def test_the_archive_gives_what_its_files_give(folder, tmp_path_factory, make) -> None:
    packed = archive(tmp_path_factory.mktemp("zip"))
    built = make("cola", packed, "CoLA")
    assert built.splits == make("cola", folder, "CoLA").splits
    assert built.files == (packed / "cola_public.zip",)


def test_the_labels_go_to_another_benchmarks_words_in_order(folder, make, own_task) -> None:
    built = make("cola", folder, own_task(["satz"], ["falsch", "richtig"]))
    assert built.splits["train"]["label"] == ["richtig", "falsch"]
    assert built.splits["train"]["satz"][0] == "The cat slept."


def test_every_bad_row_is_named(folder, problems) -> None:
    path = folder / "raw" / "in_domain_train.tsv"
    path.write_bytes(b"ab01\t1\t\tfine\nab01\t1\tshort\nab01\tyes\t\tx\nab01\t1\t\tcaf\xe9\n")
    told = problems("cola", folder, "CoLA")
    assert told[0] == f"{path}:4: not UTF-8 text (byte 0xe9)"
    assert f"{path}:2: 3 columns, expected 4" in told
    assert f'{path}:3: the label is "yes", expected 0 or 1' in told


def test_a_web_page_is_not_data(folder, problems) -> None:
    path = folder / "raw" / "in_domain_train.tsv"
    path.write_text("\n<!DOCTYPE html><title>404</title>")
    assert problems("cola", folder, "CoLA") == [f"{path}: a web page, not the data; download the file again"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"<html>gone</html>", "a web page"), (b"PK\x03\x04 cut off", "not a whole zip")],
)
def test_an_archive_that_is_none_is_refused(tmp_path, problems, data, expected) -> None:
    (tmp_path / "cola_public.zip").write_bytes(data)
    (told,) = problems("cola", tmp_path, "CoLA")
    assert expected in told


def test_another_archive_of_that_name_is_refused(tmp_path, problems) -> None:
    with zipfile.ZipFile(tmp_path / "cola_public.zip", "w") as packed:
        packed.writestr("cola_public/tokenized/in_domain_train.tsv", ROWS["in_domain_train.tsv"])
        packed.writestr("cola_public/README", "of another release")
    (told,) = problems("cola", tmp_path, "CoLA")
    assert "holds no raw/in_domain_train.tsv" in told


def test_a_member_that_would_unpack_to_too_much_is_refused(tmp_path, problems, monkeypatch) -> None:
    monkeypatch.setattr("gluebench.data.sources.unpack.FREE", 2**20)
    with zipfile.ZipFile(tmp_path / "cola_public.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("cola_public/raw/in_domain_train.tsv", bytes(2 * 2**20))
    (told,) = problems("cola", tmp_path, "CoLA")
    assert "would unpack to 2,097,152 bytes" in told


def test_an_empty_folder_is_told_what_is_missing(tmp_path, problems) -> None:
    (told,) = problems("cola", tmp_path, "CoLA")
    assert "neither raw/in_domain_train.tsv nor cola_public.zip" in told


def test_the_raw_folder_itself_will_do_and_the_tokenized_one_is_never_taken(folder, make, problems) -> None:
    assert make("cola", folder / "raw", "CoLA").splits == make("cola", folder, "CoLA").splits
    for name in ROWS:
        (folder / "raw" / name).unlink()
    (told,) = problems("cola", folder, "CoLA")
    assert "neither raw/in_domain_train.tsv" in told


def test_two_copies_of_a_file_are_not_chosen_between(tmp_path, problems) -> None:
    for copy in ("first", "second"):
        (tmp_path / copy / "raw").mkdir(parents=True)
        (tmp_path / copy / "raw" / "in_domain_train.tsv").write_text(ROWS["in_domain_train.tsv"])
    (told,) = problems("cola", tmp_path, "CoLA")
    assert "several files of one name; point at the folder of one" in told


@needs_real
def test_the_release_equals_glues_copy_but_for_the_ten_rows_it_corrects(make, released) -> None:
    built = make("cola", REAL / "corpora" / "cola" / "cola_public", "CoLA")
    differing = {}
    for split, columns in built.splits.items():
        ours = list(
            zip(columns["source"], columns["label"], columns["mark"], columns["sentence"], strict=True)
        )
        theirs = released(REAL / "glue" / "CoLA" / f"{split}.tsv")
        assert len(ours) == len(theirs)
        for row, (one, other) in enumerate(zip(ours, theirs, strict=True)):
            if one != tuple(other):
                differing[split, row] = {field for field in range(4) if one[field] != other[field]}
    sentence, label_and_mark = {3}, {1, 2}
    assert differing == {("train", 6997): sentence} | {
        ("dev", row): label_and_mark if row in (522, 526) else sentence
        for row in (18, 73, 329, 522, 526, 728, 729, 730, 731)
    }


@needs_real
def test_the_real_archive_gives_what_its_files_give(make, tmp_path) -> None:
    real = REAL / "corpora" / "cola"
    (tmp_path / "cola_public.zip").write_bytes((real / "cola_public.zip").read_bytes())
    assert make("cola", tmp_path, "CoLA").splits == make("cola", real / "cola_public", "CoLA").splits
