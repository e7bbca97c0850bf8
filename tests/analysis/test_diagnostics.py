"""Diagnoses against scikit-learn, hand-worked pairs and the manual."""

from __future__ import annotations

import csv
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import (  # noqa: TID251 the oracle
    confusion_matrix,
    precision_score,
    recall_score,
)

from gluebench.analysis.diagnostics import diagnose, heatmap
from gluebench.analysis.diagnostics.counts import Confusion, Share, directions_of
from gluebench.analysis.diagnostics.diagnosis import withhold
from gluebench.analysis.diagnostics.heatmap import levels
from gluebench.analysis.diagnostics.paper import explain, table5
from gluebench.data import DataError
from gluebench.scoring import DiagnosticReport, Score, SubmissionError, grade, read_gold
from gluebench.scoring.pairs import Pairs
from gluebench.scoring.report import report_of
from gluebench.submission import Column

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("entailment", "neutral", "contradiction")
LETTERS = {word[0]: code for code, word in enumerate(WORDS)}
ANSWER = st.sampled_from("enc")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def gold(sample, sample_folder, tmp_path_factory):
    import shutil

    return read_gold(shutil.copytree(sample_folder / "gold", tmp_path_factory.mktemp("own") / "gold"), sample)


@pytest.fixture(scope="module")
def labels(sample_folder) -> list[str]:
    return [row["label"] for row in rows(sample_folder / "gold" / "AX.tsv")]


def answers(labels: list[str], right: float, seed: int = 3) -> list[str]:
    rng = random.Random(seed)
    return [word if rng.random() < right else rng.choice(WORDS) for word in labels]


@pytest.fixture(scope="module")
def found(gold, labels):
    systems = {"good": {"AX": answers(labels, 0.8)}, "poor": {"AX": answers(labels, 0.3)}}
    return diagnose(systems, gold)


def test_scores_are_those_of_the_report(gold, labels, found) -> None:
    report = grade({"AX": answers(labels, 0.8)}, gold).diagnostics["AX"]
    assert found.sets["AX"].reports["good"] == report


def test_a_stored_report_gives_the_same_map(gold, labels, found) -> None:
    each = found.sets["AX"]
    systems = {"good": {"AX": answers(labels, 0.8)}, "poor": {"AX": answers(labels, 0.3)}}
    stored = {
        name: report_of(json.loads(grade(given, gold).to_json())).diagnostics["AX"]
        for name, given in systems.items()
    }
    assert list(heatmap(each.task, stored).records()) == list(heatmap(each.task, each.reports).records())
    assert stored["good"].metadata.keys() == {"direction", "domain"}


def test_confusions_are_scikit_learns_in_every_category(sample_folder, labels, found) -> None:
    predicted = answers(labels, 0.8)
    members: dict[tuple[str, str], set[int]] = {("overall", ""): set(range(len(labels)))}
    for row in rows(sample_folder / "gold" / "AX.phenomena.tsv"):
        for kind in ("coarse", "fine"):
            members.setdefault((kind, row[kind]), set()).add(int(row["index"]))
    for row in rows(sample_folder / "gold" / "AX.metadata.tsv"):
        for kind in ("direction", "domain"):
            members.setdefault((kind, row[kind]), set()).add(int(row["index"]))
    confusions = found.sets["AX"].systems["good"].confusions
    assert set(confusions) == set(members)
    for category, where in members.items():
        chosen = [[each[at] for at in sorted(where)] for each in (labels, predicted)]
        assert confusions[category].counts == tuple(
            map(tuple, confusion_matrix(*chosen, labels=WORDS).tolist())
        )


def test_shares_of_right_answers_are_scikit_learns(labels, found) -> None:
    predicted = answers(labels, 0.8)
    confusion = found.sets["AX"].systems["good"].confusions["overall", ""]
    for name, theirs in (("recall", recall_score), ("precision", precision_score)):
        ours = [getattr(score, name) for score in confusion.classes]
        assert ours == pytest.approx(theirs(labels, predicted, labels=WORDS, average=None))


