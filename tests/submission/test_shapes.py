"""Files of every shape that a manifest can name: what is written is read, and what each fault says."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from submission.test_forms import LABELS, TAGS, VALUES

from gluebench import Benchmark, ManifestError, Problem, Submission, check, load_benchmark, write_submission

FORMS = {
    "labels": f'labels = {list(LABELS)}\nmetrics = [{{ name = "accuracy" }}]',
    "numbers": 'score_range = [0.0, 5.0]\nmetrics = [{ name = "neg_mae", scale = [-5.0, 0.0] }]',
    "sets": f'form = "sets"\nlabels = {list(LABELS)}\nmetrics = [{{ name = "sets_accuracy" }}]',
    "open sets": 'form = "sets"\nmetrics = [{ name = "sets_accuracy" }]',
    "probabilities": f'form = "probabilities"\nlabels = {list(LABELS)}\nmetrics = [{{ name = "neg_brier" }}]',
    "text": 'form = "text"\nmetrics = [{ name = "exact_match" }]',
    "tokens": 'form = "tokens"\nmetrics = [{ name = "token_accuracy" }]',
    "dependencies": 'form = "dependencies"\nmetrics = [{ name = "uas" }]',
    "spans": f'form = "spans"\nlabels = {list(LABELS)}\nmetrics = [{{ name = "span_f1" }}]',
    "ranking": 'form = "ranking"\nmetrics = [{ name = "map" }]',
    "relations": f'form = "relations"\nlabels = {list(TAGS)}\nmetrics = [{{ name = "relation_f1" }}]',
}
IDS = ["b-1", "a, 2", 'say "x"', "ä"]
TEST = "splits.test = {{ size = 4{more} }}\nfiles = [{{ name = 'T', test = 'test'{file} }}]"
SHAPES = {
    "index": TEST.format(more="", file=""),
    "ids": TEST.format(more=f", ids = {IDS}", file=""),
    "csv": TEST.format(more="", file=", member = 'a.csv'"),
    "csv column": TEST.format(more=f", ids = {IDS}", file=", member = 'a.csv', column = 'value'"),
    "tsv column": TEST.format(more=f", ids = {IDS}", file=", member = 'a.tsv', column = 'value'"),
    "json": TEST.format(more="", file=", member = 'a.json', column = 'value'"),
    "json of ids": TEST.format(more=f", ids = {IDS}", file=", member = 'a.json'"),
    "json lines": TEST.format(more=f", ids = {IDS}", file=", member = 'a.jsonl'"),
    "order": TEST.format(more=", ids = 'order'", file=""),
    "order in csv": TEST.format(more=", ids = 'order'", file=", member = 'a.csv', column = 'value'"),
    "order without header": TEST.format(more=", ids = 'order'", file=", member = 'a.tsv', column = '1'"),
    "order in json": TEST.format(more=", ids = 'order'", file=", member = 'a.json', column = 'value'"),
    "order in json lines": TEST.format(more=", ids = 'order'", file=", member = 'a.jsonl'"),
    "parts": TEST.format(more=f", ids = {IDS}", file=", member = 'a.csv', column = 'x', parts = 'y'"),
}
STRATEGIES = VALUES | {"labels": st.sampled_from(LABELS), "numbers": st.floats(-9, 9).map(float)}


def load(folder: Path, form: str, shape: str) -> Benchmark:
    path = folder / "shape.toml"
    path.write_text(f'[benchmark]\nname = "s"\n[tasks.T]\n{FORMS[form]}\n{SHAPES[shape]}\n', encoding="utf-8")
    return load_benchmark(path)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_written_is_read(tmp_path: Path, form: str, shape: str) -> None:
    if shape == "parts" and form not in ("spans", "ranking"):
        with pytest.raises(ManifestError, match=r"parts.*is of no use here"):
            load(tmp_path, form, shape)
        return
    benchmark = load(tmp_path, form, shape)

    @settings(max_examples=8)
    @given(st.lists(STRATEGIES[form], min_size=4, max_size=4))
    def round_trip(values: list[Any]) -> None:
        with tempfile.TemporaryDirectory() as folder:
            write_submission(Path(folder, "s.zip"), {"T": values}, benchmark)
            read = check(Path(folder, "s.zip"), benchmark)
            assert read.verdict == "valid", read.problems
            column = read.predictions["T"]
            assert (column.words() if column.labels else [*column.values]) == values
            write_submission(Path(folder, "t.zip"), read.predictions, benchmark)
            assert Path(folder, "s.zip").read_bytes() == Path(folder, "t.zip").read_bytes()

    round_trip()


def read(folder: Path, form: str, shape: str, content: str | bytes) -> Submission:
    benchmark = load(folder, form, shape)
    path = folder / benchmark.file("T").path
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return check(path, benchmark)


def values(submission: Submission, name: str = "T") -> list[Any]:
    assert submission.verdict == "valid", submission.problems
    column = submission.predictions[name]
    return column.words() if column.labels else [*column.values]


def error(submission: Submission) -> Problem:
    (problem,) = submission.errors
    return problem


JOY = ["joy", "anger", "joy", "joy"]
TIDY = 'id,value\nb-1,joy\n"a, 2",anger\n"say ""x""",joy\nä,joy\n'


