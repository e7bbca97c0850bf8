"""Results in a notebook: a line, an HTML table, a DataFrame and a plot, each with the figures of the JSON."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gluebench
from gluebench.benchmark import Benchmark
from gluebench.benchmark.tables import to_frame
from gluebench.scoring.plots import LONGEST, Row, forest, save, short_name
from gluebench.submission.values import submission_of

pytest.importorskip("matplotlib", reason="matplotlib is not installed; the plot extra brings it")
EVIL = '<img src=x onerror="alert($1)">'


def noisy(gold: gluebench.Gold, rate: float, seed: int) -> dict[str, Any]:
    """Predictions that are the labels but for some."""
    rng, predictions = np.random.default_rng(seed), {}
    for name, column in gold.columns.items():
        values = np.array(column.words() if column.labels else column.numbers)
        predictions[name] = np.where(rng.random(len(values)) < rate, rng.permutation(values), values)
    return predictions


@pytest.fixture(scope="module")
def gold(sample: Benchmark, sample_folder: Path) -> gluebench.Gold:
    return gluebench.read_gold(sample_folder / "gold", sample)


@pytest.fixture(scope="module")
def results(gold: gluebench.Gold, sample_folder: Path) -> dict[str, Any]:
    systems = {"a": noisy(gold, 0.2, 0), EVIL: noisy(gold, 0.4, 1), "c": noisy(gold, 0.41, 2)}
    a, b, _ = systems.values()
    reports, summary = gluebench.grade_runs([a, b], gold)
    return {
        "Report": reports[0],
        "Summary": summary,
        "Comparison": replace(gluebench.compare(a, b, gold, resamples=200), a=f"folder/{EVIL}"),
        "Ranking": gluebench.rank(systems, gold),
        "Diagnosis": gluebench.diagnose(systems, gold),
        "Table": gluebench.load("RTE", "dev", sample_folder, benchmark="sample"),
    }


@pytest.fixture(autouse=True)
def _closed_figures() -> Any:
    from matplotlib import pyplot

    yield
    pyplot.close("all")


def marks(ax: Any) -> dict[str, list[float]]:
    """The positions of the marks and whiskers of a plot, by label."""
    return {line.get_label(): list(map(float, line.get_xdata())) for line in ax.lines}


def percents(*values: float | None) -> list[float]:
    return [100 * value for value in values if value is not None]


def test_the_line_of_a_result_is_short_and_has_its_first_figure(results: dict[str, Any]) -> None:
    lines = {name: repr(result) for name, result in results.items()}
    assert all(len(line) <= 120 and "\n" not in line for line in lines.values()), lines
    report, comparison = results["Report"], results["Comparison"]
    score, overall = report.score, comparison.overall
    ends = f"[{100 * score.low:.1f}, {100 * score.high:.1f}]"
    expected = f"<Report on sample test: {100 * score.value:.1f} {ends}, 9 of 9 tasks scored>"
    assert lines["Report"] == expected
    assert f"A - B = {100 * overall.difference:.1f} [" in lines["Comparison"]
    assert lines["Comparison"].endswith("points, p = .002, 9 tasks>")
    assert lines["Ranking"] == "<Ranking of 3 systems on sample test by macro-average, best: a>"
    assert lines["Diagnosis"] == "<Diagnosis on sample test: 3 systems on AX>"
    mean = results["Summary"].score
    assert lines["Summary"].startswith(f"<Summary of 2 runs on sample test: {100 * mean.mean:.1f} [")
    incomplete = replace(report, score=None, tasks={"RTE": report.tasks["RTE"]})
    assert repr(incomplete) == "<Report on sample test: no macro-average, 1 of 1 tasks scored>"
    assert repr(replace(comparison, overall=None)).endswith("no task in common>")


def test_html_escapes_names_and_has_the_figures(results: dict[str, Any]) -> None:
    pages = {name: result._repr_html_() for name, result in results.items()}
    for name, page in pages.items():
        assert page.startswith('<table class="gluebench">'), name
        assert "<img" not in page, name
        assert page.count("<tr>") == page.count("</tr>") > 3, name
    for name in ("Comparison", "Ranking", "Diagnosis"):
        assert "&lt;img src=x onerror=&quot;" in pages[name], name
    accuracy = results["Report"].tasks["RTE"].metrics["accuracy"]
    assert f">{100 * accuracy.value:.1f}</td>" in pages["Report"]
    assert f"[{100 * accuracy.low:.1f}, {100 * accuracy.high:.1f}]" in pages["Report"]
    assert escape(results["Comparison"].conclusion) in pages["Comparison"]
    assert "too few to say" in pages["Diagnosis"], "a withheld interval says so"
    first = results["Table"][0]
    assert f">{first.index}</td>" in pages["Table"]
    assert f">{first.label}</td>" in pages["Table"]
    assert f"{len(results['Table'])} examples, the first 5 shown" in pages["Table"]


def test_a_result_is_a_table_for_a_paper_too(results: dict[str, Any]) -> None:
    for name in ("Report", "Summary", "Comparison", "Ranking", "Diagnosis"):
        html, markdown, latex = (
            results[name]._repr_html_(),
            results[name].to_markdown(),
            results[name].to_latex(),
        )
        rows = html.count("<tr>")
        assert len(re.findall(r"^\| (?!--)", markdown, re.MULTILINE)) == rows, name
        assert len(re.findall(r" \\\\$", latex, re.MULTILINE)) == rows, name
        assert "<img" not in markdown.replace("\\<img", ""), name
        assert "alert($1" not in latex, name
    accuracy = results["Report"].tasks["RTE"].metrics["accuracy"]
    ends = f"[{100 * accuracy.low:.1f}, {100 * accuracy.high:.1f}]"
    value = f"{100 * accuracy.value:.1f}"
    assert f"| RTE | accuracy | {value} | {ends} | {accuracy.n:,} |" in results["Report"].to_markdown()
    assert rf"RTE & accuracy & {value} & {ends} & {accuracy.n:,} \\" in results["Report"].to_latex()
    pytest.importorskip("pandas", reason="pandas is not installed")
    for name in ("Report", "Summary", "Comparison", "Ranking", "Diagnosis"):
        assert results[name].to_frame().equals(results[name].to_pandas()), name


def test_data_frames_have_the_figures_of_the_json(results: dict[str, Any]) -> None:
    report = results["Report"].to_pandas()
    score = results["Report"].as_dict()["tasks"]["MRPC"]["metrics"]["f1"]
    row = report[(report.task == "MRPC") & (report.metric == "f1")].iloc[0]
    assert {name: row[name] for name in ("value", "low", "high", "n")} == score
    fine = results["Report"].as_dict()["diagnostics"]["AX"]["fine"]
    assert len(report[report.breakdown == "fine"]) == len(fine)
    summary = results["Summary"].to_pandas().set_index(["task", "metric"])
    spread = results["Summary"].as_dict()["tasks"]["RTE"]["accuracy"]
    assert summary.loc[("RTE", "accuracy")].to_dict() == spread
    comparison = results["Comparison"].to_pandas().set_index(["task", "metric"])
    difference = results["Comparison"].as_dict()["tasks"]["RTE"]["score"]
    assert comparison.loc[("RTE", "score"), "difference"] == difference["difference"]
    assert comparison.loc[("RTE", "score"), "only_a"] == difference["only_a"]
    ranking = results["Ranking"].to_pandas().set_index("system")
    system = results["Ranking"].as_dict()["systems"][0]
    figures = (system["value"], system["scores"]["RTE"])
    assert (ranking.loc["a", "value"], ranking.loc["a", "RTE"]) == pytest.approx(figures, rel=1e-11)
    low = [entry["rank_low"] for entry in results["Ranking"].as_dict()["systems"]]
    assert ranking["rank_low"].tolist() == low
    diagnosis = results["Diagnosis"].to_pandas()
    directions = results["Diagnosis"].as_dict()["sets"]["AX"]["systems"]["a"]["directions"]
    both = diagnosis[(diagnosis.system == "a") & (diagnosis.measure == "both")].iloc[0]
    assert (both["value"], both["n"]) == (directions["both"]["value"], directions["both"]["of"])
    counts = diagnosis[(diagnosis.measure == "count") & (diagnosis.breakdown == "overall")]
    assert counts["value"].sum() == 3 * 600
    assert str(to_frame(["n"], [{"n": 3}, {}]).dtypes["n"]) == "Int64", "a count stays a whole number"


def test_scores_are_drawn_in_order_with_their_intervals(results: dict[str, Any]) -> None:
    report = results["Report"]
    ax = report.plot()
    drawn = marks(ax)
    for name, task in report.tasks.items():
        assert drawn[name] == percents(task.score.value)
        assert drawn[f"{name} interval"] == percents(task.score.low, task.score.high)
    assert drawn["macro-average"] == percents(report.score.value)
    labels = [label.get_text() for label in ax.get_yticklabels()]
    in_order = sorted(report.tasks, key=lambda name: -report.tasks[name].score.value)
    assert labels == ["macro-average", *in_order, "AX"]
    assert {text.get_text() for text in ax.texts} >= {"9 tasks", "n = 900"}
    assert ax.get_xlabel() == "score × 100 with 95 % interval"
    summary = results["Summary"]
    assert marks(summary.plot())["RTE interval"] == percents(
        summary.tasks["RTE"]["score"].low, summary.tasks["RTE"]["score"].high
    )


def test_a_withheld_interval_is_an_empty_mark_that_says_so(gold: gluebench.Gold) -> None:
    report = gluebench.grade({"RTE": ["entailment"] * 900}, gold)
    score = report.tasks["RTE"].score
    assert score is not None
    few = score._replace(low=None, high=None, withheld="too few to say")
    ax = replace(report, tasks={"RTE": report.tasks["RTE"]._replace(score=few)}).plot()
    (line,) = [line for line in ax.lines if line.get_label() == "RTE"]
    assert line.get_markerfacecolor() == "white"
    assert "RTE interval" not in marks(ax)
    assert "n = 900, interval withheld: too few to say" in [text.get_text() for text in ax.texts]
    assert ax.get_title(loc="left") == "sample, test split: no macro-average"


def test_differences_and_ranks_are_drawn(results: dict[str, Any]) -> None:
    comparison = results["Comparison"]
    ax = comparison.plot()
    rte = comparison.tasks["RTE"].score
    assert marks(ax)["RTE"] == percents(rte.difference)
    assert marks(ax)["average interval"] == percents(comparison.overall.low, comparison.overall.high)
    assert f"A: {EVIL}. B: B." in ax.get_title(loc="left").replace("\n", " ")
    filled = {line.get_label(): line.get_markerfacecolor() != "white" for line in ax.lines}
    for name, part in comparison.tasks.items():
        assert filled[name] == (part.score.better is not None)
    ranking = results["Ranking"]
    drawn = marks(ranking.plot())
    for system in ranking.systems:
        assert drawn[system.name] == [system.rank]
        assert drawn[f"{system.name} interval"] == [system.rank_low, system.rank_high]


def test_phenomena_are_a_heat_map_with_the_figures(results: dict[str, Any]) -> None:
    diagnosis = results["Diagnosis"]
    ax = diagnosis.plot()
    fine = diagnosis.sets["AX"].systems["a"].scores.fine["Negation"]
    cells = [text.get_text() for text in ax.texts]
    assert f"{100 * fine.value:.1f} [{100 * fine.low:.1f}, {100 * fine.high:.1f}]" in cells
    assert f"Negation ({fine.n})" in [label.get_text() for label in ax.get_yticklabels()]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", EVIL, "c"]
    assert len(ax.patches) == len(cells) == 3 * len(ax.get_yticklabels())


def test_the_labels_of_a_table_are_drawn_as_shares(results: dict[str, Any], sample_folder: Path) -> None:
    table = results["Table"]
    ax = table.plot()
    shares = [100 * table.column("label").count(word) / len(table) for word in table.task.words]
    assert [bar.get_width() for bar in ax.patches] == pytest.approx(shares)
    numbers = gluebench.load("STS-B", "dev", sample_folder, benchmark="sample")
    ax = numbers.plot()
    counts = [int(text.get_text()) for text in ax.texts]
    assert counts == np.histogram(numbers.column("label"), bins=10, range=(0, 5))[0].tolist()
    with pytest.raises(ValueError, match="RTE test: its labels are hidden"):
        gluebench.load("RTE", "test", sample_folder, benchmark="sample").plot()


def test_a_plot_takes_axes_and_gives_them_back(results: dict[str, Any]) -> None:
    from matplotlib.figure import Figure

    for name, result in results.items():
        ax = Figure().subplots()
        assert result.plot(ax) is ax, name
        assert ax.get_yticklabels(), name


def test_files_are_the_same_each_time(results: dict[str, Any], tmp_path: Path) -> None:
    from matplotlib import pyplot

    for ending, start in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        first, second = tmp_path / f"1{ending}", tmp_path / f"2{ending}"
        for path in (first, second):
            save(results["Ranking"], path)
        assert first.read_bytes() == second.read_bytes()
        assert first.read_bytes().startswith(start)
    assert pyplot.get_fignums() == [], "figures are closed"
    with pytest.raises(ValueError, match=r"plot\.jpg ends in '\.jpg'; expected one of \.png, \.svg, \.pdf"):
        save(results["Ranking"], "plot.jpg")


def test_no_words_lie_over_others(results: dict[str, Any]) -> None:
    rows = [Row("x" * 60, 1.0, 0.5, 1.5, "n = 9"), Row("$a_1$", None, note="not ranked")]
    ax = forest([rows[:1], rows[1:]], title="t", axis="a")
    ax.figure.canvas.draw()
    words = [*ax.texts, *ax.get_yticklabels(), ax.xaxis.label]
    boxes = [text.get_window_extent() for text in words]
    over = [(a, b) for at, a in enumerate(boxes) for b in boxes[at + 1 :] if a.overlaps(b)]
    assert over == []
    assert len(short_name("x" * 60)) == LONGEST
    assert ax.get_yticklabels()[1].get_text() == "$a_1$", "a dollar sign is not a formula"
    assert not ax.get_yticklabels()[1].get_parse_math()


def test_what_is_not_installed_is_named(results: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pandas", None)
        for name in ("Report", "Summary", "Comparison", "Ranking", "Diagnosis"):
            with pytest.raises(ImportError, match=r"A DataFrame needs pandas.*pip install pandas"):
                results[name].to_pandas()
    for module in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, module, None)
    for result in results.values():
        with pytest.raises(ImportError, match=r'pip install "gluebench\[plot\]"'):
            result.plot()


def test_a_submission_and_its_columns_are_one_line_each(sample: Benchmark, gold: gluebench.Gold) -> None:
    submission = submission_of({"RTE": ["entailment"] * 900}, sample)
    assert repr(submission) == (
        "<Submission predictions given from Python to sample test: incomplete, 1 test file>"
    )
    assert repr(submission.predictions["RTE"]) == "<Column of 900 labels: entailment, not_entailment>"
    assert repr(gold.columns["STS-B"]) == "<Column of 500 numbers>"


def test_notebooks_show_a_benchmark_and_a_task_in_one_line() -> None:
    pretty = pytest.importorskip("IPython.lib.pretty").pretty
    glue = gluebench.load_benchmark("glue")
    assert pretty(glue) == str(glue)
    assert pretty(glue.task("MRPC")) == "<Task MRPC: labels, accuracy, f1>"
    assert str(glue).startswith("<Benchmark glue: CoLA, SST-2, ")
