"""The paper's claims on the paper's numbers: which hold is pinned, and each can come out either way."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from gluebench.data import DataError
from gluebench.systems.reproduce.claims import FINDINGS, Numbers, judge_finding, paper_numbers, read_results

BY_NAME = {finding.name: finding for finding in FINDINGS}
ON_TEST = {
    "multi-task-better": "holds",
    "multi-task-better-with": "does not hold",
    "attention-alone": "holds",
    "attention-together": "holds",
    "elmo-better": "holds",
    "elmo-single-sentence": "holds",
    "cove-mixed": "holds",
    "encoders-in-order": "holds",
    "infersent-competitive": "holds",
    "gensen-third": "does not hold",
    "encoders-fail-cola": "holds",
    "trained-lag-stsb": "holds",
    "wnli-unsolved": "cannot be told",
    "best-has-both": "holds",
}
ON_DEV = ON_TEST | {
    "multi-task-better": "does not hold",
    "gensen-third": "holds",
    "encoders-fail-cola": "does not hold",
    "wnli-unsolved": "does not hold",
    "best-has-both": "does not hold",
}
ON_DIAGNOSTIC = {
    "far-below-people": "holds",
    "structure-above-logic": "holds",
    "single-above-multi": "holds",
    "trained-above-encoders": "holds",
    "attention-matters-most": "holds",
    "attention-mixed": "holds",
    "universal-easy": "holds",
    "morphological-negation-easy": "holds",
    "double-negation-hard": "holds",
    "elmo-helps-double-negation": "holds",
    "cove-helps-double-negation": "does not hold",
    "attention-fails-downward": "holds",
    "restrictivity-hard": "holds",
}


@pytest.mark.parametrize(
    ("table", "expected"), [("table4", ON_TEST), ("table6", ON_DEV), ("table5", ON_DIAGNOSTIC)]
)
def test_the_paper_s_own_numbers(table: str, expected: dict[str, str]) -> None:
    found = {
        finding.name: judge_finding(finding, paper_numbers(table)).verdict
        for finding in FINDINGS
        if table in finding.tables
    }
    assert found == expected


def test_the_printed_test_scores_break_two_claims_and_these_numbers_do_it() -> None:
    """By hand from Table 4: +Attn, CoVe 63.1 (multi) under 63.2 (single); four rows above GenSen's 66.2."""
    assert (
        "attn-cove -0.1" in judge_finding(BY_NAME["multi-task-better-with"], paper_numbers("table4")).detail
    )
    detail = judge_finding(BY_NAME["gensen-third"], paper_numbers("table4")).detail
    above = ("single-bilstm-elmo 66.4", "single-bilstm-attn-elmo 66.5", "multi-bilstm-elmo 67.7", "70.0")
    assert all(part in detail for part in above)


def changed(table: str, row: str, column: str, value: float) -> Numbers:
    values = {name: dict(columns) for name, columns in paper_numbers(table).values.items()}
    values[row][column] = (value,)
    return Numbers(values, table=table)


