"""Writing a submission from predictions in many forms, and mending the form of one."""

from __future__ import annotations

import json
import zipfile
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark, UnknownNameError
from gluebench.submission import Column, check, fix_submission, read_predictions, write_submission

Folder = Callable[[dict[str, str]], Path]


def json_lines(*rows: object) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_what_is_written_is_valid_and_reads_back_the_same(
    tiny: Benchmark, good: dict[str, str], folder: Folder, tmp_path: Path
) -> None:
    predictions = check(folder(good), tiny).predictions
    write_submission(tmp_path / "a.zip", predictions, tiny)
    write_submission(tmp_path / "b.zip", dict(reversed(predictions.items())), tiny)
    again = check(tmp_path / "a.zip", tiny)
    assert again.verdict == "valid"
    assert again.predictions == predictions
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert zipfile.ZipFile(tmp_path / "a.zip").read("Para.tsv").decode() == good["Para.tsv"]


def test_every_digit_of_a_score_is_written(tiny: Benchmark, tmp_path: Path) -> None:
    scores = array("d", [0.1 + 0.2, 1 / 3, 1e-17, 5.0, 2.5])
    write_submission(tmp_path / "s.zip", {"Sim": Column((), scores)}, tiny)
    assert check(tmp_path / "s.zip", tiny).predictions["Sim"].numbers == scores


def test_a_name_that_is_no_test_file_is_refused_and_nothing_is_left_behind(
    tiny: Benchmark, tmp_path: Path
) -> None:
    with pytest.raises(UnknownNameError, match="Para"):
        write_submission(tmp_path / "s.zip", {"Paar": Column(("0", "1"), b"\0")}, tiny)
    assert list(tmp_path.iterdir()) == []


def test_predictions_are_read_in_the_forms_people_have_them(
    tiny: Benchmark, good: dict[str, str], folder: Folder
) -> None:
    files = {
        "Para.txt": "1\n0\n1\n1\n0\n0\n",
        "Sim.csv": good["Sim.tsv"].replace("\t", ","),
        "Refer.jsonl": json_lines(
            {"idx": 1, "label": 1}, {"idx": 0, "label": 0}, {"idx": 3, "label": 0}, {"idx": 2, "label": "0"}
        ),
        "Infer-mm.jsonl": json_lines(
            *({"prediction": word} for word in ("contradiction", "neutral", "entailment"))
        ),
        "DX.tsv": good["DX.tsv"],
        "notes.txt": "not a test file",
    }
    read = read_predictions(folder(files), tiny)
    assert [problem.code for problem in read.problems] == ["ignored-file"]
    assert read.columns["Para"].words() == list("101100")
    assert read.columns["Refer"].words() == list("0100")
    assert read.columns["Infer-mm"].words() == ["contradiction", "neutral", "entailment"]
    assert read.columns["Sim"].numbers == array("d", [1.5, 2.25, 0, 5, 3.125])


@pytest.mark.parametrize("line", ["{", "[1]", '{"index": 0}', '{"prediction": null}', '{"prediction": true}'])
def test_a_bad_json_line_is_named(tiny: Benchmark, folder: Folder, line: str) -> None:
    read = read_predictions(folder({"Refer.jsonl": f'{{"label": 1}}\n{line}\n'}), tiny)
    assert [(problem.code, problem.line) for problem in read.problems] == [("json-line", 2)]


def test_the_wrong_number_of_lines_is_named(tiny: Benchmark, folder: Folder) -> None:
    read = read_predictions(folder({"Para.txt": "1\n0\n"}), tiny)
    assert "row-count" in [problem.code for problem in read.problems]
    assert not read.columns


