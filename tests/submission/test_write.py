"""Writing a submission from predictions in many forms, and mending the form of one."""

from __future__ import annotations

import json
import zipfile
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark, UnknownNameError, load_benchmark
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
    assert read.problems == []
    assert "notes.txt: left out, as it is named as no test file" in read.done
    assert read.columns["Para"].words() == list("101100")
    assert read.columns["Refer"].words() == list("0100")
    assert read.columns["Infer-mm"].words() == ["contradiction", "neutral", "entailment"]
    assert read.columns["Sim"].numbers == array("d", [1.5, 2.25, 0, 5, 3.125])


@pytest.mark.parametrize("line", ["{", "[1]", '{"index": 0}', '{"prediction": null}'])
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


def test_the_zip_has_plain_members_with_a_fixed_date(tiny: Benchmark, tmp_path: Path) -> None:
    write_submission(tmp_path / "a.zip", {"Para": list("101100"), "Refer": list("0100")}, tiny)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == ["Para.tsv", "Refer.tsv"]
        for member in archive.infolist():
            assert member.date_time == (1980, 1, 1, 0, 0, 0)
            assert member.compress_type == zipfile.ZIP_DEFLATED
            assert member.external_attr >> 16 == 0o644
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_an_older_zip_stays_when_the_new_one_cannot_be_written(
    tiny: Benchmark, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.zip").write_bytes(b"older")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(OSError, match="No space"):
        write_submission(tmp_path / "a.zip", {"Para": list("101100")}, tiny)
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]
    assert (tmp_path / "a.zip").read_bytes() == b"older"


def test_columns_with_indices_of_their_own_keep_them(tiny: Benchmark, tmp_path: Path) -> None:
    columns = {
        "Para": Column(("0", "1"), bytes([1, 0, 1])).take([2, 1]),
        "Sim": Column((), array("d", [1.5, 2])).take([1]),
    }
    write_submission(tmp_path / "a.zip", columns, tiny)
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.read("Para.tsv") == b"index\tprediction\n2\t1\n1\t0\n"
        assert archive.read("Sim.tsv") == b"index\tprediction\n1\t2.0\n"


def test_a_single_file_of_predictions_may_be_named(tiny: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "Refer.TXT").write_text("0\n1\n0\n0\n")
    assert read_predictions(tmp_path / "Refer.TXT", tiny).columns["Refer"].words() == list("0100")
    (tmp_path / "folder.txt").mkdir()
    assert list(read_predictions(tmp_path, tiny).columns) == ["Refer"]


def test_what_cannot_be_read_of_a_folder_is_said(tiny: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "model.bin").write_text("no format of predictions")
    names = ", ".join(f"{name}.tsv" for name in ("Para", "Sim", "Infer-m", "Infer-mm", "Refer", "DX"))
    assert [str(problem) for problem in read_predictions(tmp_path, tiny).problems] == [
        f"no-files: found 'notes.txt'; expected at least one of {names}. "
        "If notes.txt holds all tasks, say the task of each row in a column `task`, or write a file for "
        "each; else name it as its task's test file."
    ]
    (tmp_path / "Refer.txt").write_text("0\n1\n0\n0\n")
    (tmp_path / "refer.tsv").write_text("index\tprediction\n0\t0\n1\t1\n2\t0\n3\t0\n")
    (tmp_path / "DX.jsonl").write_text("[]\n" + " " * 5 + "\n")
    read = read_predictions(tmp_path, tiny)
    assert [str(problem) for problem in read.problems] == [
        "DX.jsonl:1: json-line: found '[]'; expected an object with \"prediction\", "
        'as {"index": 0, "prediction": "entailment"}. Write one such object a line.'
    ]
    left = {step.partition(":")[0] for step in read.done if "left out" in step}
    assert left == {"model.bin", "Refer.txt", "notes.txt"}


def test_errors_alone_are_not_followed_by_advice_on_names(tiny: Benchmark, tmp_path: Path) -> None:
    (tmp_path / "DX.jsonl").write_text("{" * 70)
    (problem,) = read_predictions(tmp_path, tiny).problems
    assert (problem.code, problem.value) == ("json-line", "{" * 60)