@pytest.mark.parametrize(
    ("shape", "content"),
    [
        ("csv column", TIDY),
        ("csv column", TIDY.replace("\n", "\r\n")),
        ("csv column", TIDY.replace("\n", "\r")),
        ("csv column", "\ufeff" + TIDY),
        ("csv column", TIDY + "\n\n"),
        ("csv column", TIDY.replace("id,value", "tweet_id, value ")),
        ("csv column", 'text,id,value\na\u2028b,b-1,joy\n"c,\nd","a, 2",anger\n'
                       '"","say ""x""",joy\n-,ä,joy\n'),
        ("tsv column", 'value\tPairID\tq\njoy\tä\t"\nanger\ta, 2\t"\njoy\tb-1\t\njoy\tsay "x"\t\n'),
        ("json lines", '{"id": "b-1", "label": "joy"}\n\n{"label": "anger", "id": "a, 2"}\n'
                       '{"id": "say \\"x\\"", "answer": "joy"}\n{"id": "\\u00e4", "label": "joy", "n": []}'),
        ("json", '{"0": "joy", "1": "anger", "2": "joy", "3": "joy"}'),
        ("json", '[{"idx": 3, "value": "joy"}, {"idx": 0, "value": "joy"}, {"idx": 1, "value": "anger"},'
                 '{"idx": 2, "value": "joy"}]'),
        ("json", '{"data": [{"a": [{"id": 0, "value": "joy"}]}, {"a": [{"id": 1, "value": "anger"},'
                 '{"id": 2, "value": "joy"}, {"id": 3, "value": "joy", "x": {"y": 1}}]}], "version": 1}'),
        ("json", '{"idx": 0, "value": "joy"}\n{"idx": 1, "value": "anger"}\n{"idx": 2, "value": "joy"}\n'
                 '{"idx": 3, "value": "joy"}\n'),
        ("json", '[{"Idx": 3, "VALUE": "joy"}, {"Idx": 0, "VALUE": "joy"}, {"Idx": 1, "VALUE": "anger"},'
                 '{"Idx": 2, "VALUE": "joy"}]'),
        ("json of ids", '{"b-1": "joy", "say \\"x\\"": "joy", "\\u00e4": "joy", "a, 2": "anger"}'),
        ("json of ids", '[{"id": "b-1", "label": "joy"}, {"id": "say \\"x\\"", "label": "joy"},'
                        '{"id": "\u00e4", "label": "joy"}, {"id": "a, 2", "label": "anger"}]'),
        ("order in json", '{"Q_10": "joy", "Q_2": "anger", "Q_1": "joy", "Q_11": "joy"}'),
        ("order", "joy\nanger\njoy\njoy\n"),
        ("order", "my_system\r\njoy\r\nanger\r\njoy\r\njoy"),
        ("order in csv", "text,value\n\"a\nb\",joy\nc,anger\nd,joy\ne,joy\n"),
        ("order without header", "joy\tx\nanger\tx\njoy\tx\njoy\tx\n"),
        ("order in json", '{"other": [1], "value": ["joy", "anger", "joy", "joy"]}'),
        ("order in json", '{"value": [{"label": "joy"}, {"pred": "anger"}, {"label": "joy"},'
                          '{"score": "joy"}]}'),
        ("order in json", '["joy", "anger", "joy", "joy"]'),
        ("order in json lines", '"joy"\n"anger"\n{"label": "joy"}\n"joy"\n'),
    ],
)  # fmt: skip
def test_files_as_people_write_them(tmp_path: Path, shape: str, content: str) -> None:
    expected = ["joy", "anger", "joy", "joy"]
    assert values(read(tmp_path, "labels", shape, content)) == expected


