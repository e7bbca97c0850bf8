"""Numbers whose decimal points an export removed: refused, while every other scale stays legal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark
from gluebench.submission import check, fix_submission, read_predictions
from gluebench.submission.values import submission_of

Folder = Callable[[dict[str, str]], Path]
HEADER = "index\tprediction\n"


def scores(values: str) -> str:
    return HEADER + "".join(f"{index}\t{value}\n" for index, value in enumerate(values.split()))


LOST = {
    "three decimals": "3 2250 0 5000 3125",
    "two decimals": "341 225 0 500 312",
    "any number of decimals": "34 3412 5 341 225",
    "the decimals of a double": "34120001792907715 2 25 42109999656677246 3125",
    "numpy.savetxt": "3412000000000000000e+00 2250000000000000000e+00 0 5 4125000000000000000e+00",
    "just above 100": "101 101 101 3 2",
    "below zero": "-3412 -250 -1125 2 50",
    "numbers below one kept theirs": "3412 2250 0.512 3.1 4125",
}
LEGAL = {
    "cosine": "0.1 -0.25 0.97 1 0.5",
    "whole percentages": "65 100 88 97 70",
    "percentages": "65.5 100 88.2 97.1 70.25",
    "a scale to 1000 with decimals": "655.5 1000 882.5 971.5 702.5",
    "z-scores": "-1.25 2.5 -3 0 11.125",
    "whole, some below zero": "-3 -1 0 7 2",
    "log-probabilities": "-512.25 -130.5 -700.125 -810.5 -0.25",
    "two outliers of five": "3412 9999 3 2 1",
    "up to 100": "100 100 100 100 -100",
    "more digits than a score has": "1e20 1e20 1e20 341 3",
    "huge": "1e50 -1e50 1e49 0 1e48",
}


@pytest.mark.parametrize("name", LOST)
def test_lost_decimal_points_are_refused(tiny: Benchmark, folder: Folder, name: str) -> None:
    submission = check(folder({"Sim.tsv": scores(LOST[name])}), tiny)
    assert submission.verdict == "invalid"
    assert [problem.code for problem in submission.errors] == ["lost-decimals"]
    assert "Sim" not in submission.predictions


@pytest.mark.parametrize("name", LEGAL)
def test_other_scales_are_legal_and_warned_of(tiny: Benchmark, folder: Folder, name: str) -> None:
    submission = check(folder({"Sim.tsv": scores(LEGAL[name])}), tiny)
    values = [float(value) for value in LEGAL[name].split()]
    assert submission.predictions["Sim"].numbers.tolist() == values
    outside = [value for value in values if not 0 <= value <= 5]
    warnings = [problem for problem in submission.problems if problem.code == "outside-range"]
    assert [float(problem.value or "nan") for problem in warnings] == outside


def test_the_error_names_row_value_and_remedy(tiny: Benchmark, folder: Folder) -> None:
    shuffled = HEADER + "4\t3125\n\n1\t0\n2\t2250\n0\t3\n3\t5000\n"
    (problem,) = check(folder({"Sim.tsv": shuffled}), tiny).errors
    assert (problem.file, problem.line, problem.index, problem.value) == ("Sim.tsv", 5, 2, "2250")
    assert "from 0 to 5" in problem.expected
    assert "3 of 5" in problem.expected
    assert "decimal point" in problem.fix
    assert "locale" in problem.fix


def test_every_way_in_refuses_them(tiny: Benchmark, folder: Folder, tmp_path: Path) -> None:
    source = folder({"Sim.tsv": scores(LOST["three decimals"])})
    assert [problem.code for problem in fix_submission(source, tmp_path / "a.zip", tiny).problems] == [
        "lost-decimals"
    ]
    assert not (tmp_path / "a.zip").exists()
    (tmp_path / "Sim.txt").write_text("\n".join(LOST["three decimals"].split()))
    (problem,) = read_predictions(tmp_path / "Sim.txt", tiny).problems
    assert (problem.code, problem.line, problem.index) == ("lost-decimals", 2, 1)
    (problem,) = submission_of({"Sim": [3, 2250, 0, 5000, 3125]}, tiny).errors
    assert (problem.code, problem.line, problem.index) == ("lost-decimals", None, 1)


@pytest.mark.parametrize("text", ["1.234,5", "3'412", "3\u066b412"])
def test_other_decimal_marks_are_no_numbers(tiny: Benchmark, folder: Folder, text: str) -> None:
    submission = check(folder({"Sim.tsv": scores(f"1 2 {text} 4 5")}), tiny)
    (problem,) = submission.errors
    assert (problem.code, problem.line, problem.index, problem.value) == ("not-a-number", 4, 2, text)


@pytest.mark.parametrize(("values", "verdict"), [("341 225 3 2", "incomplete"), ("341 225 312 2", "invalid")])
def test_half_of_the_numbers_is_not_most(tiny: Benchmark, folder: Folder, values: str, verdict: str) -> None:
    assert check(folder({"Sim.tsv": scores(values)}), tiny, role="dev").verdict == verdict