@pytest.mark.parametrize(
    ("name", "data", "codes"),
    [
        ("Para.csv", b"index;prediction\n0;1\n", ["missing-index"]),
        ("Para.csv", b"text,prediction\na,1\nb,0\nc,1\nd,1\n", ["separator"]),
        ("Para.csv", b"index,prediction\0\n0,1\n", ["encoding"]),
        ("Para.csv", b"", ["empty-file"]),
        ("Para.csv", b'"index,prediction\n' + b"x" * 200_000, ["separator"]),
        ("Para.tsv", b"index\ttext\tguess\n0\ta\t1\n", ["header"]),
        ("Para.txt", b"\xff\n0\n1\n1\n", ["unknown-label"]),
        ("Para.jsonl", b'{"label": "\xff"}\n{"label": 0}\n{"label": 1}\n{"label": 1}\n', ["json-line"]),
        ("Para.csv", b"index,prediction\n0,\xff\n1,0\n2,1\n3,1\n", ["unknown-label"]),
    ],
)
def test_other_tables_are_explained(
    tiny: Benchmark, tmp_path: Path, name: str, data: bytes, codes: list[str]
) -> None:
    (tmp_path / name).write_bytes(data)
    found = read_predictions(tmp_path, tiny, role="dev")
    assert {problem.code for problem in found.problems} - {"row-count", "columns"} == set(codes)
    assert not found.columns


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("Para.csv", b"\xef\xbb\xbf Index , Prediction \n0,1\n1,0\n2,1\n3,1\n"),
        ("Para.CSV", b"idx,label,prediction\n0,9,1\n1,9,0\n2,9,1\n3,9,1\n"),
        ("Para.csv", b"id,idx,index,prediction\n9,9,0,1\n9,9,1,0\n9,9,2,1\n9,9,3,1\n"),
        ("Para.csv", b"index,guess\n0,1\n1,0\n2,1\n3,1\n"),
        ("Para.csv", b"index;prediction\n0;1\n1;0\n2;1\n3;1\n"),
        ("Para.csv", b"prediction\r\n1\r\n0\r\n1\r\n1\r\n"),
        ("Para.jsonl", b'{"id": 9, "index": 3, "label": 0, "prediction": 1}\n{"idx": 1, "label": 0}\n'
                       b'{"id": 2, "label": 1}\n{"index": 0, "label": 1}\n'),
        ("Para.jsonl", b'{"label": 1}\n{"label": 0}\n{"label": 1}\n{"label": "1"}'),
        ("Para.txt", b"1\r\n0\r\n1\r\n1"),
    ],
)  # fmt: skip
def test_columns_and_keys_have_an_order_of_preference(
    tiny: Benchmark, tmp_path: Path, name: str, data: bytes
) -> None:
    (tmp_path / name).write_bytes(data)
    found = read_predictions(tmp_path, tiny, role="dev")
    assert found.problems == []
    assert found.columns["Para"].words() == ["1", "0", "1", "1"]


