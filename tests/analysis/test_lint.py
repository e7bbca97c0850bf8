"""What a lint finds: planted faults always, and none where there is none."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from real import REAL, needs_real

from gluebench.analysis.lint import Finding, lint_rows, lint_task, read_splits
from gluebench.analysis.lint.findings import fold
from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.data import DataError, Example

MANIFEST = """
[benchmark]
name = "tiny"
[tasks.Pairs]
columns = ["premise", "hypothesis"]
labels = { yes = "it follows", no = "it does not" }
metrics = [{ name = "accuracy" }]
splits = { train = { size = 4 }, dev = { size = 4 }, test = { size = 4 } }
[tasks.Single]
columns = ["sentence"]
labels = { yes = "it is so", no = "it is not" }
metrics = [{ name = "accuracy" }]
splits = { train = { size = 4 }, dev = { size = 4 }, test = { size = 4 } }
[tasks.Likeness]
columns = ["one", "two"]
score_range = [0, 5]
metrics = [{ name = "pearson" }]
splits = { train = { size = 4 }, dev = { size = 4 }, test = { size = 4 } }
"""
WORDS = ["tin", "oak", "mud", "fig", "elm", "rye", "ash", "bay", "cod", "dew"]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    path = tmp_path_factory.mktemp("tiny") / "tiny.toml"
    path.write_text(MANIFEST)
    return load_benchmark(path)


def rows(task: Task, texts: list[tuple[str, ...]], labels: list[str | float | None]) -> list[Example]:
    return [
        Example(index, dict(zip(task.columns, text, strict=True)), label)
        for index, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def found(task: Task, check: str, **splits: list[Example]) -> list[Finding]:
    return [finding for finding in lint_task(task, splits).findings if finding.check == check]


def made(task: Task, count: int, *, seed: int, mark: str) -> list[Example]:
    """Texts with a mark of their split, so that no two splits share one."""
    rng = Random(seed)
    texts = [
        tuple(f"{mark}{number}{name} {' '.join(rng.choices(WORDS, k=6))}" for name in task.columns)
        for number in range(count)
    ]
    low, high = task.score_range or (0.0, 0.0)
    labels = [rng.choice(task.words) if task.words else rng.uniform(low, high) for _ in texts]
    return rows(task, texts, labels)


def test_exact_and_near_duplicates_are_told_apart(tiny: Benchmark) -> None:
    task = tiny.task("Single")
    texts = [("A fox.",), ("a  FOX.",), ("A fox.",), ("ﬁne",), ("FINE",), ("other",)]
    train = rows(task, texts, ["yes"] * 6)
    (exact,) = found(task, "duplicates", train=train)
    (near,) = found(task, "near duplicates", train=train)
    assert (exact.number, exact.rows) == (1, ("2 = 0",))
    assert (near.number, near.rows) == (2, ("1 = 0", "4 = 3"))


def test_contradictions_are_errors_where_systems_are_graded(tiny: Benchmark) -> None:
    task = tiny.task("Single")
    split = rows(task, [("A fox.",), ("a fox.",), ("b",), ("B",)], ["yes", "no", "no", "no"])
    (train,) = found(task, "contradictions", train=split)
    (test,) = found(task, "contradictions", test=split)
    assert (train.severity, test.severity, test.number, test.rows) == ("warning", "error", 1, ("0, 1",))


def test_scores_contradict_each_other_when_they_are_far_apart(tiny: Benchmark) -> None:
    task = tiny.task("Likeness")
    near = rows(task, [("a", "b"), ("a", "b")], [2.0, 2.5])
    far = rows(task, [("a", "b"), ("a", "b")], [2.0, 4.0])
    assert not found(task, "contradictions", train=near)
    assert found(task, "contradictions", train=far)


def test_leakage_names_both_rows_and_counts_other_labels(tiny: Benchmark) -> None:
    task = tiny.task("Pairs")
    train = rows(task, [("a", "b"), ("c", "d"), ("e", "f")], ["yes", "no", "yes"])
    test = rows(task, [("x", "y"), ("C", "d"), ("e", "f"), ("a", "z")], ["yes", "yes", "yes", "no"])
    (leak,) = found(task, "leakage", train=train, test=test)
    assert (leak.severity, leak.where, leak.number) == ("error", "train, test", 2)
    assert leak.rows == ("train 1 = test 1", "train 2 = test 2")
    assert "1 of them exactly, 1 with another label" in leak.text
    (shared,) = found(task, "shared premise", train=train, test=test)
    assert (shared.number, shared.rows) == (1, ("train 0 = test 3",))
    assert not found(task, "shared hypothesis", train=train, test=test)


def test_a_leak_that_differs_in_punctuation_is_found(tiny: Benchmark) -> None:
    task = tiny.task("Single")
    train = rows(task, [("a fine film",), ("B.",), ("?",), ("d, e",)], ["yes", "no", "yes", "no"])
    test = rows(task, [("A fine film.",), ("b.",), ("!",), ("de",)], ["yes", "no", "yes", "no"])
    (near,) = found(task, "near leakage", train=train, test=test)
    assert (near.number, near.rows) == (1, ("train 0 = test 0",))
    assert near.text == "1 row of test (25.0 %) stand in train too but for punctuation"
    (leak,) = found(task, "leakage", train=train, test=test)
    assert leak.rows == ("train 1 = test 1",)


def test_only_the_first_rows_are_shown(tiny: Benchmark) -> None:
    task = tiny.task("Single")
    split = rows(task, [(f"text {number}",) for number in range(9)], ["yes", "no", "yes"] * 3)
    (leak,) = found(task, "leakage", train=split, test=split)
    assert (leak.number, len(leak.rows)) == (9, 5)


@pytest.mark.parametrize("name", ["Pairs", "Single", "Likeness"])
def test_texts_that_differ_everywhere_give_no_finding_of_rows(tiny: Benchmark, name: str) -> None:
    task = tiny.task(name)
    splits = {
        mark: made(task, 60, seed=seed, mark=mark) for seed, mark in enumerate(("train", "dev", "test"))
    }
    checks = {finding.check for finding in lint_task(task, splits).findings}
    assert not {check for check in checks if "duplicate" in check or "leak" in check or "shared" in check}


TEXT = st.text(st.sampled_from("abAB é\u00a0\n"), min_size=1, max_size=4)


@given(st.lists(TEXT, min_size=1, max_size=12), st.lists(TEXT, min_size=1, max_size=12))
def test_leakage_is_what_two_sets_of_folded_texts_have_in_common(tiny: Benchmark, one, other) -> None:
    task = tiny.task("Single")
    train, test = (rows(task, [(text,) for text in texts], ["yes"] * len(texts)) for texts in (one, other))
    common = [text for text in other if fold(text) in set(map(fold, one))]
    findings = [
        each for each in lint_rows(task, {"train": train, "test": test}).findings if each.check == "leakage"
    ]
    assert [finding.number for finding in findings] == ([len(common)] if common else [])


@given(st.integers(0, 59), st.integers(0, 59))
def test_a_planted_leak_is_always_found(tiny: Benchmark, source: int, target: int) -> None:
    task = tiny.task("Pairs")
    train, test = made(task, 60, seed=0, mark="train"), made(task, 60, seed=1, mark="test")
    test[target] = Example(target, {k: f" {v.upper()}" for k, v in train[source].inputs.items()}, "yes")
    findings = lint_rows(task, {"train": train, "test": test}).findings
    (leak,) = [finding for finding in findings if finding.check == "leakage"]
    assert leak.rows == (f"train {source} = test {target}",)


def test_strange_texts_are_found(tiny: Benchmark) -> None:
    task = tiny.task("Single")
    texts = [
        ("fine, naïve – “so”",),
        (" \u00a0",),
        ("lost \ufffd",),
        ("schÃ¶n",),
        ("itâ€™s",),
        ("a\x12b",),
        ("\ufeffx",),
    ]
    train = rows(task, texts, ["yes"] * 7)
    checks = ["empty text", "replacement character", "wrong encoding", "control character", "byte-order mark"]
    assert [found(task, check, train=train)[0].number for check in checks] == [1, 1, 2, 1, 1]
    assert found(task, "empty text", train=train)[0].rows == ("1 sentence",)
    clean = lint_task(task, {"train": train[:1]}).findings
    assert not {finding.check for finding in clean} & set(checks)


def test_prior_shift_is_a_warning_when_it_is_real_and_large(tiny: Benchmark) -> None:
    task = tiny.task("Single")
    texts = [(f"text {number}",) for number in range(400)]
    even = rows(task, texts, ["yes", "no"] * 200)
    skewed = rows(task, texts, ["yes", "yes", "yes", "no"] * 100)
    (same,) = found(task, "prior shift", train=even, test=even)
    (other,) = found(task, "prior shift", train=even, test=skewed)
    assert (same.severity, other.severity, other.number) == ("note", "warning", 0.25)
    assert "75.0 %" in other.text


def test_a_hypothesis_that_gives_the_label_away_is_found(tiny: Benchmark) -> None:
    task = tiny.task("Pairs")

    def giving_away(count: int, seed: int) -> list[Example]:
        examples = made(task, count, seed=seed, mark="")
        for example in examples:
            if example.label == "no" and Random(example.index).random() < 0.8:
                example.inputs["hypothesis"] += " never"  # type: ignore[index]
        return examples

    splits = {"train": giving_away(200, 0), "dev": giving_away(200, 1), "test": giving_away(200, 2)}
    findings = {
        finding.check: finding for finding in lint_task(task, splits).findings if finding.where == "test"
    }
    assert findings["hypothesis alone"].severity == "warning"
    assert findings["hypothesis alone"].number > 0.25
    assert findings["premise alone"].severity == "note"
    assert findings["word overlap"].severity == "note"


def test_a_shortcut_that_misleads_is_no_warning(tiny: Benchmark) -> None:
    """The word that goes with "no" in training goes with "yes" in the test: far below the majority class."""
    task = tiny.task("Pairs")

    def marked(label: str, seed: int) -> list[Example]:
        examples = made(task, 200, seed=seed, mark="")
        for example in examples:
            if example.label == label:
                example.inputs["hypothesis"] += " never"  # type: ignore[index]
        return examples

    (finding,) = found(task, "hypothesis alone", train=marked("no", 0), test=marked("yes", 1))
    assert (finding.severity, finding.advice) == ("note", "")
    assert finding.number < -0.4
    assert "no lead beyond noise (p < .001 after Holm)" in finding.text


def test_labels_of_chance_give_no_shortcut_more_often_than_holm_allows(tiny: Benchmark) -> None:
    task = tiny.task("Pairs")
    alarms = 0
    for seed in range(20):
        splits = {
            name: made(task, 150, seed=3 * seed + at, mark="") for at, name in enumerate(("train", "test"))
        }
        findings = lint_task(task, splits).findings
        alarms += any(
            f.severity == "warning" and ("alone" in f.check or "length" in f.check) for f in findings
        )
    assert alarms <= 3


def test_length_is_a_shortcut_of_single_sentences_too(tiny: Benchmark) -> None:
    task = tiny.task("Single")
    labels = [Random(number).choice(["yes", "no"]) for number in range(200)]
    texts = [(" ".join(Random(n).choices(WORDS, k=9 if labels[n] == "yes" else 4)),) for n in range(200)]
    split = rows(task, texts, labels)
    (length,) = found(task, "length of sentence", train=split, test=split)
    assert (length.severity, length.text.startswith("length of sentence answers 100.0 %")) == (
        "warning",
        True,
    )
    assert not found(task, "sentence alone", train=split, test=split)


def test_a_length_that_goes_with_the_score_is_found(tiny: Benchmark) -> None:
    task = tiny.task("Likeness")
    scores = [Random(number).uniform(0, 5) for number in range(100)]
    texts = [
        ("a text", " ".join(Random(at).choices(WORDS, k=1 + round(4 * each))))
        for at, each in enumerate(scores)
    ]
    split = rows(task, texts, scores)
    (length,) = found(task, "length of two", train=split, test=split)
    assert length.severity == "warning"
    assert length.number > 0.9


def test_hidden_labels_and_absent_splits_are_said(tiny: Benchmark) -> None:
    task = tiny.task("Single")
    test = [Example(0, {"sentence": "x"}, None)]
    texts = [(finding.where, finding.text) for finding in found(task, "not checked", test=test)]
    assert {where for where, _ in texts} == {"train", "dev", "test"}
    assert not found(task, "prior shift", test=test)


def test_reading_takes_labels_from_the_gold_folder(tiny: Benchmark, tmp_path: Path) -> None:
    for name, task in (("data", "Single"), ("gold", "")):
        (tmp_path / name / task).mkdir(parents=True)
    test = tmp_path / "data/Single/test.tsv"
    test.write_text("index\tsentence\n1\tb\n0\ta\n3\td\n2\tc\n")
    (tmp_path / "gold/Single.tsv").write_text("index\tlabel\n0\tyes\n1\tno\n2\tno\n3\tno\n")
    splits = read_splits(tmp_path / "data", tiny, tmp_path / "gold")["Single"]
    assert [(each.index, each.label) for each in splits["test"]] == [
        (1, "no"),
        (0, "yes"),
        (3, "no"),
        (2, "no"),
    ]
    assert list(splits) == ["test"]
    assert read_splits(tmp_path / "data", tiny, None)["Single"]["test"][0].label is None
    with pytest.raises(DataError, match="holds no split"):
        read_splits(tmp_path / "gold", tiny, None)
    test.write_text("index\tsentence\n1\tb\n0\ta\n3\td\n7\tc\n")
    with pytest.raises(DataError, match="no label for 1 example, the first of index 7"):
        read_splits(tmp_path / "data", tiny, tmp_path / "gold")


def test_reading_takes_prepared_data_and_their_test_labels(tiny: Benchmark, tmp_path: Path) -> None:
    import pyarrow as pa

    from gluebench.data.dataset import Origin
    from gluebench.data.prepared import prepare

    task = tiny.task("Single")
    batch = pa.RecordBatch.from_pydict({"index": [0, 1], "sentence": ["a", "b"], "label": ["yes", "no"]})
    prepare(tmp_path, tiny, task, {"test": [batch]}, origin=Origin("recipe", "here"), sized=False)
    splits = read_splits(tmp_path, tiny, None)["Single"]
    assert [example.label for example in splits["test"]] == ["yes", "no"]
    assert lint_task(task, splits).private
    assert not lint_task(task, {"test": [Example(0, {"sentence": "a"}, None)]}).private


def test_the_sample_benchmark_has_no_leak_into_its_tests(sample: Benchmark, sample_folder: Path) -> None:
    task = sample.task("RTE")
    splits = read_splits(sample_folder, sample, sample_folder / "gold")["RTE"]
    findings = lint_task(task, splits).findings
    assert not [finding for finding in findings if finding.severity == "error"]
    (alone,) = [each for each in findings if each.check == "hypothesis alone" and each.where == "test"]
    assert alone.severity == "note"


@pytest.mark.parametrize(("count", "severity", "smallest"), [(300, "warning", "5.1"), (400, "note", "4.4")])
def test_a_test_set_that_shows_nothing_below_five_points_is_warned_of(
    tiny: Benchmark, count: int, severity: str, smallest: str
) -> None:
    task = tiny.task("Single")
    (size,) = found(task, "test size", test=made(task, count, seed=0, mark=""))
    assert (size.severity, size.number, bool(size.advice)) == (severity, count, severity == "warning")
    assert f" / {smallest} / " in size.text
    assert "one point needs 3,923 / 7,847 / 15,696 rows" in size.text


def test_shared_texts_that_always_change_their_label_are_said(tiny: Benchmark) -> None:
    task = tiny.task("Pairs")
    train = rows(task, [("a", "x"), ("b", "y"), ("c", "y")], ["yes", "no", "no"])
    turned = rows(task, [("d", "x"), ("e", "y"), ("f", "z")], ["no", "yes", "yes"])
    (finding,) = found(task, "shared hypothesis", train=train, dev=turned)
    assert finding.text.endswith("other text beside it, all with another label")
    half = rows(task, [("d", "x"), ("e", "y")], ["yes", "yes"])
    (finding,) = found(task, "shared hypothesis", train=train, dev=half)
    assert finding.text.endswith("other text beside it, 1 of them with another label")


def test_texts_that_stand_once_under_each_label_are_the_structure_of_a_split(tiny: Benchmark) -> None:
    task = tiny.task("Pairs")
    texts = [(f"question {each // 2}", f"sentence {each}") for each in range(20)]
    twins = rows(task, texts, ["yes", "no"] * 10)
    (finding,) = found(task, "twins", train=twins)
    assert finding.number == 1.0
    assert finding.text.startswith("nearly every premise stands exactly once with each label (100.0 %")
    alike = rows(task, texts, ["yes"] * 10 + ["no"] * 10)
    assert found(task, "twins", train=alike) == []
    assert found(task, "twins", train=rows(task, texts, [None] * 20)) == []


@needs_real
def test_the_first_release_of_qnli_is_known_by_its_structure_and_the_second_is_not() -> None:
    task = load_benchmark("glue").task("QNLI")

    def dev(folder: str) -> list[Example]:
        lines = (REAL / "glue" / folder / "dev.tsv").read_text("utf-8").split("\n")[1:-1]
        fields = [line.split("\t") for line in lines]
        return rows(task, [(question, text) for _, question, text, _ in fields], [row[3] for row in fields])

    (finding,) = [
        each for each in lint_rows(task, {"dev": dev("QNLI-v1")[:5463]}).findings if each.check == "twins"
    ]
    assert finding.number > 0.95
    assert "as in v1, the first release of QNLI" in finding.text
    assert not [each for each in lint_rows(task, {"dev": dev("QNLI")}).findings if each.check == "twins"]
