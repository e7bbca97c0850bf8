"""The audit: word-class associations by hand, planted artifacts, data without any, and the real samples."""

from __future__ import annotations

import json
from math import log2
from pathlib import Path
from random import Random

import pytest
from real import REAL, needs_real

from gluebench.analysis.audit import PRINTED, PairSet, ShortcutAccuracy, Sources, associations, audit
from gluebench.analysis.audit.run import verdict
from gluebench.analysis.lint.shortcuts import Lead, example_groups
from gluebench.benchmark import UnknownNameError, load_benchmark
from gluebench.data import DataError, Example
from gluebench.scoring import read_gold
from gluebench.scoring.intervals import OptionalInterval, wilson

GLUE = load_benchmark("glue")
MNLI = GLUE.task("MNLI")
ONE, OTHER = "entailment", "contradiction"


def pairs(name: str, rows: list[tuple[str, str, str]]) -> PairSet:
    examples = [
        Example(index, {"premise": one, "hypothesis": other}, label)
        for index, (one, other, label) in enumerate(rows)
    ]
    return PairSet(name, MNLI, examples)


def by_part(measured: list[ShortcutAccuracy]) -> dict[str, ShortcutAccuracy]:
    return {each.sees: each for each in measured}


# ---------------------------------------------------------------- words and classes


def test_pmi_by_hand() -> None:
    """Three texts of a class, two of the other; "no" stands in 0 and 2 of them, "yes" in 2 and 0."""
    texts = ["yes it is", "Yes, yes", "it is", "no it is", "no"]
    found = associations(texts, [ONE, ONE, ONE, OTHER, OTHER], [ONE, OTHER], smoothing=1, shown=9)
    # counts: it 2/1, is 2/1, yes 2/0, no 0/2; smoothed 3/2, 3/2, 3/1, 1/3, in all 10/8
    listed = {(each.label, each.word): (each.pmi, each.share, each.texts) for each in found}
    assert listed == {
        (ONE, "yes"): (pytest.approx(log2(3 * 18 / (4 * 10))), pytest.approx(2 / 3), 2),
        (ONE, "is"): (pytest.approx(log2(3 * 18 / (5 * 10))), pytest.approx(2 / 3), 2),
        (ONE, "it"): (pytest.approx(log2(3 * 18 / (5 * 10))), pytest.approx(2 / 3), 2),
        (OTHER, "no"): (pytest.approx(log2(3 * 18 / (4 * 8))), 1.0, 2),
    }
    assert [each.word for each in found] == ["yes", "is", "it", "no"]


def test_smoothing_puts_common_words_before_rare_ones() -> None:
    texts = ["never once"] + ["never"] * 30 + ["always"] * 30 + ["never"] * 3
    labels = [ONE] * 31 + [OTHER] * 33
    raw = associations(texts, labels, [ONE, OTHER], smoothing=0, shown=1)
    assert [each.word for each in raw] == ["once", "always"]
    smoothed = associations(texts, labels, [ONE, OTHER], smoothing=100, shown=1)
    assert [each.word for each in smoothed] == ["never", "always"]


# ---------------------------------------------------------------- what is measured


def planted(count: int) -> list[tuple[str, str, str]]:
    """The hypothesis gives the label away; premise, length and overlap do not."""
    words = {"entailment": "surely", "neutral": "perhaps", "contradiction": "hardly"}
    rows = []
    for row in range(count):
        for label, word in words.items():
            premise = f"premise {Random(f'{count} {row} {label}').randrange(10**9)}"
            rows.append((premise, f"{word} number {row % 5}", label))
    return rows


def test_a_planted_word_is_found_and_nothing_else() -> None:
    see = ["hypothesis", "premise", "length", "overlap"]
    found = audit([pairs("mine", planted(60))], [pairs("held out", planted(20))], see=see)
    parts = by_part(found.measured)
    assert list(parts) == see
    assert parts["hypothesis"].accuracy == 1
    assert parts["hypothesis"].verdict == "above majority"
    for part in ("premise", "length", "overlap"):
        assert parts[part].accuracy == pytest.approx(1 / 3)
        assert parts[part].verdict == "not significantly above chance"
    expected = wilson(20, 60)
    assert (parts["length"].low, parts["length"].high) == (expected.low, expected.high)
    assert [(each.label, each.word) for each in found.associations["mine"]] == [
        ("entailment", "surely"),
        ("neutral", "perhaps"),
        ("contradiction", "hardly"),
    ]
    assert [(each.label, each.pairs, each.first, each.second) for each in found.lengths] == [
        (label, 60, 2, 3) for label in MNLI.words
    ]