def test_empty_cells_and_json_lists_are_values_of_each_form(tmp_path: Path) -> None:
    """An empty cell is the empty set, text or ranking; lists of JSON stand for cells."""
    lines = '{"label": ["joy"]}\n{"label": []}\n{"label": "anger|joy"}\n{"label": ""}\n'
    assert values(read(tmp_path, "sets", "order in json lines", lines)) == [
        *(("joy",), (), ("anger", "joy"), ())
    ]
    assert values(read(tmp_path, "text", "order", "a\n\nb\n\n")) == ["a", "", "b", ""]
    blocks = "\n\ntoken O\nx B-A\n\n\ny\tO\n\nz O\n\nw B-A\nv I-A"
    assert values(read(tmp_path, "tokens", "order", blocks)) == [("O", "B-A"), ("O",), ("O",), ("B-A", "I-A")]
    rows = "qid,x,y\nä,d1,0.5\nä,d2,7\nb-1,d3,-1\nä,d0,0.5\n"
    assert values(read(tmp_path, "ranking", "parts", rows)) == [("d3",), (), (), ("d2", "d1", "d0")]
    spans = "id,x,y\nä,4 5 6,joy\nä,0-2,anger\nb-1,9,joy\n"
    assert values(read(tmp_path, "spans", "parts", spans)) == [
        *(((9, 10, "joy"),), (), (), ((0, 2, "anger"), (4, 7, "joy")))
    ]


@pytest.mark.parametrize(
    ("form", "shape", "content", "line", "words"),
    [
        ("labels", "csv column", TIDY.replace("ä,joy", "ä,Joy"), 5, "joy, anger, free wifi or ärger"),
        ("labels", "csv column", TIDY.replace("ä,joy", "ä,"), 5, "joy, anger, free wifi or ärger"),
        ("labels", "csv column", TIDY.replace("ä,joy\n", ""), None, "a row for each of 4 ids"),
        ("labels", "csv column", TIDY + "c,joy\n", 6, "an id of this split"),
        ("labels", "csv column", TIDY + "ä,joy\n", 6, "each id once"),
        ("labels", "csv column", TIDY.replace(",value", ",label"), 1, "the column value"),
        ("labels", "csv column", TIDY.replace("id,", "number,"), 1, "a column of ids (id, index)"),
        ("labels", "csv column", TIDY.replace("ä,joy", "ä,joy,x"), 5, "2 cells, as in the header, not 3"),
        ("labels", "csv column", '"id\nx","value\nb-1,joy\n', 1, "a row of cells between"),
        ("labels", "csv column", "", 1, "the column value"),
        ("labels", "json", "{", 1, "JSON"),
        ("labels", "json", '[{"idx": 0, "value": "joy"}', 1, "JSON"),
        ("labels", "json", '{"idx": 0, "value": "joy"}\n{"idx": 1', 2, "JSON"),
        ("labels", "json lines", '{"id": "b-1", "label": "joy"}\nnull\n', 2, "JSON"),
        ("numbers", "json lines", '{"id": "b-1", "label": NaN}\n', 1, "finite"),
        ("sets", "csv column", TIDY.replace("ä,joy", "ä,joy|joy"), 5, "one is there twice"),
        ("probabilities", "csv column", "id,value\nb-1,1 1 0 0\n", 2, "sum to 1"),
        ("spans", "parts", "id,x,y\nä,4 6,joy\n", 2, "positions of one span"),
        ("ranking", "parts", "id,x,y\nä,d1,high\n", 2, "a number as the score of d1"),
        ("ranking", "parts", "id,x,y\nä,d1,2\nä,d1,1\n", 3, "one is there twice"),
        ("labels", "order", "joy\nanger\njoy\n", None, "each index from 0 to 3"),
        ("labels", "order", "joy\nanger\njoy\njoy\nanger\n", 5, "no index above 3"),
        ("labels", "order in csv", "text,value\na,joy\nb\n", 3, "2 cells"),
        ("labels", "csv column", TIDY.replace("ä,joy", '"ä\n1",joy'), 5, "an id of this split"),
        ("labels", "json", '[{"idx": "0\\t1", "value": "joy"}]', 1, "an integer from 0 to 3"),
        ("labels", "json", '{"idx": {"0": 0, "1": 1, "2": 2, "3": 3}, "value": {"0": "joy", "1": "joy", "2": '
                           '"joy", "3": "joy"}}', 1, "one with a column of 4 answers"),
        ("text", "json", '{"idx": [0, 1, 2, 3], "value": ["a", "b", "c", "d"]}', 1, "a column of 4 answers"),
        ("text", "order", "Oslo\nParis\tFrance\nRome\nBonn\n", 2, "1 cell, as in every line, not 2"),
        ("text", "order in csv", "value\nParis, France\nRome\nBonn\nOslo\n", 2, "1 cell"),
    ],
)  # fmt: skip
def test_what_a_fault_says(
    tmp_path: Path, form: str, shape: str, content: str, line: int | None, words: str
) -> None:
    submission = read(tmp_path, form, shape, content)
    assert submission.verdict == "invalid"
    assert any(problem.line == line and words in problem.expected for problem in submission.errors)


