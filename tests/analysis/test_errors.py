"""Cases, filters, rates and the page, on a file small enough to count by hand."""

from __future__ import annotations

import json
import re

import pytest

from gluebench.analysis.errors import Case, CaseFile, CaseFilter, rates
from gluebench.analysis.errors.cases import length_bands, overlap_band
from gluebench.analysis.errors.page import page
from gluebench.benchmark import load_benchmark
from gluebench.scoring.intervals import wilson

TASK = load_benchmark("sample").task("AX")


def case(index: int, gold: str, *answers: str, **more) -> Case:
    inputs = {"premise": f"Row {index} is here.", "hypothesis": more.pop("text", "Row.")}
    return Case(index, inputs, gold, answers, tuple(answer != gold for answer in answers), **more)


@pytest.fixture
def file() -> CaseFile:
    return CaseFile(
        TASK,
        "AX",
        "test",
        ("one", "two"),
        (
            case(0, "entailment", "entailment", "entailment", phenomena=("Negation",), length=4, overlap=1.0),
            case(1, "neutral", "entailment", "neutral", phenomena=("Negation",), length=9, overlap=0.2),
            case(2, "neutral", "entailment", "entailment", length=9, overlap=0.5),
            case(3, "contradiction", "neutral", "entailment", length=20, overlap=0.79, text="</script><b>"),
        ),
    )


def found(file: CaseFile, wanted: CaseFilter) -> list[int]:
    return [case.index for case in file.cases if wanted(case)]


@pytest.mark.parametrize(
    ("wanted", "indices"),
    [
        (CaseFilter(), [1, 2, 3]),
        (CaseFilter("all-wrong"), [2, 3]),
        (CaseFilter("only"), [1]),
        (CaseFilter("disagree"), [1, 3]),
        (CaseFilter("right"), [0]),
        (CaseFilter("all", gold="neutral"), [1, 2]),
        (CaseFilter("all", answer="neutral"), [1, 3]),
        (CaseFilter("all", phenomena=frozenset({"Negation"})), [0, 1]),
        (CaseFilter("all", shortest=5, longest=9), [1, 2]),
        (CaseFilter("all", least=0.5, most=0.79), [2, 3]),
        (CaseFilter("all", pattern=re.compile("row 3", re.IGNORECASE)), [3]),
    ],
)
def test_a_filter_chooses_its_rows(file, wanted, indices):
    assert found(file, wanted) == indices


def test_rates_count_the_errors_of_each_system(file):
    by_name = {(rate.kind, rate.name): rate for rate in rates(file)}
    assert by_name["overall", ""].wrong == (3, 2)
    assert by_name["label", "neutral"].wrong == (2, 1)
    assert by_name["phenomenon", "Negation"][2:4] == (2, (1, 0))
    assert by_name["overlap", "60 to 80 %"].n == 1
    assert sum(rate.n for rate in rates(file) if rate.kind == "length") == 4
    assert ("phenomenon", "Datives") not in by_name
    assert by_name["overall", ""].bars[0].withheld, "four examples are too few for an interval"


def test_the_interval_is_wilsons_and_wider_for_groups(file):
    alone = [case(n, "neutral", "neutral" if n % 3 else "entailment", "neutral") for n in range(60)]
    many = CaseFile(TASK, "AX", "test", ("one", "two"), tuple(alone))
    bar = rates(many)[0].bars[0]
    assert (bar.low, bar.high) == wilson(20, 60)[:2]
    twins = tuple(
        case(n, "neutral", "neutral" if n // 2 % 3 else "entailment", "neutral", group=n // 2)
        for n in range(60)
    )
    wider = rates(CaseFile(TASK, "AX", "test", ("one", "two"), twins))[0].bars[0]
    assert wider.high - wider.low > bar.high - bar.low


def test_bands_of_length_cover_every_example_once():
    lengths = [3, 3, 4, 8, 8, 8, 9, 12, 30, 31]
    bands = length_bands(lengths)
    assert all(sum(low <= length <= high for low, high in bands) == 1 for length in lengths)
    assert length_bands([7] * 5) == [(7, 7)]
    assert length_bands([]) == []
    assert [overlap_band(share) for share in (0.0, 0.2, 0.6, 1.0, None)] == [0, 1, 3, 4, None]


def test_the_page_is_whole_loads_nothing_and_no_text_can_end_its_data(file):
    html = page([file], title="Errors of <one>")
    assert html == page([file], title="Errors of <one>")
    assert "<title>Errors of &lt;one&gt;</title>" in html
    assert "default-src 'none'" in html
    assert not re.search(r"(src|href)=.?(https?:)?//", html)
    assert "{{" not in html
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])
    assert [row[0] for row in data["files"][0]["cases"]] == [0, 1, 2, 3]
    assert data["files"][0]["cases"][3][1][1] == "</script><b>"
    assert "<td>75.0 %</td>" in html, "the summary can be read without a script"
