"""The report: which scores there are, how they average, what is missing and said."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats
from scoring.material import NLI, gold_values, predicted_values, write_gold

from gluebench.benchmark import UnknownNameError
from gluebench.scoring import GoldError, SubmissionError, grade, read_gold


@pytest.fixture
def gold(folder, small):
    return read_gold(folder, small)


def test_scores_worked_by_hand(gold) -> None:
    report = grade(predicted_values(), gold, resamples=0)
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
    report = grade(predicted_values(), gold, resamples=0)
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
    report = grade(values, gold, resamples=0)
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
    report = grade(values, gold, resamples=50)
    for name, metric in (("Accept", "matthews_correlation"), ("Like", "pearson"), ("Like", "spearman")):
        score = report.tasks[name].metrics[metric]
        assert (score.value, score.low, score.high, score.withheld) == (0.0, None, None, "not defined")
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
    report = grade(values, gold, resamples=0)
    said = [warning for warning in report.warnings if "Probe" in warning]
    assert len(said) == 1
    assert "World Knowledge" in said[0]


class TestPartialGold:
    def test_a_file_without_gold_is_the_organisers_error(self, tmp_path, small) -> None:
        values = gold_values()
        del values["Like"]
        gold = read_gold(write_gold(tmp_path / "less", values), small)
        with pytest.raises(GoldError, match=r"Like\.tsv.*expected labels for a test file that was submitted"):
            grade(predicted_values(), gold)

    def test_with_leave_it_is_left_out_and_said(self, tmp_path, small) -> None:
        values = gold_values()
        del values["Like"]
        gold = read_gold(write_gold(tmp_path / "less", values), small, partial=True)
        report = grade(predicted_values(), gold, resamples=0)
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
        report = grade(predicted_values(), gold, resamples=100)
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
        report = grade(predicted_values(), read_gold(folder, small, partial=True), resamples=0)
        assert report.tasks["Pairs"].metrics["accuracy"].value == 19 / 20  # of 0, 1, 20, 30 only 1 is odd


class TestFromPython:
    def test_arrays_series_frames_and_dicts_are_one(self, gold) -> None:
        pd = pytest.importorskip("pandas")
        values = predicted_values()["Pairs"]
        rows = list(enumerate(values))[::-1]
        forms = [
            values,
            np.array(values),
            np.array([str(value) for value in values]),
            pd.Series(values),
            pd.Series([value for _, value in rows], index=[index for index, _ in rows]),
            pd.DataFrame(rows, columns=["index", "prediction"]),
            dict(rows),
            {np.int64(index): value for index, value in rows},
        ]
        reports = {grade({"Pairs": form}, gold, resamples=0).to_json() for form in forms}
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
            ([1.0] * 40, "unknown-label"),
            (["1\t"] * 40, "unknown-label"),
            ({index + 1: 1 for index in range(40)}, "extra-index"),
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

    def test_names(self, gold) -> None:
        assert grade({"pairs": predicted_values()["Pairs"]}, gold, resamples=0).tasks["Pairs"].score
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
            {"Pairs": predicted_values()["Pairs"]}, folder, benchmark=tmp_path / "small.toml", resamples=0
        )
        assert report.tasks["Pairs"].score.value == pytest.approx(0.85)


def test_two_benchmarks_or_splits_do_not_mix(folder, small, tmp_path) -> None:
    from gluebench.scoring.predictions import submission_of

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
    report = grade(values, read_gold(folder, small, role="dev"), resamples=0)
    assert report.split == "dev"
    assert report.diagnostics == {"Probe": None}
    assert report.warnings == ()
    assert report.tasks["Pairs"].metrics["accuracy"].value == 1.0


def test_the_same_input_gives_the_same_bytes(folder, small) -> None:
    once = grade(predicted_values(), read_gold(folder, small), resamples=200).to_json()
    again = grade(
        dict(reversed(predicted_values().items())), read_gold(folder, small), resamples=200
    ).to_json()
    assert once == again
    assert json.loads(once)["provenance"]["resamples"] == 200
    other = grade(predicted_values(), read_gold(folder, small), resamples=200, seed=1).to_json()
    assert other != once


def test_adding_a_task_changes_no_other_interval(folder, small) -> None:
    gold = read_gold(folder, small)
    alone = grade({"Accept": predicted_values()["Accept"]}, gold, resamples=100)
    assert grade(predicted_values(), gold, resamples=100).tasks["Accept"] == alone.tasks["Accept"]


def test_no_label_nor_key_is_in_the_report(folder, small) -> None:
    gold = read_gold(folder, small)
    report = grade(predicted_values(), gold, resamples=0)
    key = (folder / ".label-key").read_bytes()
    assert key.hex() not in report.to_json()
    assert str(folder) not in report.to_json()
    assert "entailment" not in repr(gold)
    assert report.provenance["labels"] == gold.version