def test_faults_name_the_id(tmp_path: Path) -> None:
    content = TIDY.replace("ä,joy", "ä,sad").replace("b-1,joy", "b-2,joy")
    errors = read(tmp_path, "labels", "csv column", content).errors
    assert {problem.code for problem in errors} == {"unknown-label", "unknown-id", "missing-id"}
    told = {problem.code: f"{problem.value} {problem.id}" for problem in errors}
    assert "b-2" in told["unknown-id"]
    assert "b-1" in told["missing-id"]


def test_columns_of_one_file(tmp_path: Path) -> None:
    """Columns of several tasks; one that is missing is the fault of its task only."""
    text = "".join(
        f"[tasks.{name}]\n{FORMS[form]}\nsplits.test.size = 3\n"
        f'files = [{{ name = "{name}", member = "all.csv", column = "{name}" }}]\n'
        for name, form in (("A", "labels"), ("B", "numbers"), ("C", "sets"))
    )
    path = tmp_path / "three.toml"
    path.write_text(f'[benchmark]\nname = "three"\n{text}', encoding="utf-8")
    benchmark = load_benchmark(path)
    given = {"A": ["joy", "anger", "joy"], "B": [1.5, 2.0, 3.0], "C": [("anger", "joy"), (), ("joy",)]}
    write_submission(tmp_path / "s.zip", given, benchmark)
    assert [*check(tmp_path / "s.zip", benchmark).predictions] == ["A", "B", "C"]
    (tmp_path / "all.csv").write_text("id,A,C\n0,joy,\n1,joy,joy\n2,anger,sad\n")
    submission = check(tmp_path / "all.csv", benchmark)
    assert [*submission.predictions] == ["A"]
    assert [problem.line for problem in submission.errors] == [1, 4]


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    """Bytes that are no text end in an error of the file, not in a traceback."""
    for shape in SHAPES:
        form = "spans" if shape == "parts" else "labels"
        for content in (b"\x00\xff\xfe", b"PK\x03\x04" + bytes(40), b"id,x,y\n\xe4,1,joy\n", b"[" * 2000):
            assert read(tmp_path, form, shape, content).verdict == "invalid"


