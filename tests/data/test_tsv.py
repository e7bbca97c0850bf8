"""Reading prepared examples: text as it stands, and every mistake named with its file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark, UnknownNameError, load_benchmark
from gluebench.data import DataError, load_split

MANIFEST = """
[benchmark]
name = "tiny"
[tasks.Pairs]
columns = ["premise", "hypothesis"]
labels = { yes = "it follows", no = "it does not" }
metrics = [{ name = "accuracy" }]
splits = { train = { size = 3 }, test = { size = 2 } }
source = { corpus = "own", license = "CC0", citation = "none" }
[tasks.Scores]
columns = ["sentence"]
score_range = [0.0, 5.0]
metrics = [{ name = "pearson" }]
splits = { train = { size = 2 }, test = { size = 1 } }
source = { corpus = "own", license = "CC0", citation = "none" }
"""
HEADER = "index\tpremise\thypothesis\tlabel\n"


@pytest.fixture
def tiny(tmp_path: Path) -> Benchmark:
    path = tmp_path / "tiny.toml"
    path.write_text(MANIFEST)
    return load_benchmark(path)


def write(folder: Path, text: str | bytes, task: str = "Pairs", name: str = "train.tsv") -> Path:
    path = folder / task / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problems(folder: Path, benchmark: Benchmark, task: str = "Pairs", split: str = "train") -> list[str]:
    with pytest.raises(DataError) as caught:
        load_split(folder, benchmark, task, split)
    return caught.value.problems


def test_text_is_kept_byte_for_byte(tmp_path: Path, tiny: Benchmark) -> None:
    first = ' "a lone quote'
    second = 'two "" and a no-break\u00a0space, a line\u2028separator '
    write(tmp_path, f"{HEADER}7\t{first}\t{second}\tyes\n3\tx\ty\tno\n9\t\tz\tno")
    examples = load_split(tmp_path, tiny, "pairs", "train")
    assert [example.index for example in examples] == [7, 3, 9]
    assert examples[0].inputs == {"premise": first, "hypothesis": second}
    assert [example.label for example in examples] == ["yes", "no", "no"]
    assert examples[2].inputs["premise"] == ""


def test_carriage_returns_and_a_byte_order_mark_are_not_text(tmp_path: Path, tiny: Benchmark) -> None:
    write(tmp_path, ("\ufeff" + HEADER + "0\ta\tb\tyes\n1\tc\td\tno\n2\te\tf\tno\n").replace("\n", "\r\n"))
    assert [example.label for example in load_split(tmp_path, tiny, "Pairs", "train")] == ["yes", "no", "no"]


def test_a_test_split_has_no_label_column_and_a_regression_task_has_numbers(
    tmp_path: Path, tiny: Benchmark
) -> None:
    write(tmp_path, "index\tpremise\thypothesis\n0\ta\tb\n1\tc\td\n", name="test.tsv")
    assert [example.label for example in load_split(tmp_path, tiny, "Pairs", "test")] == [None, None]
    write(tmp_path, "index\tsentence\tlabel\n0\ta\t2.5\n1\tb\t0\n", task="Scores")
    assert [example.label for example in load_split(tmp_path, tiny, "Scores", "train")] == [2.5, 0.0]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("0\ta\tb\n", ":2: 3 columns, expected 4"),
        ("0\ta\tb\tc\tyes\n", ":2: 5 columns, expected 4"),
        ("\n", ":2: 1 columns, expected 4"),
        ("x\ta\tb\tyes\n", ':2: the index is "x", expected a whole number from 0'),
        ("-1\ta\tb\tyes\n", ':2: the index is "-1", expected a whole number from 0'),
        ("0\ta\tb\tyes\n0\ta\tb\tyes\n", ":3: the index 0 stands there for the second time"),
        ("0\ta\tb\tperhaps\n", ':2: the label is "perhaps", expected one of yes, no'),
        ("0\ta\tb\tyes\n", ":2: the file ends here with 1 examples, expected 3"),
    ],
)
def test_a_wrong_row_is_named_with_file_and_line(
    tmp_path: Path, tiny: Benchmark, rows: str, expected: str
) -> None:
    path = write(tmp_path, HEADER + rows)
    assert problems(tmp_path, tiny)[0] == f"{path}{expected}"


@pytest.mark.parametrize("label", ["", "high", "nan", "inf"])
def test_a_score_that_is_no_number_is_refused(tmp_path: Path, tiny: Benchmark, label: str) -> None:
    write(tmp_path, f"index\tsentence\tlabel\n0\ta\t{label}\n1\tb\t1\n", task="Scores")
    assert problems(tmp_path, tiny, "Scores")[0].endswith(f':2: the label is "{label}", expected a number')


def test_all_problems_come_together_and_the_message_stays_short(tmp_path: Path, tiny: Benchmark) -> None:
    write(tmp_path, HEADER + "oops\n" * 500)
    with pytest.raises(DataError) as caught:
        load_split(tmp_path, tiny, "Pairs", "train")
    assert len(caught.value.problems) == 500
    assert str(caught.value).splitlines()[-1] == "... and 480 more"


def test_a_wrong_header_an_absent_file_and_bytes_that_are_no_text_are_told(
    tmp_path: Path, tiny: Benchmark
) -> None:
    assert "no data of Pairs" in problems(tmp_path, tiny)[0]
    write(tmp_path, "index\tsentence1\tsentence2\tlabel\n")
    assert "expected the columns index premise hypothesis" in problems(tmp_path, tiny)[0]
    write(tmp_path, "")
    assert ':1: the header is ""' in problems(tmp_path, tiny)[0]
    write(tmp_path, HEADER.encode() + b"0\ta\tb\tyes\n1\t\xff\tb\tno\n")
    assert problems(tmp_path, tiny)[0].endswith(":3: not UTF-8 text (byte 0xff); save the file as UTF-8")


def test_an_unknown_task_or_split_is_told_with_those_there_are(tmp_path: Path, tiny: Benchmark) -> None:
    with pytest.raises(UnknownNameError, match="train, test"):
        load_split(tmp_path, tiny, "Pairs", "dev")
    with pytest.raises(UnknownNameError):
        load_split(tmp_path, tiny, "Triples", "train")
