"""QQP from a file of our own in the release's layout."""

from __future__ import annotations

from pathlib import Path

import pytest
from real import REAL, needs_real

HEADER = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n"
PLAIN = "".join(
    f"{row}\t{2 * row}\t{2 * row + 1}\tWhat is {row}?\tWho is {row}?\t{row % 2}\n" for row in range(20)
)


def write(folder: Path, text: str) -> Path:
    path = folder / "quora_duplicate_questions.tsv"
    path.write_text(text, newline="")
    return path


def test_quotes_are_csvs_and_may_hold_line_breaks(tmp_path, make) -> None:
    write(
        tmp_path,
        f'{HEADER}0\t1\t2\t"Is ""up"" a word?"\tHow is 6" long?\t0\r\n'
        '1\t3\t4\t"Two\n\nlines?"\t\ufeffcaf\u00e9\u2028?\t1\n',
    )
    built = make("qqp", tmp_path, "QQP", dev=0.0)
    assert built.splits == {
        "train": {
            "question1": ['Is "up" a word?', "Two\n\nlines?"],
            "question2": ['How is 6" long?', "\ufeffcaf\u00e9\u2028?"],
            "label": ["0", "1"],
            "id": ["0", "1"],
            "qid1": ["1", "3"],
            "qid2": ["2", "4"],
        }
    }
    assert [note.partition(":")[0] for note in built.notes] == ["train, dev", "test"]


def test_dev_is_a_share_drawn_by_the_seed_in_file_order(tmp_path, make) -> None:
    write(tmp_path, HEADER + PLAIN)
    splits = make("qqp", tmp_path, "QQP", dev=0.25, seed=3).splits
    assert len(splits["dev"]["id"]) == 5
    assert sorted(map(int, splits["train"]["id"] + splits["dev"]["id"])) == list(range(20))
    assert splits["dev"]["id"] == sorted(splits["dev"]["id"], key=int)
    assert splits == make("qqp", tmp_path, "QQP", dev=0.25, seed=3).splits
    assert any(make("qqp", tmp_path, "QQP", dev=0.25, seed=seed).splits != splits for seed in range(3))
    assert len(make("qqp", tmp_path, "QQP").splits["dev"]["id"]) == 2


def test_the_labels_go_to_another_benchmarks_words(tmp_path, make, own_task) -> None:
    write(tmp_path, HEADER + PLAIN)
    train = make("qqp", tmp_path, own_task(["eins", "zwei"], ["nein", "ja"]), dev=0.0).splits["train"]
    assert train["label"][:2] == ["nein", "ja"]
    assert train["zwei"][0] == "Who is 0?"


def test_every_bad_row_is_named(tmp_path, problems) -> None:
    path = write(
        tmp_path,
        f"{HEADER}0\t1\t2\ta\tb 0\n"
        "1\t3\t4\ta\tb\tyes\n"
        "x\t3\t4\ta\tb\t1\n"
        '2\t3\t4\t"a" b\tc\t1\n'
        '3\t3\t4\t"two\nlines"\tc\t1\n'
        '4\t5\t6\t"never closed\tb\t1\n5\t5\t6\t"c"\td\t0\n'
        "6\t5\t6\tc\td\t2\n",
    )
    told = problems("qqp", tmp_path, "QQP")
    assert told[:3] == [
        f"{path}:2: 5 columns, expected 6",
        f'{path}:3: ids 1, 3, 4 and label "yes"; expected numbers, and 0 or 1',
        f'{path}:4: ids x, 3, 4 and label "1"; expected numbers, and 0 or 1',
    ]
    assert told[3].startswith(f"{path}:5: a quotation mark is out of place")
    assert told[4].startswith(f"{path}:8: a quotation mark is out of place")
    assert told[5:] == [f'{path}:10: ids 6, 5, 6 and label "2"; expected numbers, and 0 or 1']


def test_a_quotation_mark_that_swallows_the_rest_is_no_row(tmp_path, problems) -> None:
    path = write(tmp_path, f'{HEADER}{PLAIN}20\t5\t6\t"never closed\tb\t1\n21\t5\t6\tc\td\t0\n')
    (told,) = problems("qqp", tmp_path, "QQP")
    assert told.startswith(f"{path}:22: ")


def test_two_rows_that_stray_quotation_marks_make_one_are_no_row(tmp_path, problems) -> None:
    path = write(tmp_path, f'{HEADER}{PLAIN}20\t5\t6\t"open\tb\t1\n21\t5\t6\tclosed"\td\t0\n')
    assert problems("qqp", tmp_path, "QQP") == [
        f"{path}:22: a tab within a field: a quotation mark is not closed"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEADER, "no pair below the header"),
        ("", "the file is empty"),
        ("test_id\tquestion1\n1\ta\n", 'the header is "test_id question1", expected id qid1'),
        ("<html></html>", "a web page, not the data"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path, problems, text, expected) -> None:
    write(tmp_path, text)
    assert expected in problems("qqp", tmp_path, "QQP")[0]


def test_bytes_that_are_not_utf_8_are_named_with_their_lines(tmp_path, problems) -> None:
    path = write(tmp_path, "")
    path.write_bytes((HEADER + PLAIN).encode().replace(b"What is 3", b"Caf\xe9 3"))
    assert problems("qqp", tmp_path, "QQP") == [f"{path}:5: not UTF-8 text (byte 0xe9)"]


def test_a_share_of_all_is_refused(tmp_path, problems) -> None:
    assert problems("qqp", tmp_path, "QQP", dev=1.0) == ["dev: 1.0, expected a share from 0 to below 1"]


@needs_real
def test_real_lines_are_read_as_csv_and_the_one_without_its_last_tab_is_named(
    tmp_path, make, problems, released
) -> None:
    """A sample of GLUE's train lines under the release's header: this checks quirks, not the release."""
    sample = REAL / "glue" / "QQP" / "mieseung.new_dev.tsv"
    text = sample.read_bytes().decode()
    path = write(tmp_path, HEADER + text)
    assert problems("qqp", tmp_path, "QQP") == [f"{path}:2: 5 columns, expected 6"]
    write(tmp_path, HEADER + text.partition("\n")[2])
    train = make("qqp", tmp_path, "QQP", dev=0.0).splits["train"]
    _, *rows = released(sample)
    assert (len(rows), train["id"]) == (23496, [row[0] for row in rows])
    assert train["label"] == [row[5] for row in rows]
    for column, place in (("question1", 3), ("question2", 4)):
        quoted = [row[place][:1] == '"' == row[place][-1:] for row in rows]
        plain = [
            row[place][1:-1].replace('""', '"') if cut else row[place]
            for row, cut in zip(rows, quoted, strict=True)
        ]
        assert train[column] == plain
        assert any(quoted)