@pytest.mark.parametrize("shape", ["csv column", "json of ids", "order"])
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_is_read_and_said_in_every_shape(tmp_path: Path, shape: str, encoding: str) -> None:
    lines = "joy\nanger\njoy\njoy\n"
    objects = '{"b-1": "joy", "say \\"x\\"": "joy", "\u00e4": "joy", "a, 2": "anger"}'
    content = {"csv column": TIDY, "order": lines, "json of ids": objects}[shape]
    submission = read(tmp_path, "labels", shape, content.encode(encoding))
    assert values(submission) == JOY
    assert "utf-16" in {problem.code for problem in submission.problems}


def test_an_object_without_an_answer_moves_no_other(tmp_path: Path) -> None:
    """Where the order counts, leaving it out would give each next answer to the example before."""
    lines = '{"label": "joy"}\n{"text": "a"}\n{"label": "anger"}\n{"label": "joy"}\n{"label": "joy"}\n'
    problem = error(read(tmp_path, "labels", "order in json lines", lines))
    assert problem.line == 2
    assert "an object with the key 'prediction', not one with 'text'" in problem.expected


@pytest.mark.parametrize("depth", [30, 199, 201, 900, 3000, 100_000])
def test_deep_json_ends_in_a_problem(tmp_path: Path, depth: int) -> None:
    for opened, closed in (("[", "]"), ('{"a": ', "}"), ('{"a": [', "]}")):
        content = opened * depth + '{"idx": 0}' + closed * depth
        for shape in ("json", "json lines", "order in json", "index"):
            assert read(tmp_path, "labels", shape, content).verdict == "invalid"


@pytest.mark.parametrize("content", ["[{}" + ",{}" * 20_000 + "]", str({str(at): 1 for at in range(20_000)})])
def test_far_too_many_records_are_counted_and_not_read(tmp_path: Path, content: str) -> None:
    problem = error(read(tmp_path, "labels", "json", content.replace("'", '"')))
    assert "at most 10,008 records, and there are 20,00" in problem.expected


NUMBERED = """
[benchmark]
name = "numbered"
[tasks.T]
labels = ["a", "b"]
metrics = [
    {{ name = "x", function = "accuracy", file = "one" }},
    {{ name = "y", function = "accuracy", file = "two" }},
]
splits.test = {{ size = 2{ids} }}
files = [
    {{ name = "one", member = "t.tsv", column = "{one}", test = "test" }},
    {{ name = "two", member = "t.tsv", column = "{two}", test = "test" }},
]
"""


@pytest.mark.parametrize("ids", ["", ", ids = ['u', 'v']", ", ids = 'order'"])
@pytest.mark.parametrize(("one", "two"), [("1", "2"), ("2", "3"), ("2", "1"), ("3", "2"), ("2", "4")])
def test_columns_with_numbers_for_names_are_written_where_they_are_read(
    tmp_path: Path, ids: str, one: str, two: str
) -> None:
    """Without a header the first would be the second, and the ids would be predictions."""
    (tmp_path / "m.toml").write_text(NUMBERED.format(ids=ids, one=one, two=two))
    given = {"one": ["a", "b"], "two": ["b", "b"]}
    write_submission(tmp_path / "s.zip", given, tmp_path / "m.toml")
    submission = check(tmp_path / "s.zip", tmp_path / "m.toml")
    assert {name: column.words() for name, column in submission.predictions.items()} == given


@pytest.mark.parametrize(("ids", "rows"), [("", "0\t2\n1\t1\n"), (", ids = ['u', 'v']", "u\t2\nv\t1\n")])
def test_an_answer_that_looks_like_the_number_of_its_column_is_no_header(
    tmp_path: Path, ids: str, rows: str
) -> None:
    text = NUMBERED.format(ids=ids or ", ids = 'order'", one="2", two="2").replace('"a", "b"', '"1", "2"')
    (tmp_path / "m.toml").write_text(text)
    (tmp_path / "t.tsv").write_text(rows)
    assert values(check(tmp_path / "t.tsv", tmp_path / "m.toml"), "one") == ["2", "1"]
    if not ids:
        (tmp_path / "t.tsv").write_text(f"1\t2\n{rows}")
        assert values(check(tmp_path / "t.tsv", tmp_path / "m.toml"), "one") == ["2", "1"]


