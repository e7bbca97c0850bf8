"""One notation of numbers, parts and JSON for all forms, stricter than `float` and `json` are."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from submission.test_forms import KEYS, form_of, task
from submission.test_shapes import error, read

from gluebench import SubmissionError, check, load_benchmark, read_gold, write_submission
from gluebench.benchmark import Task
from gluebench.reading.notation import RepeatedError, loaded
from gluebench.scoring.gold import GoldError
from gluebench.submission.columns import read_columns
from gluebench.submission.rows import Layout, read_lines
from gluebench.submission.write import read_predictions

ARABIC, WIDE = "\u0660.\u0665", "\uff10.\uff15"  # 0.5 in Arabic and in full-width digits
DIGITS = [
    *(("probabilities", f"{digits} 0.5 0 0") for digits in (ARABIC, WIDE, "0.5_0")),
    *(("probabilities", json.dumps([digits, 0.5, 0, 0])) for digits in (ARABIC, WIDE, "0.5_0", True)),
    *(("distributions", f"0 0 {digits} 0.5") for digits in (ARABIC, WIDE, "0.5_0")),
    *(("spans", f"{digits}-12:joy") for digits in ("\u0661", "\uff11", "1_0", "+1", "1" + "0" * 30)),
    *(("open spans", f"0-12:{digits}") for digits in (ARABIC, WIDE, "0.5_0", "1e60")),
]
TWICE = [
    ("spans", "0-5:joy; 0-5:joy"),
    ("spans", "0-5:joy; 6-9:joy; 0-5:anger; 6-9:joy"),
    ("open spans", "0-5; 0-5"),
    ("open spans", "0-5:0.5; 0-5:0.7"),
    ("probabilities", '{"joy": 0.5, "anger": 0.5, "free wifi": 0, "ärger": 0, "joy": 0.5}'),
]
RANKINGS = ["d1,d2", "d1, d2", "d1 ,d2"]
SURROGATES = ['"\\ud800"', '"a \\uDFFF b"']
REFUSED = [
    *((*case, "bad-cell") for case in DIGITS),
    *((*case, "repeated-part") for case in TWICE),
    *(("ranking", cell, "bad-cell") for cell in RANKINGS),
    *(("text", cell, "bad-cell") for cell in SURROGATES),
]
USUAL = {
    "probabilities": "0.25 0.25 0.25 0.25",
    "distributions": "0.25 0.25 0.25 0.25",
    "spans": "0-5:joy; 6-9:joy",
    "open spans": "0-5; 6-9",
    "ranking": "d1 d2",
    "text": "a text",
}


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Task]:
    return {name: task(name, tmp_path_factory.mktemp("form")) for name in KEYS}


@pytest.mark.parametrize(("form", "cell", "code"), REFUSED)
def test_both_readers_refuse_it_and_name_row_and_value(
    forms: dict[str, Task], form: str, cell: str, code: str
) -> None:
    body = f"0\t{USUAL[form]}\n1\t{cell}\n2\t{USUAL[form]}\n".encode()
    layout = Layout((), 3, form=form_of(forms, form))
    (fault,) = read_lines(body, layout).shown
    assert (fault.code, fault.line, fault.example, fault.value) == (code, 3, 1, cell.encode())
    assert read_columns(body, layout) is None


@pytest.mark.parametrize("form", ["spans", "ranking"])
def test_the_usual_notation_is_read_in_columns(forms: dict[str, Task], form: str) -> None:
    cells = [USUAL[form], "0-5:joy; 0-5:anger; 0-6:joy; 1-5:joy" if form == "spans" else "d2 d1", ""]
    body = "".join(f"{at}\t{cell}\n" for at, cell in enumerate(cells * 20)).encode()
    layout = Layout((), 60, form=form_of(forms, form))
    assert read_columns(body, layout) == read_lines(body, layout)


def test_an_id_may_have_a_colon(forms: dict[str, Task]) -> None:
    assert form_of(forms, "ranking").read("a:b PMC:7") == ("a:b", "PMC:7")
    assert form_of(forms, "ranking", gold=True).read("a:b:2 PMC:7:1") == (("a:b", 2.0), ("PMC:7", 1.0))


@pytest.mark.parametrize(
    ("cells", "value"), [(["d1 d:x", "d2:0.5 d3:1", "a:7"], "d2:0.5"), (["a:b", "c", "12"], "")]
)
def test_ids_that_may_have_gains_draw_one_warning(tmp_path: Path, cells: list[str], value: str) -> None:
    task("ranking", tmp_path)
    (tmp_path / "T.tsv").write_text(
        "index\tprediction\n" + "".join(f"{at}\t{cell}\n" for at, cell in enumerate(cells))
    )
    submission = check(tmp_path / "T.tsv", tmp_path / "form.toml")
    assert submission.verdict == "valid"
    gains = [problem for problem in submission.problems if problem.code == "gain"]
    assert [(problem.index, problem.value) for problem in gains] == ([(1, value)] if value else [])


@pytest.mark.parametrize(
    ("form", "cell", "words"),
    [
        *(("ranking", f"d1:{digits}", "gains") for digits in (ARABIC, "1_0", "-1")),
        *(("ranking", cell, "without commas") for cell in ("d1,d2", ":2")),
        ("ranking", "d1:2 d1:1", "twice"),
        ("text", '["a", "\\ud800"]', "an answer"),
        *((form, cell, "twice") for form, cell in TWICE if form == "spans"),
    ],
)
def test_gold_has_the_same_notation(tmp_path: Path, form: str, cell: str, words: str) -> None:
    task(form, tmp_path)
    (tmp_path / "T.tsv").write_text(f"index\tlabel\n0\t\n1\t{cell}\n2\t\n", encoding="utf-8")
    with pytest.raises(GoldError) as caught:
        read_gold(tmp_path, tmp_path / "form.toml")
    (problem,) = caught.value.problems
    assert (problem.place, problem.value) == ("T.tsv:3 (index 1)", cell)
    assert words in problem.expected


def test_answers_of_several_annotators_may_be_the_same(forms: dict[str, Task]) -> None:
    assert form_of(forms, "text", gold=True).read('["a", "a", "b"]') == ("a", "a", "b")


def test_gains_are_written_as_they_are(forms: dict[str, Task]) -> None:
    form = form_of(forms, "ranking", gold=True)
    assert form.write((("d1", 2.0), ("d2", 1.23456789), ("d3", 1234567.0))) == "d1:2 d2:1.23456789 d3:1234567"


FILES = [
    ("labels", "json", '{"0": "joy", "1": "joy", "2": "joy", "3": "joy", "0": "joy"}', 1, "'0' is there t"),
    ("labels", "json lines", '{"id": "b-1", "label": "joy"}\n{"id": "ä", "label": "joy", "label": "joy"}', 2,
     "'label' is there twice"),
    ("labels", "json", '{"idx": 0, "value": "joy", "value": "anger"}\n{"idx": 1, "value": "joy"}\n', 1,
     "'value' is there twice"),
    ("text", "json lines", '{"id": "b-1", "label": "a"}\n{"id": "ä", "label": "\\ud800"}\n', 2, "half of"),
    ("text", "order", b"a\nb\n\xff\nd\n", 3, "UTF-8"),
    ("tokens", "json lines", '{"id": "b-1", "label": ["New York", "O"]}\n', 1, "not 'New York'"),
    ("sets", "json lines", '{"id": "b-1", "label": ["joy|anger"]}\n', 1, "not 'joy|anger'"),
    ("ranking", "json lines", '{"id": "b-1", "label": ["d1", ""]}\n', 1, "not ''"),
    ("ranking", "parts", f"id,x,y\nä,d1,{ARABIC}\n", 2, "a number as the score of d1"),
    ("labels", "csv column", "id,value,value\nb-1,joy,anger\n", 1, "one column value, not 2"),
    ("labels", "order in csv", "value,value\njoy,anger\n", 1, "one column value, not 2"),
    ("ranking", "parts", "id,x,y\nä,d1,1_0\n", 2, "a number as the score of d1"),
    ("ranking", "parts", "id,x,y\nä,d1,nan\n", 2, "a number as the score of d1"),
    ("ranking", "parts", "id,x,y\nä,d 1,2\n", 2, "not 'd 1'"),
    ("spans", "parts", "id,x,y\nä,\u0663 \u0664,joy\n", 2, "spans as 0-5:joy"),
    ("spans", "parts", "id,x,y\nä,0 99999999999,joy\n", 2, "positions of one span"),
    ("spans", "parts", "id,x,y\nä,3 4,joy\nä,3-5,joy\n", 3, "one is there twice"),
]  # fmt: skip


@pytest.mark.parametrize(("form", "shape", "content", "line", "words"), FILES)
def test_files_of_other_shapes_have_the_same_notation(
    tmp_path: Path, form: str, shape: str, content: str | bytes, line: int, words: str
) -> None:
    errors = read(tmp_path, form, shape, content).errors
    assert any(problem.line == line and words in problem.expected for problem in errors), errors


def test_gains_of_an_item_in_two_rows_of_gold_are_refused(tmp_path: Path) -> None:
    error(read(tmp_path, "ranking", "parts", "id,x,y\nb-1,d1,2\nb-1,d1,1\n"))  # writes the manifest
    (tmp_path / "T.csv").write_text("id,x,y\nb-1,d1,2\nb-1,d1,1\n", encoding="utf-8")
    with pytest.raises(GoldError, match=r"T\.csv:3 \(id b-1\): repeated-part"):
        read_gold(tmp_path, tmp_path / "shape.toml")


@pytest.mark.parametrize(
    ("form", "answers", "words"),
    [
        ("tokens", ["x \ud800", "y", "z"], "bad-cell"),
        ("text", ["\ud800", "y", "z"], "bad-cell"),
        ("ranking", [["d 1"], ["d2"], ["d3"]], "not 'd 1'"),
        ("tokens", [["a", "b c"], ["d"], ["e"]], "not 'b c'"),
        ("spans", [[(0, 5, "joy"), (0, 5, "joy")], [], []], "twice"),
    ],
)
def test_values_of_python_have_the_same_notation(
    tmp_path: Path, form: str, answers: list[Any], words: str
) -> None:
    task(form, tmp_path)
    with pytest.raises((SubmissionError, ValueError), match=words):
        write_submission(tmp_path / "s.zip", {"T": answers}, tmp_path / "form.toml")


def test_a_column_of_two_test_files_is_written_once(tmp_path: Path) -> None:
    """It is scored against two golds; it was written twice, which no reader can take."""
    path = tmp_path / "two.toml"
    path.write_text(
        '[benchmark]\nname = "two"\n[tasks.T]\nlabels = ["a", "b"]\nsplits.test.size = 2\n'
        'metrics = [{ name = "x", function = "accuracy", file = "one" }, '
        '{ name = "y", function = "accuracy", file = "two" }]\n'
        'files = [{ name = "one", member = "t.csv", column = "c", test = "test" }, '
        '{ name = "two", member = "t.csv", column = "c", test = "test" }]\n'
    )
    write_submission(tmp_path / "s.zip", {"one": ["a", "b"], "two": ["a", "b"]}, path)
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        assert archive.read("t.csv") == b"index,c\n0,a\n1,b\n"
    with pytest.raises(ValueError, match=r"t\.csv: expected the same predictions for all of the column c"):
        write_submission(tmp_path / "s.zip", {"one": ["a", "b"], "two": ["b", "b"]}, path)


def test_json_in_place_of_a_table_has_no_key_twice(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        '[benchmark]\nname = "m"\n[tasks.T]\nlabels = ["a", "b"]\nmetrics = [{ name = "accuracy" }]\n'
        "splits.test.size = 2\n"
    )
    benchmark = load_benchmark(path)
    for name, content, line in (
        ("T.json", '{"0": "a", "1": "a", "0": "b"}', 1),
        ("T.jsonl", '{"index": 0, "label": "a"}\n{"index": 1, "label": "a", "label": "b"}\n', 2),
    ):
        file = tmp_path / name
        file.write_text(content)
        (problem,) = read_predictions(file, benchmark).problems
        assert (problem.code, problem.line) == ("json-line", line)
        assert "is there twice" in problem.expected


@pytest.mark.parametrize(
    "text",
    ['[{"a":1,"a":2}]', '[{"a":1,"a" :2}]', '[{"a":":","a":2}]', '[{"a":1},{"b":"","b":"c"}]',
     '[{"a":1,"a"  :2,"b":":"}]', '[{"a":{"b":1,"b":2}}]', '[{"a":1,"\\u0061":2}]', '[{"a":1,"a"\t:2}]'],
)  # fmt: skip
def test_a_key_twice_is_found_in_flat_objects_too(text: str) -> None:
    with pytest.raises(RepeatedError, match="is there twice"):
        loaded(text, flat=True)


@pytest.mark.parametrize(
    "text", ['[{"a":"\\":"},{"b":":"}]', '[{"a":1},2]', '[{"a":{"b":": "}}]', '[{"a":]', "[NaN]"]
)
def test_flat_objects_are_read_as_others(text: str) -> None:
    assert repr(loaded(text, flat=True)) == repr(loaded(text))


@pytest.mark.parametrize("digits", ["\u0661", "\uff11"])
def test_other_digits_are_no_class_numbers(tmp_path: Path, digits: str) -> None:
    path = tmp_path / "m.toml"
    path.write_text(
        '[benchmark]\nname = "m"\n[tasks.T]\nlabels = ["a", "b"]\nmetrics = [{ name = "accuracy" }]\n'
        "splits.test.size = 2\n"
    )
    (tmp_path / "T.tsv").write_text(f"index\tprediction\n0\t{digits}\n1\t{digits}\n", encoding="utf-8")
    fixed = read_predictions(tmp_path / "T.tsv", load_benchmark(path), labels=[["a", "b"]])
    assert {problem.code for problem in fixed.problems} == {"unknown-label"}


def test_tags_in_small_letters_are_named_and_other_marks_are_text(forms: dict[str, Task]) -> None:
    layout = Layout((), 4, form=form_of(forms, "relations"))
    cells = ["a <b>c</b> <ARG0>d</ARG0> < e", "<arg0>a</arg0>", "<ARG0>a</Arg0></ARG0>", "<sig12>a"]
    lines = "".join(f'{at}\t["{cell}"]\n' for at, cell in enumerate(cells))
    shown = read_lines(lines.encode(), layout).shown
    assert [(fault.example, fault.value) for fault in shown] == [
        *((1, b"<arg0>"), (2, b"</Arg0>"), (3, b"<sig12>"))
    ]
