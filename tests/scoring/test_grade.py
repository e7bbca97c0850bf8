"""The report: which scores there are, how they average, what is missing and said."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scoring.columns import PEARSON, codes, some_numbers
from scoring.material import NLI, gold_values, predicted_values, write_gold

from gluebench.benchmark import UnknownNameError
from gluebench.scoring import GoldError, SubmissionError, grade, read_gold
from gluebench.scoring.grade import diagnostic_report, pairs_of, require_gradable
from gluebench.scoring.inference import file_intervals, task_intervals
from gluebench.scoring.intervals import OptionalInterval, Part, mean_interval
from gluebench.scoring.metrics import point
from gluebench.scoring.report import Score
from gluebench.scoring.tags import Category
from gluebench.submission.problems import Problem
from gluebench.submission.values import submission_of


@pytest.fixture
def gold(folder, small):
    return read_gold(folder, small)


def test_scores_worked_by_hand(gold) -> None:
    report = grade(predicted_values(), gold, intervals=False)
    tasks = report.tasks
    mcc = (15 * 15 - 5 * 5) / 20**2  # 5 wrong of each label
    assert tasks["Accept"].metrics["matthews_correlation"].value == pytest.approx(mcc)
    assert tasks["Pairs"].metrics["accuracy"].value == 36 / 40
    assert tasks["Pairs"].metrics["f1"].value == pytest.approx(2 * 8 / (10 + 10))
    assert tasks["Pairs"].score.value == pytest.approx((0.9 + 0.8) / 2)
    like = [gold_values()["Like"], predicted_values()["Like"]]
    assert tasks["Like"].metrics["pearson"].value == pytest.approx(stats.pearsonr(*like)[0])
    assert tasks["Like"].metrics["spearman"].value == pytest.approx(stats.spearmanr(*like)[0])
    assert tasks["Halves"].metrics["matched_accuracy"].value == 20 / 30
    assert tasks["Halves"].score.value == pytest.approx((20 / 30 + 1) / 2), (
        "the mean of the halves, not pooled"
    )
    assert report.complete
    assert report.missing == ()
    assert report.score.n == 4
    assert report.score.value == pytest.approx(sum(task.score.value for task in tasks.values()) / 4)
    assert all(score.low is None is score.high for task in tasks.values() for score in task.metrics.values())


def test_a_diagnostic_set_is_divided_by_phenomenon_and_metadata_and_not_averaged(gold) -> None:
    report = grade(predicted_values(), gold, intervals=False)
    probe = report.diagnostics["Probe"]
    assert "Probe" not in report.tasks
    assert probe.overall.n == 60
    # Logic is tagged at two of every three pairs, Negation at its own and at ten examples of another
    assert {name: score.n for name, score in probe.coarse.items()} == {"Logic": 40, "Knowledge": 20}
    assert {name: score.n for name, score in probe.fine.items()} == {
        "Negation": 30,
        "Double Negation": 20,
        "World Knowledge": 20,
    }
    assert {name: score.n for name, score in probe.metadata["direction"].items()} == {
        "forward": 30,
        "backward": 30,
    }
    from sklearn.metrics import matthews_corrcoef  # noqa: TID251

    labels, answers = gold_values()["Probe"], predicted_values()["Probe"]
    for at, score in ((range(60), probe.overall), (range(0, 60, 2), probe.metadata["direction"]["forward"])):
        expected = matthews_corrcoef([labels[index] for index in at], [answers[index] for index in at])
        assert score.value == pytest.approx(expected)


def test_without_the_diagnostic_set_the_score_stands(gold) -> None:
    values = predicted_values()
    del values["Probe"]
    report = grade(values, gold, intervals=False)
    assert report.diagnostics == {"Probe": None}
    assert report.score is not None
    assert report.complete
    assert [warning for warning in report.warnings if "Probe" in warning]


def test_one_half_missing_leaves_the_other_and_no_task_score(gold) -> None:
    values = predicted_values()
    del values["Halves-mm"]
    report = grade(values, gold)
    assert report.tasks["Halves"].score is None
    assert list(report.tasks["Halves"].metrics) == ["matched_accuracy"]
    assert report.score is None
    assert not report.complete
    assert report.missing == ("Halves-mm",)
    whole = grade(predicted_values(), gold).tasks["Halves"].metrics["matched_accuracy"]
    assert report.tasks["Halves"].metrics["matched_accuracy"] == whole


def test_what_is_not_defined_is_zero_has_no_interval_and_is_said(gold) -> None:
    values = predicted_values() | {"Accept": [1] * 40, "Like": [2.5] * 40, "Probe": ["neutral"] * 60}
    report = grade(values, gold)
    for name, metric in (("Accept", "matthews_correlation"), ("Like", "pearson"), ("Like", "spearman")):
        score = report.tasks[name].metrics[metric]
        assert (score.value, score.low, score.high, score.withheld) == (
            0.0,
            None,
            None,
            "constant predictions",
        )
        assert any(f"{name}: {metric}" in warning and "counts as 0" in warning for warning in report.warnings)
    assert report.diagnostics["Probe"].overall.value == 0.0
    assert sum("Probe" in warning for warning in report.warnings) == 1, (
        "one for the set, not one for each category"
    )
    assert report.score.value is not None
    assert "NaN" not in report.to_json()


def test_categories_of_one_label_are_said_together(gold, tmp_path, small) -> None:
    values = predicted_values()
    values["Probe"] = [
        "neutral" if index // 2 % 3 == 1 else label for index, label in enumerate(values["Probe"])
    ]
    report = grade(values, gold, intervals=False)
    said = [warning for warning in report.warnings if "Probe" in warning]
    assert len(said) == 1
    assert "World Knowledge" in said[0]


class TestPartialGold:
    def test_a_file_without_gold_is_the_organizers_error(self, tmp_path, small) -> None:
        values = gold_values()
        del values["Like"]
        gold = read_gold(write_gold(tmp_path / "less", values), small)
        with pytest.raises(GoldError, match=r"Like\.tsv.*expected labels for a test file that was submitted"):
            grade(predicted_values(), gold)

    def test_with_leave_it_is_left_out_and_said(self, tmp_path, small) -> None:
        values = gold_values()
        del values["Like"]
        gold = read_gold(write_gold(tmp_path / "less", values), small, partial=True)
        report = grade(predicted_values(), gold, intervals=False)
        assert report.tasks["Like"].score is None
        assert report.score is None
        assert report.missing == (), "it was submitted: the gold is what is missing"
        assert "there are no gold labels for Like.tsv: submitted, but not scored" in report.warnings

    def test_what_gold_lacks_names_the_way_out(self, tmp_path, small) -> None:
        values = gold_values()
        values["Accept"] = values["Accept"][:20]
        with pytest.raises(GoldError, match="--allow-partial-gold"):
            read_gold(write_gold(tmp_path / "less", values), small)

    def test_dev_labels_do_not_pass_for_part_of_test_s(self, tmp_path, small) -> None:
        values = gold_values()
        size = small.file("Accept").size("dev")
        values["Accept"] = values["Accept"][:size]
        with pytest.raises(GoldError, match="wrong-split"):
            read_gold(write_gold(tmp_path / "less", values), small, partial=True)

    def test_a_task_covered_in_part_counts_and_is_marked(self, tmp_path, small) -> None:
        values = gold_values()
        values["Accept"] = values["Accept"][:20]
        gold = read_gold(write_gold(tmp_path / "less", values), small, partial=True)
        report = grade(predicted_values(), gold)
        score = report.tasks["Accept"].metrics["matthews_correlation"]
        assert score.n == 20
        assert score.covered == 0.5
        assert score.value == pytest.approx((5 * 5 - 5 * 5) / 100)
        assert report.complete
        assert report.score.covered == pytest.approx((0.5 + 1 + 1 + 1) / 4)
        assert report.tasks["Pairs"].score.covered is None
        assert any("20 of 40" in warning for warning in report.warnings)

    def test_rows_are_matched_by_index(self, tmp_path, small) -> None:
        folder = write_gold(tmp_path / "less")
        odd = [f"{index}\t{value}\n" for index, value in enumerate(gold_values()["Pairs"]) if index % 2]
        (folder / "Pairs.tsv").write_text("index\tlabel\n" + "".join(reversed(odd)))
        report = grade(predicted_values(), read_gold(folder, small, partial=True), intervals=False)
        assert report.tasks["Pairs"].metrics["accuracy"].value == 19 / 20  # of 0, 1, 20, 30 only 1 is odd


class TestFromPython:
    def test_arrays_series_frames_and_dicts_are_one(self, gold) -> None:
        pd = pytest.importorskip("pandas")
        values = predicted_values()["Pairs"]
        rows = list(enumerate(values))[::-1]
        forms = [
            values,
            [float(value) for value in values],
            np.array(values),
            np.array([str(value) for value in values]),
            pd.Series(values),
            pd.Series([value for _, value in rows], index=[index for index, _ in rows]),
            pd.DataFrame(rows, columns=["index", "prediction"]),
            dict(rows),
            {np.int64(index): value for index, value in rows},
        ]
        reports = {grade({"Pairs": form}, gold, intervals=False).to_json() for form in forms}
        assert len(reports) == 1

    def test_numbers_of_any_type(self, gold) -> None:
        values = np.array(predicted_values()["Like"], np.float32)
        expected = grade({"Like": values.astype(float)}, gold).to_json()
        assert grade({"Like": values}, gold).to_json() == expected
        assert grade({"Like": [np.float32(value) for value in values]}, gold).to_json() == expected

    @pytest.mark.parametrize(
        ("values", "code"),
        [
            ([1] * 39, "missing-index"),
            ([1] * 41, "extra-index"),
            ([1] * 39 + [2], "unknown-label"),
            ([1] * 39 + [float("nan")], "unknown-label"),
            ([1] * 39 + [None], "unknown-label"),
            (["1\t"] * 40, "unknown-label"),
            ({index + 1: 1 for index in range(40)}, "index-from-1"),
        ],
    )
    def test_what_is_wrong_is_refused_with_every_problem(self, gold, values, code) -> None:
        with pytest.raises(SubmissionError) as caught:
            grade({"Pairs": values}, gold)
        assert code in {problem.code for problem in caught.value.problems}
        assert code in str(caught.value)

    def test_a_score_that_is_no_number(self, gold) -> None:
        with pytest.raises(SubmissionError, match="not-finite"):
            grade({"Like": [math.nan] * 40}, gold)

    def test_names_of_tasks_and_files_are_checked(self, gold) -> None:
        assert grade({"pairs": predicted_values()["Pairs"]}, gold, intervals=False).tasks["Pairs"].score
        with pytest.raises(UnknownNameError, match="Did you mean Pairs"):
            grade({"Pair": [1] * 40}, gold)
        with pytest.raises(
            ValueError, match="Halves has 2 test files; give the predictions for Halves-m and Halves-mm"
        ):
            grade({"Halves": [NLI[0]] * 30}, gold)
        with pytest.raises(ValueError, match="expected each test file once"):
            grade({"Pairs": [1] * 40, "pairs": [1] * 40}, gold)

    def test_gold_may_be_a_folder(self, folder, small, tmp_path) -> None:
        report = grade(
            {"Pairs": predicted_values()["Pairs"]}, folder, benchmark=tmp_path / "small.toml", intervals=False
        )
        assert report.tasks["Pairs"].score.value == pytest.approx(0.85)


def test_two_benchmarks_or_splits_do_not_mix(folder, small, tmp_path) -> None:
    from gluebench.submission.values import submission_of

    gold = read_gold(folder, small)
    other = submission_of({"Pairs": [1] * 12}, small, role="dev")
    with pytest.raises(ValueError, match=r"small \(dev\).*small \(test\)"):
        grade(other, gold)


def test_dev_labels_are_scored_the_same_and_need_no_diagnostic_set(tmp_path, small) -> None:
    folder = tmp_path / "dev"
    folder.mkdir()
    rows = {"Accept": 12, "Pairs": 12, "Like": 12, "Halves-m": 10, "Halves-mm": 10}
    values = {name: gold_values()[name][:size] for name, size in rows.items()}
    for name, column in values.items():
        (folder / f"{name}.tsv").write_text(
            "index\tlabel\n" + "".join(f"{i}\t{v}\n" for i, v in enumerate(column))
        )
    report = grade(values, read_gold(folder, small, role="dev"), intervals=False)
    assert report.split == "dev"
    assert report.diagnostics == {"Probe": None}
    assert report.warnings == ()
    assert report.tasks["Pairs"].metrics["accuracy"].value == 1.0


def test_the_same_input_gives_the_same_bytes(folder, small) -> None:
    once = grade(predicted_values(), read_gold(folder, small)).to_json()
    again = grade(dict(reversed(predicted_values().items())), read_gold(folder, small)).to_json()
    assert once == again


def test_adding_a_task_changes_no_other_interval(folder, small) -> None:
    gold = read_gold(folder, small)
    alone = grade({"Accept": predicted_values()["Accept"]}, gold)
    assert grade(predicted_values(), gold).tasks["Accept"] == alone.tasks["Accept"]


def test_no_label_nor_key_is_in_the_report(folder, small) -> None:
    gold = read_gold(folder, small)
    report = grade(predicted_values(), gold, intervals=False)
    key = (folder / ".label-key").read_bytes()
    assert key.hex() not in report.to_json()
    assert str(folder) not in report.to_json()
    assert "entailment" not in repr(gold)
    assert report.provenance["labels"] == gold.version


class TestEveryField:
    """A report with intervals, against the functions that its parts come from."""

    def test_a_diagnostic_set_has_the_interval_of_each_category(self, gold) -> None:
        pairs = pairs_of(submission_of(predicted_values(), gold.benchmark), gold)["Probe"]
        [metric] = gold.benchmark.task("Probe").metrics
        probe = grade(predicted_values(), gold).diagnostics["Probe"]
        negation = sorted({at for at in range(60) if at // 2 % 3 == 0} | {*range(2, 60, 6)})
        for score, rows in (
            (probe.overall, range(60)),
            (probe.metadata["direction"]["backward"], range(1, 60, 2)),
            (probe.fine["Negation"], negation),
            (probe.coarse["Knowledge"], [at for at in range(60) if at // 2 % 3 == 2]),
        ):
            some = pairs.subset(list(rows))
            found = point(metric, some)
            [bar] = file_intervals([metric], some, [found])
            assert score == Score(found.value, bar.low, bar.high, len(some), bar.withheld, None)
        assert probe.overall.low < probe.overall.value < probe.overall.high
        assert grade(predicted_values(), gold, intervals=False).diagnostics["Probe"].overall.low is None

    def test_warnings_in_full(self, gold) -> None:
        values = predicted_values() | {"Pairs": [0] * 40, "Like": [2.5] * 40, "Probe": ["neutral"] * 60}
        assert grade({**values, "Accept": [1] * 40}, gold, intervals=False).warnings == tuple(
            f"{name} is not defined where the predictions are all the same, and counts as 0"
            for name in ("Accept: matthews_correlation", "Like: pearson", "Like: spearman", "Probe: r_k")
        )
        values["Probe"] = [
            "neutral" if index // 2 % 3 == 1 else label
            for index, label in enumerate(predicted_values()["Probe"])
        ]
        assert grade(values, gold, intervals=False).warnings[2:] == (
            "Probe: r_k is not defined where all gold labels or all predictions are the same, "
            "and counts as 0: Knowledge, Double Negation, World Knowledge",
        )
        del values["Probe"]
        assert grade(values, gold, intervals=False).warnings[2:] == (
            "Probe: Probe.tsv was not submitted; its analysis is left out, no score depends on it",
        )

    def test_the_average_has_the_interval_of_its_tasks(self, gold) -> None:
        report = grade(predicted_values(), gold)
        parts = [
            Part(name, task.score.value, OptionalInterval(task.score.low, task.score.high))
            for name, task in report.tasks.items()
        ]
        assert (report.score.low, report.score.high) == pytest.approx(mean_interval(parts))
        assert report.score.withheld is None
        assert (report.benchmark, report.split, report.complete) == ("small", "test", True)
        assert report.tasks["Halves"].score.n == 50
        assert report.tasks["Pairs"].score.n == 40
        pairs = pairs_of(submission_of(predicted_values(), gold.benchmark), gold)
        for task in gold.benchmark.scored:
            points = {metric.name: point(metric, pairs[metric.file]) for metric in task.metrics}
            of_metrics, bar = task_intervals(task, pairs, points)
            score = report.tasks[task.name].score
            assert (score.low, score.high, score.withheld) == bar[:3]
            for name, metric in report.tasks[task.name].metrics.items():
                assert (metric.low, metric.high, metric.withheld) == of_metrics[name][:3]
        withheld = grade(predicted_values() | {"Accept": [1] * 40}, gold)
        assert withheld.score.low < withheld.score.value < withheld.score.high
        assert withheld.tasks["Accept"].score.withheld == "constant predictions"

    def test_a_split_that_is_not_the_golds(self, gold) -> None:
        with pytest.raises(ValueError, match="the submission is for") as caught:
            require_gradable(replace(submission_of(predicted_values(), gold.benchmark), role="dev"), gold)
        assert str(caught.value) == (
            "the submission is for small (dev) and the gold labels for small (test); "
            "expected both of one benchmark and split"
        )

    def test_an_invalid_submission_is_refused_with_all_that_is_known(self, gold) -> None:
        problem = Problem("extra-row", "error", "Pairs.tsv", "expected 40 rows", "remove it")
        invalid = replace(
            submission_of(predicted_values(), gold.benchmark),
            verdict="invalid", problems=(problem,), source="a.zip", unshown={"Pairs.tsv": {"extra-row": 7}},
        )  # fmt: skip
        with pytest.raises(SubmissionError) as caught:
            require_gradable(invalid, gold)
        assert list(caught.value.problems) == [problem]
        assert str(caught.value) == str(
            SubmissionError([problem], source="a.zip", unshown={"Pairs.tsv": {"extra-row": 7}})
        ) != str(SubmissionError([problem], source="a.zip"))  # fmt: skip

    def test_partial_gold_in_full(self, tmp_path, small) -> None:
        values = gold_values()
        del values["Like"], values["Probe"]
        folder = write_gold(tmp_path / "less", values)
        for name in ("Halves-m", "Halves-mm"):
            lines = (folder / f"{name}.tsv").read_text().splitlines(keepends=True)
            (folder / f"{name}.tsv").write_text("".join(lines[:16]))
        for path in folder.glob("Probe.*"):
            path.unlink()
        report = grade(predicted_values(), read_gold(folder, small, partial=True), intervals=False)
        halves = report.tasks["Halves"]
        assert [(each.n, each.covered) for each in (*halves.metrics.values(), halves.score)] == [
            (15, 0.5), (15, 0.75), (30, pytest.approx(0.6)),
        ]  # fmt: skip
        assert report.warnings[-4:] == (
            "there are no gold labels for Like.tsv, Probe.tsv: submitted, but not scored",
            "Halves-m: there are gold labels for 15 of 30 examples only",
            "Halves-mm: there are gold labels for 15 of 20 examples only",
            "Probe: there are no gold labels for it; no score depends on it",
        )

    def test_gold_that_lacks_files_is_named_problem_by_problem(self, tmp_path, small) -> None:
        values = gold_values()
        del values["Like"], values["Pairs"]
        gold = read_gold(write_gold(tmp_path / "less", values), small)
        with pytest.raises(GoldError) as caught:
            grade(predicted_values(), gold)
        expected = "expected labels for a test file that was submitted"
        assert [(each.code, each.severity, each.file, each.expected) for each in caught.value.problems] == [
            ("no-gold", "error", f"{name}.tsv", expected) for name in ("Pairs", "Like")
        ]

    def test_a_diagnostic_set_of_numbers(self) -> None:
        """The categories of a correlation are scored by their own rows."""
        [pairs] = some_numbers(60, 1.0)
        categories = [
            Category("overall", "overall", tuple(range(60))),
            Category("fine", "even", tuple(range(0, 60, 2))),
        ]
        task = SimpleNamespace(name="Probe", metrics=[PEARSON], metadata=())
        found = diagnostic_report(
            task, {"F": pairs}, SimpleNamespace(categories={"F": categories}), intervals=False
        )
        x, y = codes(pairs)
        assert found.warnings == ()
        assert found.report.overall.value == pytest.approx(stats.pearsonr(x, y)[0])
        assert found.report.fine["even"].value == pytest.approx(stats.pearsonr(x[::2], y[::2])[0])
        assert found.report.metadata == {}