def test_a_first_text_like_the_name_of_the_column_needs_a_header(tmp_path: Path) -> None:
    """A file with a header and an answer too few has the same lines, and would be graded against others."""
    (error,) = read(tmp_path, "text", "order", "prediction\nb\nc\nd\n").errors
    assert "4 answers below the header 'prediction', and one is missing" in error.expected
    answers = read(tmp_path, "text", "order", "prediction\nprediction\nb\nc\nd\n")
    assert values(answers) == ["prediction", "b", "c", "d"]


@pytest.mark.parametrize("value", ["True", "false"])
def test_what_to_do_about_true_and_false_is_said(tmp_path: Path, value: str) -> None:
    labels = 'labels = ["0", "1"]\nmetrics = [{ name = "accuracy" }]'
    columns = 'form = "sets"\nlabels = ["a"]\nmetrics = [{ name = "sets_accuracy" }]'
    for form, shape in ((labels, ""), (labels, ", column = 'a'"), (columns, ", columns = ['a']")):
        (tmp_path / "m.toml").write_text(
            f'[benchmark]\nname = "m"\n[tasks.T]\n{form}\nsplits.test.size = 1\n'
            f"files = [{{ name = 'T', member = 'T.tsv'{shape} }}]\n"
        )
        header = "a" if shape else "prediction"
        (tmp_path / "T.tsv").write_text(f"index\t{header}\n0\t{value}\n")
        (error,) = check(tmp_path / "T.tsv", tmp_path / "m.toml").errors
        assert error.fix.startswith("Write 1 for True and 0 for False")


@pytest.mark.parametrize("cells", ["0.5 0.5,0,", "1,,0", "1,0 0,"])
def test_a_column_for_each_label_has_one_number_in_each_cell(tmp_path: Path, cells: str) -> None:
    (tmp_path / "m.toml").write_text(
        '[benchmark]\nname = "m"\n[tasks.T]\nform = "probabilities"\nlabels = ["x", "y", "z"]\n'
        'metrics = [{ name = "probability_accuracy" }]\nsplits.test.size = 2\n'
        'files = [{ name = "T", member = "t.csv", columns = ["x", "y", "z"] }]\n'
    )
    (tmp_path / "t.csv").write_text(f"id,x,y,z\n0, 1, 0, 0\n1,{cells}\n")
    (problem,) = check(tmp_path / "t.csv", tmp_path / "m.toml").errors
    assert (problem.line, problem.code) == (3, "shape")
    assert "parts that are not empty and have no ' ' in them" in problem.expected


def test_rows_that_are_parts_need_ids(tmp_path: Path) -> None:
    shape = SHAPES["parts"].replace(f"{IDS}", "'order'")
    (tmp_path / "m.toml").write_text(f'[benchmark]\nname = "m"\n[tasks.T]\n{FORMS["spans"]}\n{shape}\n')
    with pytest.raises(ManifestError, match=r'parts: "y" is of no use here; .* in a table with ids'):
        load_benchmark(tmp_path / "m.toml")


def declared(folder: Path, manifest: str, name: str, content: str) -> list[Any]:
    """The values of one file of a task that is declared so."""
    path = folder / "declared.toml"
    path.write_text(f'[benchmark]\nname = "d"\n[tasks.T]\n{manifest}\n', encoding="utf-8")
    (folder / name).write_text(content, encoding="utf-8")
    benchmark = load_benchmark(path)
    submission = check(folder / name, benchmark)
    read = values(submission)
    write_submission(folder / "again.zip", submission.predictions, benchmark)
    assert values(check(folder / "again.zip", benchmark)) == read
    return read


TWO = 'labels = ["joy", "anger"]\nmetrics = [{ name = "accuracy" }]\n'
OF_SETS = 'form = "sets"\nlabels = ["joy", "anger"]\nmetrics = [{ name = "sets_accuracy" }]\n'
OF_TAGS = 'form = "tokens"\nmetrics = [{ name = "token_accuracy" }]\n'


def file_of(member: str, more: str, ids: str = "") -> str:
    return f"splits.test = {{ size = 3{ids} }}\nfiles = [{{ name = 'T', member = '{member}', {more} }}]"