def test_a_label_that_is_never_answered_has_no_precision() -> None:
    one_sided = Confusion(WORDS, ((3, 0, 0), (2, 0, 0), (0, 0, 0)))
    assert [score.recall for score in one_sided.classes] == [1.0, 0.0, None]
    assert [score.precision for score in one_sided.classes] == [0.6, None, None]


def paired(gold: str, predicted: str, groups: list[int] | None = None) -> Pairs:
    """Pairs of letters: "en" is entailment forward, neutral backward."""
    columns = (Column(WORDS, bytes(LETTERS[letter] for letter in text)) for text in (gold, predicted))
    return Pairs(*columns, tuple(groups or [at // 2 for at in range(len(gold))]))


def test_directions_worked_by_hand() -> None:
    #              right  one    none   alike  one way
    pairs = paired("en" + "en" + "nn" + "cc" + "cc" + "ee", "en" + "ee" + "ec" + "cc" + "cn" + "ne")
    found = directions_of(pairs, mirrored="contradiction")
    assert found is not None
    assert (found.both.count, found.one.count, found.neither.count) == (2, 3, 1)
    assert found.alike == Share(1, 4)  # of nn, cc, cc, ee
    assert found.apart == Share(1, 2)  # of en, en
    assert found.one_way == Share(2, 3)  # of ec, cc, cn
    assert found.kinds == {
        ("entailment", "entailment"): (1, 1),
        ("entailment", "neutral"): (2, 2),
        ("entailment", "contradiction"): (0, 1),
        ("neutral", "neutral"): (1, 0),
        ("neutral", "contradiction"): (0, 1),
        ("contradiction", "contradiction"): (2, 1),
    }


def test_an_example_without_its_other_direction_is_left_out_and_counted() -> None:
    found = directions_of(paired("enc", "enc", [0, 0, 1]))
    assert found is not None
    assert (found.both, found.unpaired) == (Share(1, 1), 1)


def test_no_groups_no_directions() -> None:
    pairs = paired("enc", "enc")
    assert directions_of(Pairs(pairs.gold, pairs.predicted)) is None
    assert directions_of(paired("enc", "enc", [0, 1, 2])) is None


@given(st.lists(st.tuples(ANSWER, ANSWER, ANSWER, ANSWER), min_size=1, max_size=30))
def test_directions_hold_together(quadruples) -> None:
    gold = "".join(a + b for a, b, _, _ in quadruples)
    predicted = "".join(c + d for _, _, c, d in quadruples)
    found = directions_of(paired(gold, predicted), mirrored="contradiction")
    assert found is not None
    n = len(quadruples)
    assert found.both.count + found.one.count + found.neither.count == n
    assert 2 * found.both.count + found.one.count == sum(g == p for g, p in zip(gold, predicted, strict=True))
    assert found.alike.of + found.apart.of == n
    assert sum(gold for gold, _ in found.kinds.values()) == n
    answered = Counter("".join(sorted(c + d)) for _, _, c, d in quadruples)
    assert found.one_way.of == sum(count for kind, count in answered.items() if "c" in kind)
    assert found.one_way.count == answered["ce"] + answered["cn"]


def test_a_share_has_wilsons_interval() -> None:
    from scipy.stats import binomtest

    expected = binomtest(213, 552).proportion_ci(method="wilson")
    assert Share(213, 552).interval == pytest.approx((expected.low, expected.high))
    assert Share(0, 0).value is None
    assert Share(0, 0).interval is None


# ---------------------------------------------------------------- withholding


def private(sample, said: bool | None = True):
    tasks = tuple(task._replace(private=said if task.name == "AX" else None) for task in sample.tasks)
    return sample._replace(tasks=tasks)


@pytest.mark.parametrize("said", [True, None])
def test_small_categories_are_withheld_unless_labels_are_public(sample, gold, labels, said) -> None:
    hidden = read_gold(gold.folder, private(sample, said))
    found = diagnose({"one": {"AX": answers(labels, 0.8)}}, hidden, withhold_below=30)
    finding = found.sets["AX"].systems["one"]
    small = [score for _, _, score in finding.scores.parts() if score.n < 30]
    assert small
    for score in small:
        assert (score.value, score.low, score.high) == (None, None, None)
        assert "fewer than 30" in str(score.withheld)
    assert all(score.value is not None for _, _, score in finding.scores.parts() if score.n >= 30)
    assert set(finding.confusions) == {("overall", "")}  # counts of parts could be subtracted
    shown = [line for line in heatmap(found.sets["AX"].task, found.sets["AX"].reports).lines if line.n < 30]
    assert {level for line in shown for level in line.levels} == {None}


def test_no_warning_tells_what_the_labels_of_a_withheld_category_are(sample, gold, labels) -> None:
    constant = {"one": {"AX": ["neutral"] * (len(labels) - 1) + ["entailment"]}}
    assert "not defined" in " ".join(diagnose(constant, gold, intervals=False).warnings)
    hidden = read_gold(gold.folder, private(sample))
    assert diagnose(constant, hidden, intervals=False, withhold_below=30).warnings == hidden.warnings


def test_a_private_set_smaller_than_that_is_withheld_altogether(sample, gold, labels) -> None:
    hidden = read_gold(gold.folder, private(sample))
    found = diagnose({"one": {"AX": answers(labels, 0.8)}}, hidden, intervals=False, withhold_below=601)
    finding = found.sets["AX"].systems["one"]
    assert {score.value for _, _, score in finding.scores.parts()} == {None}
    assert (finding.confusions, finding.directions) == ({}, None)


def test_public_labels_are_never_withheld(gold, labels, found) -> None:
    systems = {"good": {"AX": answers(labels, 0.8)}, "poor": {"AX": answers(labels, 0.3)}}
    assert diagnose(systems, gold, withhold_below=1000).as_dict() == found.as_dict()


def test_withholding_keeps_sizes() -> None:
    report = DiagnosticReport(Score(0.5, 0.4, 0.6, 40), {"Logic": Score(0.5, 0.4, 0.6, 20)}, {}, {})
    assert withhold(report, 0) == report
    assert withhold(report, 40).overall == report.overall
    assert withhold(report, 40).coarse["Logic"].n == 20
    assert withhold(report, 40).coarse["Logic"].value is None


# ---------------------------------------------------------------- heat map


def score(value: float | None, width: float | None = 0.1, withheld: str | None = None) -> Score:
    if value is None or width is None:
        return Score(value, None, None, 20, withheld)
    return Score(value, value - width / 2, value + width / 2, 20, withheld)


def test_shades_span_the_systems_where_they_are_far_apart() -> None:
    assert levels([score(v) for v in (0.0, 0.25, 0.5, 0.75, 1.0)]) == [0, 1, 2, 3, 4]


def test_shades_are_close_where_systems_are_closer_than_an_interval_is_wide() -> None:
    assert levels([score(0.50, 0.6), score(0.51, 0.6)]) == [2, 2]


def test_no_shade_without_another_system_or_without_any_interval() -> None:
    assert levels([score(0.5)]) == [None]
    assert levels([score(0.5), score(None)]) == [None, None]
    assert levels([score(0.1, None, "too few to say"), score(0.0, None, "not defined")]) == [None, None]


def test_what_is_too_few_to_say_has_no_shade_and_leaves_those_of_the_others() -> None:
    assert levels([score(0.2), score(0.5), score(1.0, None, "too few to say")]) == [0, 4, None]
    assert levels([score(0.2), score(1.0, None, "too few to say")]) == [None, None]


def test_shades_without_intervals_span_the_systems() -> None:
    assert levels([score(0.1, None), score(0.2, None)]) == [0, 4]
    assert levels([score(0.2, None), score(0.2, None)]) == [2, 2]


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=12), st.floats(0, 1))
def test_shades_follow_the_order_of_the_scores(values, width) -> None:
    shades = levels([score(value, width) for value in values])
    assert all(shade is not None and 0 <= shade <= 4 for shade in shades)
    by_value = [shade for _, shade in sorted(zip(values, shades, strict=True))]
    assert by_value == sorted(by_value)


def test_a_line_is_shaded_without_regard_to_any_other(found) -> None:
    each = found.sets["AX"]
    before = {line.name: (line.scores, line.levels) for line in heatmap(each.task, each.reports).lines}
    changed = each.reports
    for name, report in changed.items():
        changed[name] = report._replace(fine={**report.fine, "Negation": score(-0.9 * (name == "good"))})
    after = {line.name: (line.scores, line.levels) for line in heatmap(each.task, changed).lines}
    assert {name for name in before if before[name] != after[name]} == {"Negation"}


def test_a_heat_map_has_every_category_and_says_all_of_it_as_records(sample, found) -> None:
    each = found.sets["AX"]
    made = heatmap(each.task, each.reports)
    task = sample.task("AX")
    assert {line.name for line in made.lines if line.kind == "fine"} == {p.name for p in task.phenomena}
    assert [line.name for line in made.lines if line.kind == "coarse"] == list(task.coarse())
    records = list(made.records())
    assert len(records) == len(made.lines) * 2
    report = each.reports["poor"]
    assert next(row[4] for row in records if row[1] == "Negation" and row[3] == "poor") == pytest.approx(
        report.fine["Negation"].value
    )


# ---------------------------------------------------------------- words, and what cannot be diagnosed


def test_table_5_of_another_set_has_its_columns_and_nothing_of_the_papers(found) -> None:
    each = found.sets["AX"]
    table = table5(each.task, each.reports)
    assert table.headings == (
        "All", "LS", "PAS", "L", "K", "UQuant", "MNeg", "2Neg", "Coref", "Restr", "Down",
    )  # fmt: skip
    assert table.systems["good"][-1] == each.reports["good"].fine["Downward Monotone"]
    assert table.printed == {}


def test_each_phenomenon_is_explained_in_the_words_of_the_manual(sample) -> None:
    manual = " ".join((ROOT / "docs" / "reference" / "diagnostic.md").read_text().split())
    for phenomenon in sample.task("AX").phenomena:
        found = explain(phenomenon.name)
        assert found is not None
        assert f"#### {phenomenon.name} {found.words} >" in manual
        heading = re.sub(r"[^\w\- ]", "", phenomenon.name).lower().replace(" ", "-")
        assert found.link == f"docs/reference/diagnostic.md#{heading}"
        assert len(found.examples) == 2
        assert all(phenomenon.name in pair.phenomena for pair in found.examples)
    assert explain("Sarcasm") is None


def test_what_cannot_be_diagnosed_is_said(sample, gold, labels) -> None:
    with pytest.raises(DataError, match=r"a: expected predictions in AX.tsv"):
        diagnose({"a": {}}, gold)
    with pytest.raises(SubmissionError):
        diagnose({"a": {"AX": ["entails"] * len(labels)}}, gold)
    without = sample._replace(tasks=sample.scored)
    with pytest.raises(DataError, match="no diagnostic set"):
        diagnose({"a": {}}, read_gold(gold.folder, without))


def test_a_system_that_did_not_answer_is_left_out_with_a_warning(gold, labels) -> None:
    found = diagnose({"a": {"AX": labels}, "b": {}}, gold, intervals=False)
    assert list(found.sets["AX"].systems) == ["a"]
    assert "b: AX.tsv was not submitted; AX is left out" in found.warnings
