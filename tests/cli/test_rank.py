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
        return world.run("rank", *chosen, "--gold", world.gold, *options)

    return run


def data_of(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_board(ranked, world):
    found = data_of(ranked("--json", "--weights", "Likeness=0"))
    names = [system["name"] for system in found["systems"]]
    assert names == ["right", "middle", "worse"]
    assert [system["rank"] for system in found["systems"]] == [1, 2, 3]
    assert found["systems"][0]["value"] == 1.0
    assert len(found["pairs"]) == 3
    assert found["rules"]["kemeny"] == {"middle": 2, "right": 1, "worse": 3}
    assert len(found["holds"]) == 3


def test_rank_sets_are_withheld_where_compare_withholds_intervals(ranked, world):
    """A task of 12 numbers is too small; without it each rank has its set."""
    withheld = ranked("--json")
    systems = data_of(withheld)["systems"]
    assert [system["rank_low"] for system in systems] == [None] * 3
    assert [system["withheld"] for system in systems] == ["too few examples on Likeness"] * 3
    assert data_of(withheld)["may_be_best"] == []
    reason = "Rank sets are withheld: too few examples on Likeness."
    assert withheld.stderr.count(reason) == 1
    assert data_of(withheld)["withheld"] == "too few examples on Likeness"
    printed = ranked()
    assert printed.stdout.count(reason) == 1
    assert "withheld" not in printed.stderr
    assert "May be the best" not in printed.stdout
    compared = world.run("compare", world.worse, world.right, "--gold", world.gold)
    assert "too few to say on Likeness" in compared.stdout
    found = data_of(ranked("--json", "--weights", "Likeness=0"))
    best, _, last = found["systems"]
    assert (best["rank_low"], last["rank_high"], best["withheld"]) == (1, 3, None)
    assert "right" in found["may_be_best"]
    for system in found["systems"]:
        different = {
            name
            for pair in found["pairs"]
            for name in (pair["a"], pair["b"])
            if pair["adjusted"] <= 0.05 and system["name"] in (pair["a"], pair["b"])
        }
        others = {each["name"] for each in found["systems"]} - {system["name"]}
        assert set(system["indistinguishable"]) == others - different


def test_neither_the_order_of_the_arguments_nor_a_twin_changes_a_number(ranked, world):
    middle, twin = world.root / "middle", world.submission("twin", MIDDLE)
    options = ("--json", "--weights", "Likeness=0")
    one = {each["name"]: each for each in data_of(ranked(*options))["systems"]}
    other = data_of(ranked(*options, systems=(world.right, middle, world.worse)))["systems"]
    assert other == [one[each["name"]] for each in other]
    equal = {
        each["name"]: each
        for each in data_of(ranked(*options, systems=(middle, twin, world.right)))["systems"]
    }
    assert equal["middle"]["rank"] == equal["twin"]["rank"] == 2
    assert equal["twin"]["rank_low"] == equal["middle"]["rank_low"]
    assert "twin" in equal["middle"]["indistinguishable"]


def test_names_that_are_alike_keep_their_folders(ranked, world):
    (world.root / "other").mkdir()
    again = world.submission("other/right", MIDDLE)
    names = {each["name"] for each in data_of(ranked("--json", systems=(world.right, again)))["systems"]}
    assert names == {str(world.right), str(again)}


def test_every_output_form_has_the_same_ranks(ranked, world):
    result = ranked("--matrix")
    assert result.exit_code == 0, result.output
    assert "3 of 3 orders of two systems hold under every rule." in result.stdout
    assert "All pairs" not in result.stdout, "no pair is tested"
    assert "All pairs" in ranked("--matrix", "--weights", "Likeness=0").stdout
    for form in ("--markdown", "--latex"):
        assert "middle" in ranked(form).stdout
    rows = list(csv.DictReader(io.StringIO(ranked("--csv").stdout)))
    assert [row["rank"] for row in rows] == ["1", "2", "3"]
    assert rows[0]["Pairs"] == "1.0"


@pytest.mark.parametrize("rule", ["borda", "median", "kemeny"])
def test_other_rules_have_ranks_and_say_why_they_have_no_sets(ranked, rule):
    found = data_of(ranked("--json", "--by", rule, "--weights", "Likeness=0"))
    assert [system["rank"] for system in found["systems"]] == [1, 2, 3]
    assert found["systems"][0]["rank_high"] is None
    assert "no known interval of ranks by this rule" in found["systems"][0]["withheld"]
    assert found["pairs"] == []


def test_the_table_fits_80_columns(ranked):
    result = ranked("--weights", "Likeness=0")
    assert max(map(len, result.stdout.splitlines())) <= 100
    board = result.stdout.partition("Rank: the observed one")[0]
    assert max(map(len, board.splitlines())) <= 80
    assert "1 · 1–" in board or "right is the best (95 %)." in result.stdout


def test_each_rule_for_missing_scores_ranks_a_partial_system(ranked, world):
    part = world.submission("part", {"Pairs": MIDDLE["Pairs"]})
    ranks = {}
    for rule in ("unranked", "shared", "own", "lowest"):
        found = data_of(ranked("--json", "--missing", rule, systems=(world.right, part, world.worse)))
        ranks[rule] = [system["rank"] for system in found["systems"] if system["name"] == "part"]
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
    result = ranked("--runs", runs, "--weights", "Likeness=0", systems=(world.right, world.worse))
    assert result.exit_code == 0, result.output
    assert "Means over runs: ours 3." in result.stdout
    assert "Rank sets are withheld: some systems have one run and others several" in result.stdout
    systems = data_of(ranked("--json", "--runs", runs, systems=(world.right,)))["systems"]
    ours = next(each for each in systems if each["name"] == "ours")
    alone = data_of(ranked("--json", systems=(world.right, *sorted(world.root.glob("ours-*")))))["systems"]
    scores = [each["scores"]["Pairs"] for each in alone if "ours" in each["name"]]
    assert ours["scores"]["Pairs"] == pytest.approx(sum(scores) / 3)
    assert ours["runs"] == 3
    rows = list(csv.DictReader(io.StringIO(ranked("--csv", "--runs", runs, systems=(world.right,)).stdout)))
    assert {row["system"]: row["runs"] for row in rows} == {"ours": "3", "right": "1"}


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
def test_a_wrong_option_exits_with_2_and_says_why(ranked, options, said):
    result = ranked(*options)
    assert result.exit_code == 2
    assert said in result.stderr


def test_two_different_systems_are_needed(ranked, world):
    assert ranked(systems=(world.right,)).exit_code == 2
    assert ranked(systems=(world.right, world.right)).exit_code == 2