@pytest.mark.parametrize("member", ["a.csv", "a.tsv", "a.txt", "a.jsonl"])
@pytest.mark.parametrize("id_key", ["QuestionId", "answer"])
def test_what_is_declared_is_never_guessed(tmp_path: Path, member: str, id_key: str) -> None:
    """A declared answer that ends in "id" is no column of ids, and any column may be declared as that."""
    ids = [7, 5, 9]
    manifest = TWO.replace('"joy", "anger"', '"1", "2"')
    more = f"column = 'MisconceptionId', id = '{id_key}'"
    shape = file_of(member, more, f", ids = {ids}")
    rows = [(5, 1), (7, 2), (9, 1)]
    if member == "a.jsonl":
        lines = [f'{{"MisconceptionId": {value}, "{id_key}": {name}}}' for name, value in rows]
    else:
        mark = "\t" if member == "a.tsv" else ","
        lines = [f"MisconceptionId{mark}{id_key}", *(f"{value}{mark}{name}" for name, value in rows)]
    content = "".join(f"{line}\n" for line in lines)
    assert declared(tmp_path, manifest + shape, member, content) == ["2", "1", "1"]
    if id_key == "QuestionId":  # recognized by its name, too
        shape = file_of(member, "column = 'MisconceptionId'", f", ids = {ids}")
        assert declared(tmp_path, manifest + shape, member, content) == ["2", "1", "1"]


def test_an_id_column_that_is_declared_and_absent_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    shape = file_of("a.csv", "id = 'tweet'")
    path.write_text(f"[benchmark]\nname = 'd'\n[tasks.T]\n{TWO}{shape}")
    (tmp_path / "a.csv").write_text("id,prediction\n0,joy\n1,joy\n2,joy\n")
    assert "a column tweet and the column prediction" in error(check(tmp_path / "a.csv", path)).expected


@pytest.mark.parametrize("member", ["a.csv", "a.txt", "a.tsv", "a.json"])
@pytest.mark.parametrize("mark", [",", ";", "\t", "json"])
def test_the_format_is_that_of_the_content(tmp_path: Path, member: str, mark: str) -> None:
    content = "id,value\n0,joy\n2,anger\n1,joy\n".replace(",", mark)
    if mark == "json":
        content = '[{"id": 0, "value": "joy"}, {"id": 2, "value": "anger"}, {"id": 1, "value": "joy"}]'
    assert declared(tmp_path, TWO + file_of(member, "column = 'value'"), member, content) == [
        *("joy", "joy", "anger")
    ]


@pytest.mark.parametrize(("member", "mark"), [("a.txt", ","), ("a.csv", ","), ("a.tsv", "\t")])
def test_several_columns_need_no_ids(tmp_path: Path, member: str, mark: str) -> None:
    """As iSarcasm B releases and takes them."""
    content = "text,joy,anger\nx,1,0\ny,0,0\nz,1,1\n".replace(",", mark)
    shape = file_of(member, "columns = ['joy', 'anger']", ", ids = 'order'")
    assert declared(tmp_path, OF_SETS + shape, member, content) == [("joy",), (), ("anger", "joy")]


def test_labels_of_a_set_may_have_blanks_between_them(tmp_path: Path) -> None:
    manifest = OF_SETS + 'separator = " "\nsplits.test.size = 3'
    content = "index\tprediction\n0\tjoy  anger\n1\t\n2\tanger\n"
    assert declared(tmp_path, manifest, "T.tsv", content) == [("anger", "joy"), (), ("anger",)]


def test_tags_may_stand_in_a_column_without_ids(tmp_path: Path) -> None:
    shape = file_of("a.tsv", "column = 'slots'", ", ids = 'order'")
    content = "intent\tslots\nbook\tO B-X\nask\tO\nbook\tB-X I-X\n"
    expected = [("O", "B-X"), ("O",), ("B-X", "I-X")]
    assert declared(tmp_path, OF_TAGS + shape, "a.tsv", content) == expected
    blocks = "a O\nb B-X\n\nc O\n\nd B-X\ne I-X\n"
    assert declared(tmp_path, OF_TAGS + shape, "a.tsv", blocks) == expected