def test_pairs_in_both_directions_are_one_observation() -> None:
    both = [
        row
        for at in range(40)
        for row in ((f"a {at}", f"b {at}", ONE), (f"b {at}", f"a {at}", ONE if at % 2 else OTHER))
    ]
    (alone,) = audit([pairs("mine", planted(20))], [pairs("turned", both)], see=["hypothesis"]).measured
    assert alone.low is not None
    assert alone.high is not None
    independent = wilson(alone.accuracy * 80, 80)
    assert alone.high - alone.low > (independent.high or 0) - (independent.low or 0)
    assert example_groups(pairs("mine", planted(2)).examples) == [0, 1, 2, 3, 4, 5]


def test_the_pairs_that_were_learned_are_not_tested_on() -> None:
    mine, other = pairs("mine", planted(20)), pairs("other", planted(9))
    found = audit([mine, other], [mine, other], see=["hypothesis"], shown=0)
    assert [(each.train, each.test) for each in found.measured] == [("mine", "other"), ("other", "mine")]
    assert found.associations == {}
    with pytest.raises(DataError, match="mine: there is nothing to test on"):
        audit([mine], [mine])


def test_all_that_cannot_be_audited_is_told_at_once() -> None:
    rte = GLUE.task("RTE")
    two = PairSet("RTE dev", rte, [Example(0, dict.fromkeys(rte.columns, "a"), "not_entailment")])
    one_sided = pairs("one-sided", [("a", "b", ONE)] * 9)
    scarce = pairs("scarce", [("a", "b", ONE)] * 9 + [("a", "b", OTHER)] * 2)
    with pytest.raises(DataError) as raised:
        audit([one_sided, scarce], [two])
    assert raised.value.problems == [
        "one-sided: has one label only, so there is nothing to learn",
        "RTE dev: has the label not_entailment; one-sided teaches entailment, neutral, contradiction",
        "scarce: has 9 of entailment and 2 of contradiction; expected 3 or more examples of two labels",
        "RTE dev: has the label not_entailment; scarce teaches entailment, neutral, contradiction",
    ]
    with pytest.raises(UnknownNameError, match="hypotesis"):
        audit([pairs("mine", planted(9))], [one_sided], see=["hypotesis"])


def test_sets_of_another_number_of_texts_are_refused() -> None:
    glue = load_benchmark("glue")
    couples = [
        Example(at, {"premise": "It rains.", "hypothesis": "It is wet."}, str(at)) for at in (0, 1) * 3
    ]
    learned = PairSet("WNLI train", glue.task("WNLI"), couples)
    single = PairSet("CoLA dev", glue.task("CoLA"), [Example(0, {"sentence": "It rains."}, "1")])
    with pytest.raises(DataError) as found:
        audit([learned], [single])
    assert found.value.problems == [
        "CoLA dev: has the texts sentence; WNLI train teaches premise, hypothesis"
    ]


def test_what_the_paper_prints_stands_beside_the_same_train_and_test_alone() -> None:
    diagnostic = pairs("AX test", planted(9))._replace(task=GLUE.task("AX"))
    found = audit(
        [pairs("SNLI train", planted(9)), pairs("snli.tsv", planted(9))],
        [diagnostic, pairs("MNLI dev_matched", planted(9))],
        see=["hypothesis", "premise"],
        printed=PRINTED["glue"],
    )
    printed = {(each.train, each.sees, each.test): each.printed for each in found.measured}
    assert printed.pop(("SNLI train", "hypothesis", "AX test")) == 0.327
    assert len(printed) == 7
    assert set(printed.values()) == {None}


@pytest.mark.parametrize(
    ("low", "high", "lead", "p", "said"),
    [
        (0.5, 0.6, 0.1, 0.05, "above majority"),
        (0.5, 0.6, 0.1, 0.06, "above chance, not above majority"),
        (0.5, 0.6, -0.1, 0.001, "above chance, not above majority"),
        (0.30, 0.5, 0.1, 0.2, "not significantly above chance"),
        (0.20, 0.30, -0.2, 0.001, "below chance"),
        (None, None, 0.1, 0.001, "too few to say"),
    ],
)
def test_the_verdict_goes_by_the_lead_and_the_interval(
    low: float | None, high: float | None, lead: float, p: float, said: str
) -> None:
    assert verdict(OptionalInterval(low, high), chance=1 / 3, lead=Lead(lead, p)) == said


# ---------------------------------------------------------------- data


def test_the_hypotheses_of_the_sample_tell_something_as_those_of_mnli_do(sample_folder: Path) -> None:
    sample = load_benchmark("sample")
    named = Sources(sample, sample_folder, read_gold(sample_folder / "gold", sample))
    tests = [*named.tests("MNLI"), *named.tests("AX")]
    assert [each.name for each in tests] == [
        "MNLI dev_matched",
        "MNLI dev_mismatched",
        "MNLI test_matched",
        "MNLI test_mismatched",
        "AX test",
    ]
    found = audit([named.train("MNLI")], tests, see=["hypothesis"])
    matched = (found.measured[0], found.measured[2])
    assert all(0.37 < each.accuracy < 0.5 for each in matched)
    (words,) = found.associations.values()
    assert "not" in {each.word for each in words if each.label == "contradiction"}
    assert all(each.printed is None for each in found.measured)


