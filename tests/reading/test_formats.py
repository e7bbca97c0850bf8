"""Any format becomes the same records, whatever the file is called."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.reading.formats import read_records
from gluebench.reading.records import Declared, ReadingError, Records

CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\ufeff"), max_size=8)
PLAIN = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=8)
ROWS = st.lists(st.tuples(PLAIN, CELLS), min_size=1, max_size=6)


def content(records: Records) -> tuple[tuple[str, ...], list[list[object]]]:
    return records.names, records.rows


@given(ROWS)
def test_one_table_in_all_formats(rows: list[tuple[str, str]]) -> None:
    names = ("qid", "answer")
    written = io.StringIO()
    csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows([names, *rows])
    objects = [dict(zip(names, row, strict=True)) for row in rows]
    wanted = (names, [list(row) for row in rows])
    declared = Declared(columns=("answer",))
    for text in (
        written.getvalue(),
        written.getvalue().replace('","', '";"')
        if all('","' not in cell for row in rows for cell in row)
        else "",
        json.dumps(objects),
        "".join(f"{json.dumps(each)}\n" for each in objects),
        json.dumps({"data": {"records": objects}}),
    ):
        if text:
            read = read_records(text.encode(), declared)
            expected = wanted
            if text.startswith('{"data"'):
                expected = (("data.records.qid", "data.records.answer"), wanted[1])
            assert content(read) == expected
    marked = read_records(b"\xff\xfe" + written.getvalue().encode("utf-16-le"), declared)
    assert content(marked) == wanted


def test_tabs_have_no_quotation_marks() -> None:
    read = read_records(b'id\ttext\n1\t"a\n2\tb, c\n', Declared(columns=("text",)))
    assert read.rows == [["1", '"a'], ["2", "b, c"]]
    assert [*read.lines] == [2, 3]


def test_lines_of_their_own() -> None:
    read = read_records(b"yes\n\nno, it is\n")
    assert (read.format, read.names, read.rows, read.lines) == ("lines", (), [["yes"], ["no, it is"]], [1, 3])


def test_a_cell_over_several_lines_keeps_the_lines_of_the_next_rows() -> None:
    read = read_records(b'id,text\n1,"a\nb"\n2,c\n', Declared(columns=("text",)))
    assert [*read.lines] == [2, 4]


def test_answers_in_questions_in_passages() -> None:
    question = {"question": "q0", "idx": 0, "answers": [{"text": "a", "idx": 0, "label": 0}]}
    other = {"question": "q1", "idx": 1, "answers": [{"text": text, "idx": 1, "label": 1} for text in "bc"]}
    line = json.dumps({"idx": 7, "passage": {"text": "P", "questions": [question, other]}})
    read = read_records(f"{line}\n{line}\n".encode(), usual=("label",))
    assert read.notes == ("records: `passage.questions.answers`",)
    assert read.column("label") == [0, 1, 1] * 2
    assert read.column("question") == ["q0", "q1", "q1"] * 2
    assert read.column("passage.text") == ["P"] * 6
    assert read.column("idx") == [0, 1, 1] * 2
    assert read.column(".idx") == [7] * 6
    assert read.groups == [0, 1, 1, 2, 3, 3]
    assert [*read.lines] == [1, 1, 1, 2, 2, 2]
    without = json.loads(line)
    for each in without["passage"]["questions"]:
        for answer in each["answers"]:
            del answer["label"]
    hidden = read_records(json.dumps(without).encode(), usual=("label",))
    assert hidden.groups == [0, 1, 1]  # found by their ids


def test_answers_of_squad_are_values_of_their_question() -> None:
    asked = {"id": "x1", "question": "Who?", "answers": [{"text": "A", "answer_start": 3}]}
    text = json.dumps(
        {"version": "1", "data": [{"title": "T", "paragraphs": [{"context": "C", "qas": [asked]}]}]}
    )
    read = read_records(text.encode())
    assert read.column("id") == ["x1"]
    assert read.column("context") == ["C"]
    assert read.column("answers") == [[{"text": "A", "answer_start": 3}]]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('{"a": 1, "b": 0}', [["a", 1], ["b", 0]]),
        ('{"a": {"label": 1}, "b": {"label": 0}}', [["a", 1], ["b", 0]]),
        ('{"id": "a", "label": 1}', [["a", 1]]),
        ('["x", "y"]', [["x"], ["y"]]),
        ("[0.1, 0.9]\n[0.2, 0.8]\n", [[[0.1, 0.9]], [[0.2, 0.8]]]),
        ("[0.1, 0.9]\t[1]\n[0.2, 0.8]\t[2]\n", [["[0.1, 0.9]", "[1]"], ["[0.2, 0.8]", "[2]"]]),
    ],
)
def test_json_of_other_shapes(text: str, rows: list[list[object]]) -> None:
    assert read_records(text.encode()).rows == rows


def test_a_list_under_a_key() -> None:
    read = read_records(b'{"sst2": [0, 1], "qqp": [1]}', Declared(path="sst2"))
    assert read.column("sst2") == [0, 1]


@pytest.mark.parametrize(
    ("data", "line", "said"),
    [
        (b"id\tlabel\n1\t\xff\n", 2, "UTF-8"),
        (b'{"a": 1}\n{"a": \n', 2, "JSON"),
        (b'id,text\n1,"a"b\n', 2, "cells between commas"),
        (b'{"a": {"a": 1, "a": 2}}', 1, "twice"),
        (b"\n\n", 1, "empty"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_line(data: bytes, line: int, said: str) -> None:
    with pytest.raises(ReadingError, match=said) as raised:
        read_records(data, usual=("label", "text"))
    assert raised.value.line == line


def test_the_missing_key_of_a_declared_path_is_named() -> None:
    with pytest.raises(ReadingError, match=r"key 'data\.qas', not other; Name the keys"):
        read_records(b'{"data": {"other": []}}', Declared(path="data.qas"))


@pytest.mark.parametrize(
    "second",
    ['{"id": 1, "id": 2}', '{"id" : 1, "id" : 2}', '{"id": "a", "id": 1}', '{"id": "\\"id\\":", "id": 1}'],
)
def test_a_key_twice_in_one_of_many_lines_is_named(second: str) -> None:
    with pytest.raises(ReadingError, match="'id' is there twice") as raised:
        read_records(f'{{"id": 0, "label": "x"}}\n{second}\n{{"id": 2}}\n'.encode())
    assert raised.value.line == 2


def test_an_object_over_several_lines_is_not_those_lines() -> None:
    """Joined, these lines would be three objects too."""
    with pytest.raises(ReadingError, match="expected JSON"):
        read_records(b'{"id": 0\n"label": "x"}\n{"id": 1}, {"id": 2}\n')


def test_a_text_that_is_broken_by_a_line_is_refused() -> None:
    """Joined by commas, these two lines would be two objects, with a comma in the text."""
    with pytest.raises(ReadingError, match="expected JSON") as raised:
        read_records(b'{"text": "x}\n{y"}, {"text": "z"}\n')
    assert raised.value.line == 1


def test_braces_and_objects_in_lines_are_read_as_they_are() -> None:
    records = read_records(
        b'{"id": 0, "text": "{x}"}\n{"id": 1, "text": "{y"}\n{"id": 2, "text": {"inner": "z"}}\n'
    )
    assert records.names == ("id", "text", "text.inner")
    assert records.rows == [[0, "{x}", None], [1, "{y", None], [2, None, "z"]]
    assert list(records.lines) == [1, 2, 3]