def test_fix_mends_the_form_and_says_what_it_did(
    tiny: Benchmark, good: dict[str, str], folder: Folder, tmp_path: Path
) -> None:
    expected = check(folder(good), tiny).predictions
    spoiled = {
        "para.tsv": good["Para.tsv"].replace("\n", "\r\n").replace("\t1", "\t1.0"),
        "Sim.tsv": "\ufeff" + good["Sim.tsv"].replace("index", "id"),
        "Infer-m.tsv": good["Infer-m.tsv"]
        .replace("\tn", '\t"n')
        .replace("l\n", 'l"\n')
        .replace("entailment", "Entailment "),
        "Infer-mm.tsv": good["Infer-mm.tsv"].replace("\t", ","),
        "Refer.tsv": good["Refer.tsv"].removeprefix("index\tprediction\n").replace("\t0", "\tnot_entailment"),
        "diagnostic.tsv": good["DX.tsv"] + "3\tcontradiction\n",
    }
    source = tmp_path / "spoiled"
    source.mkdir()
    for name, text in spoiled.items():
        (source / name).write_bytes(text.encode())
    assert check(source, tiny).verdict == "invalid"
    mended = fix_submission(source, tmp_path / "out.zip", tiny)
    assert mended.problems == []
    again = check(tmp_path / "out.zip", tiny)
    assert again.problems == ()
    assert again.predictions == expected
    said = " ".join(mended.done)
    for word in (
        "renamed",
        "byte order mark",
        "quotes",
        "commas",
        "header added",
        "repetitions",
        "label words",
    ):
        assert word in said


@pytest.mark.parametrize(
    "rows", ["0\t0\n1\t1\n2\t0\n", "0\t0\n1\t1\n2\t0\n3\tmaybe\n", "0\t0\n1\t1\n2\t0\n3\t0\n3\t1\n"]
)
def test_fix_writes_nothing_when_it_would_have_to_guess(
    tiny: Benchmark, folder: Folder, tmp_path: Path, rows: str
) -> None:
    source = folder({"Refer.tsv": "index\tprediction\n" + rows})
    mended = fix_submission(source, tmp_path / "out.zip", tiny)
    assert mended.problems
    assert not (tmp_path / "out.zip").exists()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Para.csv", '"index","prediction"\n"0","1"\n"1","0"\n"2","1"\n"3","1"\n'),
        ("Para.csv", ",index,prediction\r\n0,3,1\r\n1,2,1\r\n2,1,0\r\n3,0,1\r\n"),
        ("Para.csv", "prediction\n1\n0\n1\n1"),
        ("Para.csv", 'id,text,prediction\n0,"a, b",1\n1,c,0\n2,d,1\n3,e,1'),
        ("Para.tsv", 'text\tindex\tprediction\n"a\t0\t1\nb"\t1\t0\nc\t2\t1\nd\t3\t1\n'),
        ("Para.jsonl", '{"prediction": 1}\n\n{"prediction": 0}\n{"prediction": 1}\n{"prediction": "1"}\n'),
    ],
)
def test_columns_are_found_by_their_names(tiny: Benchmark, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    read = read_predictions(tmp_path, tiny, role="dev")
    assert read.columns["Para"].words() == ["1", "0", "1", "1"]


def test_a_row_with_other_columns_than_the_header_is_refused(tiny: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "Para.csv").write_text("text,index,prediction\na,0,1\n1,0\nb,2,1,0\nc,3,1\n")
    read = read_predictions(tmp_path, tiny, role="dev")
    assert [problem.line for problem in read.problems if problem.code == "columns"] == [3, 4]


@pytest.mark.parametrize(
    ("name", "text"),
    [("Para.txt", "1\n0\nmaybe\n1\n"), ("Para.jsonl", '\n{"label": 1}\n{"label": "maybe"}\n')],
)
def test_lines_are_counted_as_an_editor_does_where_there_is_no_header(
    tiny: Benchmark, tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    (wrong,) = [p for p in read_predictions(tmp_path, tiny, role="dev").problems if p.code == "unknown-label"]
    assert wrong.line == 3


def test_a_place_that_cannot_be_written_is_named_as_its_author_did(tiny: Benchmark, tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"where\.zip'$"):
        write_submission(tmp_path / "no" / "where.zip", {}, tiny)
