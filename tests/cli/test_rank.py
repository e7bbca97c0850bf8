"""`gluebench rank` on a benchmark small enough to check by hand."""

from __future__ import annotations

import csv
import io
import json

import pytest

MIDDLE = {
    "Pairs": "11110000111100001000",
    "Likeness": [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 1, 0],
    "Probe": "110011001000",
}


@pytest.fixture
def ranked(world):
    middle = world.submission("middle", MIDDLE)

    def run(*options, systems=None):
        chosen = systems or (world.worse, middle, world.right)
        return world.run("rank", *chosen, "--gold", world.gold, "--resamples", 200, *options)

    return run


def data_of(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_board(ranked, world):
    found = data_of(ranked("--json"))
    names = [system["name"] for system in found["systems"]]
    assert names == [str(world.right), str(world.root / "middle"), str(world.worse)]
    assert [system["rank"] for system in found["systems"]] == [1, 2, 3]
    assert found["systems"][0]["value"] == 1.0
    assert len(found["pairs"]) == 3
    assert {rule: list(ranks.values()) for rule, ranks in found["rules"].items()}["kemeny"] == [3, 2, 1]
    assert len(found["holds"]) == 3


def test_intervals_are_withheld_where_compare_withholds_them(ranked, world):
    """A task of 12 numbers is too small; without it there is an interval for each rank."""
    withheld = ranked("--json")
    assert [system["low"] for system in data_of(withheld)["systems"]] == [None] * 3
    assert [system["first"] for system in data_of(withheld)["systems"]] == [None] * 3
    reason = "Rank intervals and shares of first places are withheld: too few examples on Likeness."
    assert withheld.stderr.count(reason) == 1
    assert data_of(withheld)["withheld"] == "too few examples on Likeness"
    printed = ranked()
    assert printed.stdout.count(reason) == 1
    assert "withheld" not in printed.stderr
    assert "rank  system" in printed.stdout, "no empty columns"
    compared = world.run("compare", world.worse, world.right, "--gold", world.gold)
    assert "too few to say on Likeness" in compared.stdout
    best, _, last = data_of(ranked("--json", "--weights", "Likeness=0"))["systems"]
    assert (best["low"], best["first"], last["high"]) == (1, 1.0, 3)


def test_neither_the_order_of_the_arguments_nor_a_twin_changes_a_number(ranked, world):
    middle, twin = world.root / "middle", world.submission("twin", MIDDLE)
    one = {each["name"]: each for each in data_of(ranked("--json"))["systems"]}
    other = data_of(ranked("--json", systems=(world.right, middle, world.worse)))["systems"]
    assert other == [one[each["name"]] for each in other]
    tied = {
        each["name"]: each
        for each in data_of(ranked("--json", systems=(middle, twin, world.right)))["systems"]
    }
    assert tied[str(middle)]["rank"] == tied[str(twin)]["rank"] == 2
    assert tied[str(twin)]["low"] == tied[str(middle)]["low"]
    assert tied[str(twin)]["group"] == tied[str(middle)]["group"]


def test_what_is_printed(ranked, world):
    result = ranked("--matrix")
    assert result.exit_code == 0, result.output
    assert "3 of 3 orders of two systems hold under every rule." in result.stdout
    assert "All pairs" in result.stdout
    for form in ("--markdown", "--latex"):
        assert "middle" in ranked(form).stdout
    rows = list(csv.DictReader(io.StringIO(ranked("--csv").stdout)))
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert rows[0]["Pairs"] == "1.0"


@pytest.mark.parametrize("rule", ["borda", "median", "kemeny"])
def test_other_rules_have_intervals_and_no_tests(ranked, rule):
    found = data_of(ranked("--json", "--by", rule, "--weights", "Likeness=0"))
    assert [system["rank"] for system in found["systems"]] == [1, 2, 3]
    assert found["systems"][0]["high"] == 1
    assert found["pairs"] == []
    assert found["systems"][0]["group"] is None


def test_missing_scores(ranked, world):
    part = world.submission("part", {"Pairs": MIDDLE["Pairs"]})
    ranks = {}
    for rule in ("unranked", "shared", "own", "lowest"):
        found = data_of(ranked("--json", "--missing", rule, systems=(world.right, part, world.worse)))
        ranks[rule] = [system["rank"] for system in found["systems"] if system["name"] == str(part)]
        assert found["tasks"] == (["Pairs"] if rule == "shared" else ["Pairs", "Likeness"])
    assert ranks == {"unranked": [None], "shared": [2], "own": [2], "lowest": [2]}


def test_a_task_that_weighs_nothing_is_left_out(ranked):
    result = ranked("--weights", "likeness=0")
    assert "Left out: Likeness" in result.stdout
    found = data_of(ranked("--json", "--weights", "Likeness=3"))
    assert found["weights"] == [1.0, 3.0]


def test_the_majority_convention_is_labeled(ranked):
    found = data_of(ranked("--json", "--majority", "Pairs"))
    assert {system["scores"]["Pairs"] for system in found["systems"]} == {
        found["systems"][0]["scores"]["Pairs"]
    }
    assert found["majority"] == ["Pairs"]
    assert (
        "Pairs: every system is taken to answer the most frequent label"
        in ranked("--majority", "Pairs").stdout
    )
    refused = ranked("--majority", "Likeness")
    assert refused.exit_code == 1
    assert "Likeness has numbers" in refused.stderr


def test_several_runs_of_a_system(ranked, world):
    for number, pairs in enumerate(("11110000111100001000", "11110000111100001111", "11110000111100000000")):
        world.submission(f"ours-{number}", {**MIDDLE, "Pairs": pairs})
    runs = f"ours={world.root}/ours-*"
    result = ranked("--runs", runs, systems=(world.right, world.worse))
    assert result.exit_code == 0, result.output
    assert "Means over runs: ours 3." in result.stdout
    assert "one run only" in result.stderr
    systems = data_of(ranked("--json", "--runs", runs, systems=(world.right,)))["systems"]
    ours = next(each for each in systems if each["name"] == "ours")
    alone = data_of(ranked("--json", systems=(world.right, *sorted(world.root.glob("ours-*")))))["systems"]
    scores = [each["scores"]["Pairs"] for each in alone if "ours" in each["name"]]
    assert ours["scores"]["Pairs"] == pytest.approx(sum(scores) / 3)
    assert ours["runs"] == 3
    rows = list(csv.DictReader(io.StringIO(ranked("--csv", "--runs", runs, systems=(world.right,)).stdout)))
    assert {row["system"]: row["runs"] for row in rows} == {"ours": "3", str(world.right): "1"}


def test_costs_and_the_front(ranked, world):
    table = world.root / "costs.tsv"
    table.write_text("system\tparameters\tlatency\nright\t300\t\nmiddle\t100\t\nworse\t200\t\n")
    found = data_of(ranked("--json", "--costs", table))
    assert [(each["parameters"], each["front"]) for each in found["systems"]] == [
        (300.0, True),
        (100.0, True),
        (200.0, False),
    ]
    assert "front" in ranked("--costs", table).stdout
    table.write_text("system\tparameters\tlatency\nright\tmany\t\nnobody\t1\t1\n")
    refused = ranked("--costs", table)
    assert refused.exit_code == 1
    assert "line 2" in refused.stderr
    assert "line 3" in refused.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--weights", "Pairs=x"), "expected a number"),
        (("--weights", "Pairs=-1"), "expected a number"),
        (("--runs", "ours=nowhere/*"), "no submission matches nowhere/*"),
        (("--runs", "nowhere/*"), "is not NAME=VALUE"),
    ],
)
def test_usage(ranked, options, said):
    result = ranked(*options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_two_different_systems_are_needed(ranked, world):
    assert ranked(systems=(world.right,)).exit_code == 2
    assert ranked(systems=(world.right, world.right)).exit_code == 2
