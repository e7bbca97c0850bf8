"""What people write in every cell of sets, tags, spans and other forms is said once, or fixed."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from submission.test_shapes import IDS

from gluebench import Benchmark, check, load_benchmark
from gluebench.submission import fix_submission
from gluebench.submission.values import submission_of

TASKS = {
    "sets": 'form = "sets"\nlabels = { joy = "happy", anger = "cross", "free wifi" = "net" }\n'
    'metrics = [{ name = "sets_accuracy" }]',
    "tokens": 'form = "tokens"\nlabels = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]\n'
    'metrics = [{ name = "entity_f1" }]',
    "spans": 'form = "spans"\nlabels = ["joy", "anger"]\nmetrics = [{ name = "span_f1" }]',
    "ranking": 'form = "ranking"\nmetrics = [{ name = "map" }]',
    "text": 'form = "text"\nmetrics = [{ name = "exact_match" }]',
    "probabilities": 'form = "probabilities"\nlabels = ["yes", "no", "open"]\n'
    'metrics = [{ name = "neg_brier" }]',
}
SHAPES = {"index": ("T.tsv", ""), "ids": ("T.csv", f"ids = {IDS}")}


def benchmark_of(folder: Path, form: str, shape: str) -> Benchmark:
    member, ids = SHAPES[shape]
    path = folder / "form.toml"
    path.write_text(
        f"[benchmark]\nname = 'f'\n[tasks.T]\n{TASKS[form]}\n"
        f"splits.test = {{ size = 4{', ' * bool(ids)}{ids} }}\n"
        f"files = [{{ name = 'T'{', ' * bool(ids)}{f'member = {member!r}' * bool(ids)}, test = 'test' }}]\n",
        encoding="utf-8",
    )
    return load_benchmark(path)


def written(folder: Path, shape: str, cells: list[str]) -> Path:
    path = folder / SHAPES[shape][0]
    if shape == "index":
        rows = "".join(f"{at}\t{cell}\n" for at, cell in enumerate(cells))
        path.write_text(f"index\tprediction\n{rows}", encoding="utf-8")
        return path
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "prediction"], *zip(IDS, cells, strict=True)])
    return path


FIXED: list[tuple[str, list[str], list[str], list[str]]] = [
    ("sets", ["joy,anger", "joy", "", "anger, free wifi"], ["cell-separator"],
     ["anger|joy", "joy", "", "anger|free wifi"]),
    ("sets", ["Joy|ANGER", "free_wifi", "", "joy"], ["label-spelling"],
     ["anger|joy", "free wifi", "", "joy"]),
    ("sets", ["happy|cross", "net", "", "joy"], ["label-meaning"], ["anger|joy", "free wifi", "", "joy"]),
    ("sets", ["['joy', 'Anger']", "['joy']", "[]", "[]"], ["python-values", "label-spelling"],
     ["anger|joy", "joy", "", ""]),
    ("tokens", ["o b-per", "O", "O", "O O"], ["label-spelling"], ["O B-PER", "O", "O", "O O"]),
    ("tokens", ["O,B-PER", "O", "O;O", "O"], ["cell-separator"], ["O B-PER", "O", "O O", "O"]),
    ("tokens", ["S-PER O", "B-LOC M-LOC E-LOC", "O", "U-PER L-PER"], ["other-scheme"],
     ["B-PER O", "B-LOC I-LOC I-LOC", "O", "B-PER I-PER"]),
    ("tokens", ["['O', 'B-PER']", "['O']", "O", "O"], ["python-values"], ["O B-PER", "O", "O", "O"]),
    ("spans", ["[(0, 5, 'joy')]", "(3, 9, 'anger')", "[]", '[[0, 2, "joy"]]'], ["python-values"],
     ["0-5:joy", "3-9:anger", "", "0-2:joy"]),
    ("ranking", ["d1,d2", "d2, d1", "d3", "['d4', 'd1']"], ["python-values", "cell-separator"],
     ["d1 d2", "d2 d1", "d3", "d4 d1"]),
    ("probabilities", ["0.5,0.5,0", "[1 0 0]", "1 0 0", "[0, 1, 0]"], ["cell-separator", "python-values"],
     ["0.5 0.5 0", "1 0 0", "1 0 0", "0 1 0"]),
]  # fmt: skip
TOLD: list[tuple[str, list[str], str]] = [
    ("sets", ["0|1", "1", "", "2"], "class-numbers"),
    ("tokens", ["0 1", "1 2", "0", "O"], "class-numbers"),
    ("spans", ["good food", "bad", "", "loud"], "span-texts"),
    ("spans", ["5-5:joy", "0-3:joy", "", "7-7:anger"], "span-ends"),
    ("probabilities", ["yes", "no", "yes", "open"], "labels-alone"),
    ("probabilities", ["2.5 -1 0.3", "50 30 20", "1 0 0", "0 1 0"], "logits"),
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("form", "cells", "codes", "meant"), FIXED)
def test_what_can_only_mean_one_thing_is_fixed(
    tmp_path: Path, shape: str, form: str, cells: list[str], codes: list[str], meant: list[str]
) -> None:
    benchmark = benchmark_of(tmp_path, form, shape)
    path = written(tmp_path, shape, cells)
    submission = check(path, benchmark)
    assert sorted(problem.code for problem in submission.errors) == sorted(codes)
    assert not submission.unshown
    assert not fix_submission(path, tmp_path / "fixed.zip", benchmark).problems
    fixed = check(tmp_path / "fixed.zip", benchmark).predictions["T"]
    assert fixed == check(written(tmp_path, shape, meant), benchmark).predictions["T"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("form", "cells", "code"), TOLD)
def test_what_its_author_has_to_decide_is_told_in_one_line(
    tmp_path: Path, shape: str, form: str, cells: list[str], code: str
) -> None:
    benchmark = benchmark_of(tmp_path, form, shape)
    path = written(tmp_path, shape, cells)
    (problem,) = check(path, benchmark).errors
    assert problem.code == code
    assert problem.line == 2
    assert "rows, lines 2, " in problem.expected
    assert fix_submission(path, tmp_path / "fixed.zip", benchmark).problems == [problem]


def test_many_rows_are_one_line_and_the_rest_is_listed(tmp_path: Path) -> None:
    benchmark = benchmark_of(tmp_path, "sets", "index")
    errors = check(written(tmp_path, "index", ["Joy", "JOY", "sad", "happy"]), benchmark).errors
    told = {problem.code: problem for problem in errors}
    assert "(2 rows, lines 2, 3)" in told["label-spelling"].expected
    assert (told["bad-cell"].line, told["bad-cell"].value) == (4, "sad")
    assert told["label-meaning"].value == "happy"


def test_class_numbers_of_other_forms_are_fixed_in_the_order_that_is_given(tmp_path: Path) -> None:
    order = ["O", "I-LOC", "B-LOC", "I-PER", "B-PER"]
    benchmark = benchmark_of(tmp_path, "tokens", "index")
    path = written(tmp_path, "index", ["0 4 3", "2 1", "0", "0 0"])
    fixed = fix_submission(path, tmp_path / "fixed.zip", benchmark, labels=[order])
    assert fixed.done[0].endswith(f"labels: {', '.join(f'{word} for {at}' for at, word in enumerate(order))}")
    column = check(tmp_path / "fixed.zip", benchmark).predictions["T"]
    assert [*column.values] == [("O", "B-PER", "I-PER"), ("B-LOC", "I-LOC"), ("O",), ("O", "O")]


@pytest.mark.parametrize(
    ("form", "cells", "code"),
    [
        ("ranking", ["0.5 0.2", "0.9 0.1", "", "0.3"], "scores-for-ids"),
        ("text", ["'Paris'", "“Oslo”", "['Rome']", ""], "marked-texts"),
        ("text", ["'Paris'", "Oslo", "", "a"], ""),
        ("ranking", ["d1.5 d2", "0.9 0.1", "", "0.3"], ""),
    ],
)
def test_what_is_valid_and_odd_is_a_warning(tmp_path: Path, form: str, cells: list[str], code: str) -> None:
    benchmark = benchmark_of(tmp_path, form, "index")
    submission = check(written(tmp_path, "index", cells), benchmark)
    assert submission.verdict == "valid"
    assert [problem.code for problem in submission.problems] == [code] * bool(code)


@pytest.mark.parametrize("content", [
    "0\tjoy\n1\tjoy\n2\tanger\n3\t\n",
    "nr\tguess\n0\tJoy\n1\tjoy\n2\tanger\n3\t\n",
])  # fmt: skip
def test_a_header_that_is_lost_or_another_costs_no_row(tmp_path: Path, content: str) -> None:
    benchmark = benchmark_of(tmp_path, "sets", "index")
    (tmp_path / "T.tsv").write_text(content)
    assert not fix_submission(tmp_path / "T.tsv", tmp_path / "o.zip", benchmark).problems
    assert [*check(tmp_path / "o.zip", benchmark).predictions["T"].values] == [
        *(("joy",), ("joy",), ("anger",), ())
    ]


def test_values_from_python_are_told_the_same(tmp_path: Path) -> None:
    benchmark = benchmark_of(tmp_path, "sets", "index")
    cells: list[Any] = ["Joy", "happy", "joy,anger", ""]
    from_file = check(written(tmp_path, "index", cells), benchmark).errors
    from_python = submission_of({"T": cells}, benchmark).errors
    assert [each.code for each in from_python] == [each.code for each in from_file]
    assert [each.expected for each in from_python] == [each.expected for each in from_file]


def test_tags_without_a_beginning_are_warned_of(tmp_path: Path) -> None:
    (tmp_path / "mini.toml").write_text(
        '[benchmark]\nname = "mini"\n[tasks.T]\nform = "tokens"\nlabels = ["O", "B-X", "I-X"]\n'
        'metrics = [{ name = "entity_f1" }]\nsplits.test.size = 2\n'
    )
    benchmark = load_benchmark(tmp_path / "mini.toml")
    for tags, codes in (("I-X I-X", ["no-begin"]), ("B-X I-X", [])):
        path = tmp_path / "T.tsv"
        path.write_text(f"index\tprediction\n0\tO {tags}\n1\tO O I-X\n")
        assert [problem.code for problem in check(path, benchmark).problems] == codes
