"""`gluebench read`, and the commands that take its table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gluebench.cli import main


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="gluebench")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [
        f"{at},{'odd' if at % 2 else 'even'},{at % 3 > 0:d},{at % 5 == 0:d},{at % 4 > 1:d}"
        for at in range(60)
    ]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(["item,category:parity,a,b,c", *rows]))
    return path


def test_files_with_and_without_names_become_a_table(tmp_path: Path) -> None:
    (tmp_path / "gold.csv").write_text("id,label\n1,yes\n2,no\n3,no\n")
    (tmp_path / "x.csv").write_text("id,label\n3,no\n1,yes\n")
    (tmp_path / "y.csv").write_text("id,label\n1,yes\n2,no\n3,yes\n")
    files = (f"ours={tmp_path / 'x.csv'}", f"theirs={tmp_path / 'y.csv'}")
    out = tmp_path / "scores.csv"
    done = run("read", *files, "--gold", tmp_path / "gold.csv", "--out", out, "--json")
    assert done.exit_code == 0, done.output
    shown = json.loads(done.stdout)
    assert [(each["system"], each["rows"], each["score"]) for each in shown["systems"]] == [
        ("ours", 2, 1.0),
        ("theirs", 2, 0.5),
    ]
    assert "ours: no score for 1 of 3 items, left out for all systems: 2" in done.stderr
    assert f"written: {out}; next: gluebench rank --table {out}" in done.stderr
    assert out.read_text().splitlines()[0] == "item,category:gold,ours,theirs"
    assert "ours" in run("read", out, "--csv").stdout


def test_commands_take_the_table(table: Path) -> None:
    compared = run("compare", "a", "b", "--table", table, "--details")
    assert compared.exit_code == 0, compared.output
    assert "mid-p McNemar" in compared.stdout
    assert "parity: odd" in compared.stdout
    words = " ".join(compared.stdout.split())
    assert "“a” is better by 46.7 points" in words
    assert "over items" in words
    ranked = run("rank", "--table", table, "--json")
    assert [each["name"] for each in json.loads(ranked.stdout)["systems"]] == ["a", "c", "b"]
    assert "over items" in run("rank", "a", "b", "--table", table).stdout
    assert "by mean rank" in run("rank", "--table", table, "--by", "borda").stdout
    assert "parity: even" in run("diagnose", "c", "--table", table).stdout
    assert "66.7" in run("grade", "a", "--table", table).stdout
    runs = run("rank", "--table", table, "--runs", "both=[bc]", "--runs", "one=a", "--json")
    assert [(each["name"], each["runs"]) for each in json.loads(runs.stdout)["systems"]] == [
        ("one", 1),
        ("both", 2),
    ]
    many = run("compare", "a", "--against", "b", "c", "--table", table, "--json")
    assert json.loads(many.stdout)["runs"] == [1, 2]


def test_the_two_systems_of_a_table_need_no_names(tmp_path: Path) -> None:
    two = tmp_path / "two.csv"
    two.write_text("item,a,b\n" + "".join(f"{at},1,{at % 2}\n" for at in range(20)))
    both = [run("compare", *names, "--table", two, "--json") for names in ((), ("a", "b"))]
    assert both[0].exit_code == 0, both[0].output
    assert both[0].stdout == both[1].stdout


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("compare", "a", "d"), 2, "Valid names: a, b, c"),
        (
            ("compare",),
            2,
            "takes two submissions or systems, not 3; runs of two systems: A... --against B...; more",
        ),
        (("compare", "--against", "a"), 2, "the runs of the first system"),
        (("compare", "a", "b", "--split", "dev"), 2, "takes no labels, split or benchmark"),
        (("diagnose", "a", "--table5"), 2, "not of a table"),
        (("compare", "a"), 2, "two files in one table: gluebench read FILE FILE --out"),
    ],
)
def test_wrong_uses_of_a_table(table: Path, words: tuple[str, ...], status: int, message: str) -> None:
    done = run(*words, "--table", table)
    assert (done.exit_code, message in done.output) == (status, True), done.output


def test_wrong_files_and_names_have_no_traceback(tmp_path: Path, table: Path) -> None:
    for words, status, message in (
        ((tmp_path / "no.csv",), 1, "no such file"),
        ((f"a={tmp_path / 'no.csv'}",), 2, "does not exist"),
        ((table, f"a={table}"), 2, "give each file a name of its own"),
        ((table, table), 2, "named twice"),
        ((f"a={table}",), 1, "has several systems"),
        ((table, "--over", "tasks"), 1, "a table over tasks needs several"),
        ((table, "--out", tmp_path / "x.txt"), 1, "ends in .csv"),
        ((table, "--only", "parity=none"), 1, "expected one of even, odd"),
    ):
        done = run("read", *words)
        assert (done.exit_code, message in done.output) == (status, True), (words, done.output)
        assert "Traceback" not in done.output


def test_results_in_place_of_submissions_point_to_read(tmp_path: Path) -> None:
    log = tmp_path / "samples.jsonl"
    log.write_text('{"doc_id": 0, "acc": 1.0}\n')
    (tmp_path / "gold").mkdir()
    refused = run("compare", log, log, "--gold", tmp_path / "gold")
    assert refused.exit_code == 1
    assert "gluebench read FILE... --out table.csv, then --table table.csv" in refused.output


def test_systems_that_no_rule_separates_are_equal(tmp_path: Path) -> None:
    table = tmp_path / "items.csv"
    table.write_text("item,task,a,b\n1,x,1,0\n2,x,0,1\n3,y,1,1\n")
    result = run("rank", "--table", table)
    assert result.exit_code == 0, result.output
    assert "a and b are equal under every rule." in result.stdout
    assert "ahead" not in result.stdout