def test_fix_says_each_step(tiny: Benchmark, tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "para.tsv").write_bytes(b"\xef\xbb\xbfId\tprediction\r\n\r\n0\t1\r\n1\t0\r\n2\t1\r\n3\t1\r\n")
    (source / "notes.md").write_text("mine")
    target = tmp_path / "out.zip"
    assert fix_submission(source, target, tiny, role="dev").done == [
        "para.tsv: renamed to Para.tsv",
        "para.tsv: byte order mark removed",
        "para.tsv: line ends rewritten",
        "para.tsv: header rewritten",
        "para.tsv: blank lines removed",
        "notes.md: left out, as it is named as no test file",
        f"wrote 1 file to {target}",
    ]
    (source / "Sim.tsv").write_bytes("index,prediction\n0,1.5\n1,2\n2,2\n3,4\n3,4\n".encode("utf-16"))
    (source / "para.tsv").write_bytes(b'guess,label\n"+0" ,1.0\n1.0, 0\n2,"1"\n03,01\n')
    fixed = fix_submission(source, target, tiny, role="dev")
    assert fixed.problems == []
    assert fixed.done == [
        "Sim.tsv: UTF-16 rewritten as UTF-8",
        "Sim.tsv: commas replaced by tabs",
        "Sim.tsv: 1 exact repetitions of rows removed",
        "para.tsv: renamed to Para.tsv",
        "para.tsv: commas replaced by tabs",
        "para.tsv: header rewritten",
        "para.tsv: quotes and spaces around values removed",
        "para.tsv: indices written as integers",
        "para.tsv: label words written as the benchmark has them",
        "notes.md: left out, as it is named as no test file",
        f"wrote 2 files to {target}",
    ]
    again = check(target, tiny, role="dev")
    assert again.predictions["Para"].words() == ["1", "0", "1", "1"]
    assert again.predictions["Sim"].numbers.tolist() == [1.5, 2, 2, 4]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\xfe\xff" + "index\tprediction\n0\t1\n1\t0\n2\t1\n3\t1\n".encode("utf-16-be"), "1011"),
        (b"0\t1\n1\t0\n2\t1\n3\t1\n", "1011"),
        (b"index\tprediction\r0\t+1\r1\t0.\r2\t1\r3\t1\r", "1011"),
        (b"0\tNOT_ENTAILMENT\n1\tEntailment\n2\t0\n3\t1\n", "0101"),
        (b"0,0\n1,1\n2,0\t\n3,0\n", "0100"),
        (b"0\t0\n-1\t1\n2\t0\n3\t1\n", None),
        (b"0\t0\n1\t1\t1\n2\t0\n3\t1\n", None),
        (b"0\t0\n1\t-1\n2\t0\n3\t1\n", None),
        (b"0\t0\n1\t0.5\n2\t0\n3\t1\n", None),
        (b"0\t\xff\n1\t1\n2\t0\n3\t1\n", None),
        (b"\n \n", None),
        (b"PK\3\4 no zip at all", None),
    ],
)
def test_fix_changes_form_and_never_a_label(
    tiny: Benchmark, tmp_path: Path, data: bytes, words: str | None
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "Refer.tsv").write_bytes(data)
    fixed = fix_submission(tmp_path / "in", tmp_path / "out.zip", tiny)
    assert (tmp_path / "out.zip").exists() == (words is not None) == (not fixed.problems)
    assert all(problem.severity == "error" for problem in fixed.problems)
    if words is not None:
        assert check(tmp_path / "out.zip", tiny).predictions["Refer"].words() == list(words)


def test_fix_of_two_files_for_one_and_of_none(tiny: Benchmark, good: dict[str, str], folder: Folder) -> None:
    source = folder({"DX.tsv": good["DX.tsv"], "diagnostic.tsv": good["DX.tsv"], "Para.tsv": "spoiled"})
    found = fix_submission(source, source / "out.zip", tiny).problems
    assert [problem.code for problem in found][:2] == ["two-files", "header"]
    assert found[0].expected == "expected one file for DX, and DX.tsv and diagnostic.tsv would both be it"
    for path in source.iterdir():
        path.unlink()
    (none,) = fix_submission(source, source / "out.zip", tiny).problems
    assert str(none) == (
        "no-files: expected at least one of Para.tsv, Sim.tsv, Infer-m.tsv, Infer-mm.tsv, Refer.tsv, DX.tsv. "
        "Name each file as its task's test file."
    )


def test_a_large_file_of_equal_rows_is_valid(tmp_path: Path) -> None:
    """Compressed, such a file would be refused as a zip bomb."""
    benchmark = load_benchmark("klue")
    task = benchmark.task("RE")
    uniform = [[1 / len(task.vocabulary)] * len(task.vocabulary)] * task.splits["test"].size
    write_submission(tmp_path / "s.zip", {"RE": uniform}, benchmark)
    checked = check(tmp_path / "s.zip", benchmark)
    assert not checked.errors
    assert "RE" in checked.predictions
