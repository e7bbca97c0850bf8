"""`gluebench grade` and `compare`: every form read back, what goes where, and the exit codes."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex

import pytest

from gluebench.cli.scoring.grade import BETWEEN_MODELS


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_grade_prints_each_metric_the_task_scores_and_the_average(world):
    result = world.run("grade", world.worse, "--gold", world.gold)
    assert result.exit_code == 0, result.output
    out = result.stdout
    assert "Tiny, test split" in out
    for heading in ("acc.", "F1", "Pearson", "Spearman", "task score", "macro-average", "2 tasks"):
        assert heading in out
    assert re.search(r"\d\d\.\d \[-?\d+\.\d, \d+\.\d\]", out)


def test_grade_prints_the_diagnostics_with_the_papers_warning(world):
    out = world.run("grade", world.worse, "--gold", world.gold).stdout
    for heading in ("Logic", "  Negation", "  Double Negation", "direction: forward", "overall"):
        assert heading in out
    assert BETWEEN_MODELS.split(",")[0] in out


def test_grade_as_json_is_the_report(world):
    result = world.run("grade", world.right, "--gold", world.gold, "--json")
    report = json.loads(result.stdout)
    assert report["schema"] == "gluebench.report/1"
    assert report["complete"] is True
    assert report["score"]["value"] == 1.0
    assert report["tasks"]["Pairs"]["metrics"]["f1"]["value"] == 1.0


def test_grade_as_csv_has_every_number_as_a_fraction(world):
    result = world.run("grade", world.worse, "--gold", world.gold, "--csv")
    report = json.loads(world.run("grade", world.worse, "--gold", world.gold, "--json").stdout)
    rows = rows_of(result.stdout)
    accuracy = next(row for row in rows if row["task"] == "Pairs" and row["metric"] == "accuracy")
    assert float(accuracy["value"]) == report["tasks"]["Pairs"]["metrics"]["accuracy"]["value"]
    assert float(accuracy["low"]) < float(accuracy["value"]) < float(accuracy["high"])
    average = next(row for row in rows if row["metric"] == "macro-average")
    assert float(average["value"]) == report["score"]["value"]
    assert {row["breakdown"] for row in rows} == {"", "overall", "coarse", "fine", "direction"}


def test_grade_as_markdown_and_latex(world):
    markdown = world.run("grade", world.worse, "--gold", world.gold, "--markdown").stdout
    assert "| task | metric |" in markdown
    latex = world.run("grade", world.worse, "--gold", world.gold, "--latex").stdout
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2


def test_grade_without_intervals(world):
    result = world.run("grade", world.worse, "--gold", world.gold, "--no-intervals")
    assert "[" not in result.stdout
    report = json.loads(
        world.run("grade", world.worse, "--gold", world.gold, "--no-intervals", "--json").stdout
    )
    assert report["score"]["low"] is None


def test_grade_is_the_same_twice(world):
    outputs = {world.run("grade", world.worse, "--gold", world.gold, "--json").stdout for _ in range(2)}
    assert len(outputs) == 1
    assert json.loads(outputs.pop())["schema"] == "gluebench.report/1"


def test_an_incomplete_submission_has_no_average_and_says_so_with_exit_0(world):
    (world.worse / "Likeness.tsv").unlink()
    result = world.run("grade", world.worse, "--gold", world.gold)
    assert result.exit_code == 0
    assert "INCOMPLETE" in result.stdout
    assert "INCOMPLETE" in result.stderr
    assert "Likeness.tsv" in result.stdout
    assert "none: 1 of 2 tasks" in result.stdout


def test_an_invalid_submission_is_not_graded(world):
    (world.worse / "Pairs.tsv").write_text("index\tprediction\n0\tmaybe\n")
    for form in ((), ("--json",)):
        result = world.run("grade", world.worse, "--gold", world.gold, *form)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert "Pairs.tsv:2" in result.stderr


def test_wrong_gold_is_the_organizers_error_without_a_traceback(world):
    (world.gold / "Pairs.tsv").write_text("index\tlabel\n0\tmaybe\n")
    result = world.run("grade", world.right, "--gold", world.gold)
    assert result.exit_code == 1
    assert "gold" in result.stderr
    assert "Traceback" not in result.stderr


def test_partial_gold_must_be_allowed_and_is_marked(world):
    lines = (world.gold / "Pairs.tsv").read_text().splitlines(keepends=True)
    (world.gold / "Pairs.tsv").write_text("".join(lines[:-5]))
    assert world.run("grade", world.right, "--gold", world.gold).exit_code == 1
    result = world.run("grade", world.right, "--gold", world.gold, "--allow-partial-gold")
    assert result.exit_code == 0
    assert "Pairs: gold for 75.0 % of the examples only." in result.stdout


def test_what_was_taken_with_a_notice_goes_to_standard_error(world):
    text = (world.right / "Pairs.tsv").read_text()
    (world.right / "Pairs.tsv").write_bytes(text.replace("\n", "\r\n").encode())
    result = world.run("grade", world.right, "--gold", world.gold, "--json")
    assert json.loads(result.stdout)["complete"]
    assert "Notices: line-ends. More: gluebench check" in result.stderr


def test_several_runs_have_mean_deviation_and_best(world):
    reports = [
        json.loads(world.run("grade", each, "--gold", world.gold, "--json").stdout)
        for each in (world.right, world.worse)
    ]
    values = [report["tasks"]["Pairs"]["metrics"]["accuracy"]["value"] for report in reports]
    out = world.run("grade", world.right, world.worse, "--gold", world.gold).stdout
    assert "2 runs" in out
    line = next(line for line in out.splitlines() if "acc." in line)
    mean, spread = sum(values) / 2, abs(values[0] - values[1]) / 2**0.5
    assert f"{100 * mean:.1f}" in line
    assert f"{100 * spread:.1f}" in line
    assert "right" in line
    data = json.loads(world.run("grade", world.right, world.worse, "--gold", world.gold, "--json").stdout)
    assert data["schema"] == "gluebench.runs/1"
    assert data["summary"]["tasks"]["Pairs"]["accuracy"]["mean"] == pytest.approx(mean)
    assert [run["report"]["score"]["value"] for run in data["runs"]] == [
        report["score"]["value"] for report in reports
    ]
    rows = rows_of(world.run("grade", world.right, world.worse, "--gold", world.gold, "--csv").stdout)
    assert len({row["run"] for row in rows}) == 2


def test_compare_prints_the_table_and_the_words(world):
    words = ("compare", world.right, world.worse, "--gold", world.gold, "--resamples", 500)
    result = world.run(*words, "--details")
    assert result.exit_code == 0, result.output
    for heading in ("A - B [95 % interval]", "mid-p McNemar", "paired exchange", "average"):
        assert heading in result.stdout
    assert "On average over all 2 tasks," in result.stdout


def test_compare_in_every_form(world):
    words = ("compare", world.right, world.worse, "--gold", world.gold, "--resamples", 500)
    data = json.loads(world.run(*words, "--json").stdout)
    assert data["schema"] == "gluebench.comparison/1"
    rows = rows_of(world.run(*words, "--csv").stdout)
    f1 = next(row for row in rows if row["metric"] == "f1")
    assert float(f1["p"]) == data["tasks"]["Pairs"]["metrics"]["f1"]["p"]
    assert next(row for row in rows if row["metric"] == "average")["task"] == ""
    assert (
        "| A - B \\[" in world.run(*words, "--markdown").stdout
        or "| A - B [" in world.run(*words, "--markdown").stdout
    )
    latex = world.run(*words, "--latex").stdout
    assert r"A - B [95 \% interval]" in latex


def test_compare_says_what_is_left_out(world):
    (world.worse / "Likeness.tsv").unlink()
    result = world.run("compare", world.right, world.worse, "--gold", world.gold, "--resamples", 200)
    assert result.exit_code == 0
    assert "Likeness is left out" in result.stderr
    assert "Left out: Likeness." in result.stdout


def test_two_forms_at_once_give_the_last(world):
    out = world.run("grade", world.right, "--gold", world.gold, "--csv", "--json").stdout
    assert json.loads(out)["complete"]


def test_grade_of_the_dev_split(world):
    gold = world.root / "dev"
    gold.mkdir()
    (gold / "Pairs.tsv").write_text("index\tlabel\n" + "".join(f"{i}\t{i % 2}\n" for i in range(8)))
    sub = world.submission("devsub", {"Pairs": [0, 1] * 4})
    result = world.run("grade", sub, "--gold", gold, "--split", "dev", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["tasks"]["Pairs"]["score"]["value"] == 1.0


def test_grade_out_writes_a_row_for_each_submission_of_a_folder_or_pattern(world):
    out = world.root / "scores.csv"
    systems = world.root / "systems"
    systems.mkdir()
    for name in ("right", "worse"):
        (world.root / name).rename(systems / name)
    result = world.run("grade", systems, "--gold", world.gold, "--out", out, "--workers", 1)
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1] == f"{out}: 2 valid, 0 incomplete, 0 invalid"
    rows = rows_of(out.read_text())
    assert [float(row["Pairs.accuracy"]) for row in rows] == [1.0, 0.7]
    again = world.run("grade", systems / "w*", "--gold", world.gold, "--out", out, "--workers", 1)
    assert again.stderr.splitlines()[-1] == f"{out}: 1 valid, 0 incomplete, 0 invalid"
    assert rows_of(out.read_text()) == rows
    assert "does not exist" in world.run("grade", systems / "x*", "--gold", world.gold).stderr


def test_grade_out_refuses_other_forms_and_other_files(world):
    for options in (["--out", "scores.csv", "--json"], ["--out", "scores.txt"]):
        result = world.run("grade", world.right, "--gold", world.gold, *options)
        assert result.exit_code == 2, result.output


def test_classes_are_shown_on_request(world):
    words = ("grade", world.worse, "--gold", world.gold)
    plain, more = world.run(*words).stdout, world.run(*words, "--classes").stdout
    assert more.startswith(plain.rstrip()), "the tables before it are the same"
    assert "support" not in plain
    scores = json.loads(world.run(*words, "--json").stdout)["classes"]["Pairs"]["1"]
    shares = [f"{100 * scores[name]:.1f}" for name in ("precision", "recall", "f1")]
    row = next(line.split() for line in more[len(plain) :].splitlines() if line.strip().startswith("1 "))
    assert row == ["1", *shares, str(scores["support"]), str(scores["predicted"])]


def test_classes_as_csv_are_one_table(world):
    words = ("grade", world.worse, "--gold", world.gold, "--classes", "--csv")
    rows = rows_of(world.run(*words).stdout)
    assert [(row["file"], row["class"]) for row in rows][:2] == [("Pairs", "0"), ("Pairs", "1")]
    assert (
        sum(int(row["support"]) for row in rows[:2]) == sum(int(row["predicted"]) for row in rows[:2]) == 20
    )


def test_classes_are_of_one_submission(world):
    for more in ([world.right], ["--out", "scores.csv"]):
        result = world.run("grade", world.worse, *more, "--gold", world.gold, "--classes")
        assert result.exit_code == 2
        assert "--classes shows those of one SUB" in result.stderr


def test_a_paragraph_for_a_paper_has_every_score_and_interval(world):
    words = ("grade", world.worse, "--gold", world.gold)
    report = json.loads(world.run(*words, "--json").stdout)

    def in_words(score):
        if score["low"] is None:
            return f"{100 * score['value']:.1f} (no interval: {score['withheld']})"
        return f"{100 * score['value']:.1f} ({100 * score['low']:.1f} to {100 * score['high']:.1f})"

    text = " ".join(world.run(*words, "--paragraph").stdout.split())
    average = in_words(report["score"])
    assert f"On Tiny, test split, worse has a macro-average of {average} over 2 tasks." in text
    pairs, likeness = (report["tasks"][name]["metrics"] for name in ("Pairs", "Likeness"))
    assert f"Pairs: accuracy {in_words(pairs['accuracy'])} and F1 {in_words(pairs['f1'])}." in text
    assert f"Likeness: Pearson {in_words(likeness['pearson'])} and Spearman" in text
    probe = report["diagnostics"]["Probe"]["overall"]
    assert f"Probe, which is not averaged: {in_words(probe)}." in text
    assert "(no interval: " in text
    half = world.submission("half", {"Pairs": "1" * 20})
    without = " ".join(world.run("grade", half, "--gold", world.gold, "--paragraph").stdout.split())
    assert "half has no macro-average, for want of Likeness." in without
    both = world.run(*words, world.right, "--paragraph")
    assert (both.exit_code, "--paragraph shows those of one SUB" in both.stderr) == (2, True)


def test_results_say_how_to_check_a_submission_that_they_warn_of(world):
    half = world.submission("half", {"Pairs": "1" * 20})
    done = world.run("results", half, "--gold", world.gold)
    line = next(line for line in done.stderr.splitlines() if "More: " in line)
    words = shlex.split(line.partition("More: ")[2])
    assert words == ["gluebench", "check", str(half), "--benchmark", str(world.manifest)]


def test_results_of_submissions_are_systems_by_tasks_with_the_best_in_bold(world):
    words = ("results", world.right, world.worse, "--gold", world.gold)
    latex = world.run(*words, "--no-intervals", "--latex").stdout
    assert r"& \multicolumn{2}{c}{Pairs \& more\_of\_them} &" in latex
    assert r"system & Pairs, acc. / F1 & Likeness, Pearson / Spearman &" in latex
    right, worse = (line for line in latex.splitlines() if line.startswith(("right", "worse")))
    assert right.startswith(r"right & \textbf{100.0 / 100.0} & \textbf{100.0 / 100.0} &")
    assert r"\textbf" not in worse
    graded = json.loads(world.run("grade", world.worse, "--gold", world.gold, "--json").stdout)
    metrics = graded["tasks"]["Pairs"]["metrics"]
    assert f"& {100 * metrics['accuracy']['value']:.1f} / {100 * metrics['f1']['value']:.1f} &" in worse
    with_intervals = world.run(*words).stdout
    low = metrics["accuracy"]["low"]
    assert f"[{100 * low:.1f}, " in with_intervals
    assert "```" not in with_intervals, "submissions have no command"