def test_hidden_labels_are_asked_for(sample_folder: Path) -> None:
    named = Sources(load_benchmark("sample"), sample_folder)
    assert [each.name for each in named.tests("MNLI")] == ["MNLI dev_matched", "MNLI dev_mismatched"]
    with pytest.raises(DataError, match=r"has test without labels; give the labels with --gold"):
        named.tests("AX")
    with pytest.raises(DataError, match="STS-B: an audit takes tasks of one or two texts and a label"):
        named.train("STS-B")
    with pytest.raises(UnknownNameError, match="test_matchd"):
        named.tests("MNLI:test_matchd")


def test_every_task_with_labels_has_its_own_tests(sample_folder: Path) -> None:
    sample = load_benchmark("sample")
    gold = read_gold(sample_folder / "gold", sample)
    own = {train.name: [each.name for each in tests] for train, tests in Sources(sample, sample_folder).own()}
    assert "STS-B train" not in own
    assert own["SST-2 train"] == ["SST-2 dev"]
    assert own["MNLI train"] == ["MNLI dev_matched", "MNLI dev_mismatched"]
    graded = {
        train.name: [each.name for each in tests]
        for train, tests in Sources(sample, sample_folder, gold).own()
    }
    assert graded["RTE train"] == ["RTE dev", "RTE test"]
    assert graded["MNLI train"][-1] == "AX test"


def test_a_table_is_read_under_any_of_the_names_that_such_files_use(tmp_path: Path) -> None:
    table = tmp_path / "pairs.tsv"
    table.write_text(
        "id\tsentence1\tsentence2\tlabel1\tgold_label\n"
        '1\tIt "rains.\tIt is wet.\tneutral\tentailment\n'
        "2\tIt rains.\tIt is dry.\tneutral\t-\n"
        "3\tIt rains.\tIt is Monday.\tneutral\tneutral\n"
    )
    found = Sources(GLUE).train(str(table))
    assert found.name == str(table)
    assert found.labels == ["entailment", "neutral"]
    assert found.texts(0) == ['It "rains.', "It rains."]


def test_every_wrong_row_of_a_table_is_named(tmp_path: Path) -> None:
    table = tmp_path / "pairs.csv"
    table.write_text("Premise,Hypothesis,Label\na,b,entailment\na,b,yes\na,b,maybe\n")
    with pytest.raises(DataError) as raised:
        Sources(GLUE).train(str(table))
    known = "entailment, neutral, contradiction"
    assert raised.value.problems == [
        f'{table}:3: the label is "yes", expected one of {known}',
        f'{table}:4: the label is "maybe", expected one of {known}',
    ]
    table.write_text("Premise,Text,Label\na,b,entailment\n")
    with pytest.raises(DataError, match="no column hypothesis or sentence2 or text_b, but Premise, Text"):
        Sources(GLUE).train(str(table))
    with pytest.raises(DataError, match=r"absent\.tsv: no such file"):
        Sources(GLUE).train(str(tmp_path / "absent.tsv"))


# ---------------------------------------------------------------- the real samples


def real_sample(path: str, name: str) -> PairSet:
    found = json.loads((REAL / path).read_text())
    return pairs(name, [(row["text_a"], row["text_b"], row["label"]) for row in found.values()])


@needs_real
def test_the_real_samples_have_the_artifacts_and_the_diagnostic_set_has_not() -> None:
    """At least what fastText 0.9.2 reaches on the same rows with word pairs, at the best of five settings.

    The paper has .327 and .364 on AX, from the whole of SNLI and of MNLI.
    """
    snli, mnli = (
        real_sample(f"{folder}/glue_pretrain.train.json", f"{name} train")
        for folder, name in (("corpora/snli", "SNLI"), ("glue/MNLI", "MNLI"))
    )
    tests = [
        real_sample("corpora/snli/glue_pretrain.dev.json", "SNLI dev"),
        real_sample("glue/MNLI/glue_pretrain.dev.json", "MNLI dev"),
        *Sources(GLUE).tests(str(REAL / "glue/AX/diagnostic-full.tsv")),
    ]
    found = audit([snli, mnli], tests, see=["hypothesis"])
    accuracy = {(each.train[:4], Path(each.test.split(" ")[0]).name): each for each in found.measured}
    assert accuracy["SNLI", "SNLI"].accuracy >= 0.558
    assert accuracy["MNLI", "MNLI"].accuracy >= 0.470
    for train in ("SNLI", "MNLI"):
        diagnostic = accuracy[train, "diagnostic-full.tsv"]
        assert diagnostic.examples == 1104
        assert diagnostic.majority == pytest.approx(460 / 1104)
        assert diagnostic.verdict == "not significantly above chance"
    words = {(each.label, each.word) for each in found.associations["MNLI train"]}
    assert {("contradiction", "no"), ("contradiction", "never")} <= words  # as Gururangan et al. found