@pytest.mark.parametrize(
    ("name", "table", "row", "column", "value", "expected"),
    [
        ("multi-task-better-with", "table4", "multi-bilstm-attn-cove", "Avg", 63.3, "holds"),
        ("attention-alone", "table4", "single-bilstm-attn", "Avg", 64.5, "does not hold"),
        ("attention-together", "table4", "multi-bilstm-attn-cove", "Avg", 62.9, "does not hold"),
        ("elmo-better", "table4", "single-bilstm-elmo", "Avg", 63.95, "does not hold"),
        ("elmo-single-sentence", "table4", "multi-bilstm-attn-elmo", "CoLA", 10.0, "does not hold"),
        ("cove-mixed", "table4", "single-bilstm-cove", "Avg", 63.9, "does not hold"),
        ("encoders-in-order", "table4", "skip-thought", "Avg", 58.9, "does not hold"),
        ("infersent-competitive", "table4", "infersent", "Avg", 63.0, "does not hold"),
        ("gensen-third", "table4", "gensen", "Avg", 66.6, "holds"),
        ("encoders-fail-cola", "table4", "gensen", "CoLA", 8.3, "does not hold"),
        ("trained-lag-stsb", "table4", "multi-bilstm", "STS-B", 78.3, "does not hold"),
        ("best-has-both", "table4", "gensen", "Avg", 70.1, "does not hold"),
        ("far-below-people", "table5", "gensen", "All", 40, "does not hold"),
        ("structure-above-logic", "table5", "gensen", "Logic", 30, "does not hold"),
        ("single-above-multi", "table5", "multi-bilstm", "All", 21, "does not hold"),
        ("trained-above-encoders", "table5", "infersent", "All", 21, "does not hold"),
        ("attention-matters-most", "table5", "single-bilstm-elmo", "All", 40, "does not hold"),
        ("restrictivity-hard", "table5", "gensen", "Restrictivity", 1, "holds"),
        ("double-negation-hard", "table5", "multi-bilstm", "Double Negation", 20, "does not hold"),
        ("elmo-helps-double-negation", "table5", "multi-bilstm-elmo", "Double Negation", -8, "does not hold"),
        ("cove-helps-double-negation", "table5", "single-bilstm-attn-cove", "Double Negation", 21, "holds"),
        (
            "attention-fails-downward",
            "table5",
            "single-bilstm-attn",
            "Downward Monotone",
            40,
            "does not hold",
        ),
    ],
)
def test_one_number_can_turn_a_claim(
    name: str, table: str, row: str, column: str, value: float, expected: str
) -> None:
    assert judge_finding(BY_NAME[name], changed(table, row, column, value)).verdict == expected


def test_wnli_is_told_by_the_models_own_answers_on_glue_alone() -> None:
    values = {row: {**columns, "WNLI": (56.3,)} for row, columns in paper_numbers("table6").values.items()}
    finding = BY_NAME["wnli-unsolved"]
    assert judge_finding(finding, Numbers(values, table="table6")).verdict == "holds"
    assert judge_finding(finding, Numbers(values, "mine", "table6")).verdict == "cannot be told"


@pytest.mark.parametrize("finding", FINDINGS, ids=lambda finding: finding.name)
def test_every_claim_says_what_it_needs_and_comes_out_both_ways(finding) -> None:
    """Without any rows nothing can be told; on random numbers each claim holds at times only."""
    table = finding.tables[-1]
    lacking = judge_finding(finding, Numbers({}, table=table))
    assert lacking.verdict == "cannot be told"
    assert lacking.detail.startswith("no ")
    draw = random.Random(finding.name)
    # small random changes and large ones: some claims compare means of many rows
    verdicts = {
        judge_finding(finding, Numbers(_shaken(table, draw, scale), table=table)).verdict
        for scale in (0.0, 1.0, 30.0)
        for _ in range(50)
    }
    assert verdicts == {"holds", "does not hold"}
    assert finding.reading.endswith(".")


def _shaken(table: str, draw: random.Random, scale: float) -> dict[str, dict[str, tuple[float, ...]]]:
    level = {column: draw.gauss(0, scale) for column in paper_numbers(table).values["cbow"]}
    return {
        row: {
            column: tuple(value + level[column] + draw.gauss(0, scale) for value in numbers)
            for column, numbers in columns.items()
        }
        for row, columns in paper_numbers(table).values.items()
    }


def test_results_are_read_by_table(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    rows = {"cbow": {"Avg": [60.0]}, "skip-thought": {"Avg": [61.0]}}
    rows |= {"infersent": {"Avg": [62.0]}, "gensen": {"Avg": [63.0]}}
    path.write_text(json.dumps({"benchmark": "glue", "tables": {"table6": rows}}))
    (own,) = read_results(path).values()
    assert judge_finding(BY_NAME["encoders-in-order"], own).verdict == "holds"
    assert judge_finding(BY_NAME["elmo-better"], own).detail == "no Avg of single-bilstm-elmo"


@pytest.mark.parametrize(
    "text", ["", "[]", '{"tables": {}}', '{"benchmark": "glue", "tables": {"table6": {"cbow": 3}}}']
)
def test_another_file_is_refused_and_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"results\.json: not the results of rows"):
        read_results(path)
