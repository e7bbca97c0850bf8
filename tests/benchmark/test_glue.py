"""glue.toml against the paper, and against the real files where they are at hand."""

from __future__ import annotations

import os
import statistics
from pathlib import Path

import pytest

from gluebench.benchmark import Benchmark, Task, installed, load_benchmark

REAL = Path(
    os.environ.get("GLUEBENCH_REAL") or Path(__file__).resolve().parents[2].parent / "shared" / "real"
)
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the real GLUE files are not in ../shared/real")

TABLE_1 = {
    "CoLA": ("8.5k", "1k", "acceptability", "Matthews corr.", "misc."),
    "SST-2": ("67k", "1.8k", "sentiment", "acc.", "movie reviews"),
    "MRPC": ("3.7k", "1.7k", "paraphrase", "acc./F1", "news"),
    "STS-B": ("7k", "1.4k", "sentence similarity", "Pearson/Spearman corr.", "misc."),
    "QQP": ("364k", "391k", "paraphrase", "acc./F1", "social QA questions"),
    "MNLI": ("393k", "20k", "NLI", "matched acc./mismatched acc.", "misc."),
    "QNLI": ("105k", "5.4k", "QA/NLI", "acc.", "Wikipedia"),
    "RTE": ("2.5k", "3k", "NLI", "acc.", "news, Wikipedia"),
    "WNLI": ("634", "146", "coreference/NLI", "acc.", "fiction books"),
}
TABLE_2 = {
    "Lexical Semantics": [
        *("Lexical Entailment", "Morphological Negation", "Factivity", "Symmetry/Collectivity"),
        *("Redundancy", "Named Entities", "Quantifiers"),
    ],
    "Predicate-Argument Structure": [
        *("Core Arguments", "Prepositional Phrases", "Ellipsis/Implicits", "Anaphora/Coreference"),
        *("Active/Passive", "Nominalization", "Genitives/Partitives", "Datives", "Relative Clauses"),
        *("Coordination Scope", "Intersectivity", "Restrictivity"),
    ],
    "Logic": [
        *("Negation", "Double Negation", "Intervals/Numbers", "Conjunction", "Disjunction", "Conditionals"),
        *("Universal", "Existential", "Temporal", "Upward Monotone", "Downward Monotone", "Non-Monotone"),
    ],
    "Knowledge": ["Common Sense", "World Knowledge"],
}
SUBMISSION_SIZES = {
    "AX": 1104, "CoLA": 1063, "MNLI-m": 9796, "MNLI-mm": 9847, "MRPC": 1725, "QNLI": 5463,
    "QQP": 390965, "RTE": 3000, "SST-2": 1821, "STS-B": 1379, "WNLI": 146,
}  # fmt: skip


@pytest.fixture(scope="module")
def glue() -> Benchmark:
    return load_benchmark("glue")


def printed(size: str) -> tuple[float, float]:
    """A size as Table 1 prints it, and the worth of one in its last digit."""
    number, _, rest = size.partition("k")
    scale = 1000 if size.endswith("k") else 1
    assert not rest
    return float(number) * scale, scale * 10 ** -len(number.partition(".")[2])


def close_to(size: int, table: str) -> bool:
    """The paper rounds some sizes up and some down, so it is within one of its last digit."""
    value, unit = printed(table)
    return abs(size - value) <= unit


def size_of(task: Task, start: str) -> int:
    return sum(split.size for name, split in task.splits.items() if name.startswith(start))


def test_the_nine_tasks_and_ax_stand_in_the_order_of_table_1(glue: Benchmark) -> None:
    assert [task.name for task in glue.tasks] == [*TABLE_1, "AX"]
    assert [task.name for task in glue.scored] == list(TABLE_1)
    assert [task.name for task in glue.diagnostics] == ["AX"]


@pytest.mark.parametrize("name", TABLE_1)
def test_a_task_is_as_in_table_1(glue: Benchmark, name: str) -> None:
    task = glue.task(name)
    train, test, summary, metrics, domain = TABLE_1[name]
    assert (task.summary, task.domain) == (summary, domain)
    assert "/".join(metric.title for metric in task.metrics) == metrics
    assert close_to(size_of(task, "test"), test)
    if name != "STS-B":
        assert close_to(size_of(task, "train"), train)


def test_table_1_counts_the_dev_pairs_of_sts_b_as_training_pairs(glue: Benchmark) -> None:
    task = glue.task("STS-B")
    assert not close_to(size_of(task, "train"), "7k")
    assert close_to(size_of(task, "train") + size_of(task, "dev"), "7k")
    assert any("7,249" in note for note in task.notes)


def test_sections_are_those_of_table_1(glue: Benchmark) -> None:
    assert list(dict.fromkeys(task.section for task in glue.scored)) == [
        "Single-Sentence Tasks",
        "Similarity and Paraphrase Tasks",
        "Inference Tasks",
    ]
    assert {task.name for task in glue.scored if task.section == "Inference Tasks"} == {
        "MNLI",
        "QNLI",
        "RTE",
        "WNLI",
    }


def test_the_phenomena_are_those_of_table_2(glue: Benchmark) -> None:
    ax = glue.task("AX")
    found = {coarse: [each.name for each in ax.phenomena if each.coarse == coarse] for coarse in ax.coarse()}
    assert found == TABLE_2
    assert list(found) == list(TABLE_2)
    assert len(ax.phenomena) == 33


def test_only_four_tests_are_private(glue: Benchmark) -> None:
    assert {task.name for task in glue.tasks if task.private} == {"CoLA", "QQP", "MNLI", "WNLI"}
    assert not [task.name for task in glue.tasks if task.private is None], "GLUE says it of every task"


def test_the_submission_files_are_the_eleven_of_the_original_site(glue: Benchmark) -> None:
    assert {file.name: file.size() for file in glue.files()} == SUBMISSION_SIZES
    assert len(list(glue.files("dev"))) == 10
    assert {file.name: file.size("dev") for file in glue.task("MNLI").files} == {
        "MNLI-m": 9815,
        "MNLI-mm": 9832,
    }


def test_labels_are_the_words_of_the_files(glue: Benchmark) -> None:
    three = ("entailment", "neutral", "contradiction")
    two = ("entailment", "not_entailment")
    words = {task.name: task.words for task in glue.tasks}
    assert words == {
        "CoLA": ("0", "1"), "SST-2": ("0", "1"), "MRPC": ("0", "1"), "STS-B": (), "QQP": ("0", "1"),
        "MNLI": three, "QNLI": two, "RTE": two, "WNLI": ("0", "1"), "AX": three,
    }  # fmt: skip
    assert glue.task("CoLA").labels[0].gloss == "unacceptable"
    assert {label.word: label.synonyms for label in glue.task("WNLI").labels} == {
        "0": ("not_entailment",),
        "1": ("entailment",),
    }


def test_metrics_carry_the_names_of_the_report(glue: Benchmark) -> None:
    assert {task.name: [metric.name for metric in task.metrics] for task in glue.tasks} == {
        "CoLA": ["matthews_correlation"],
        "SST-2": ["accuracy"],
        "MRPC": ["accuracy", "f1"],
        "STS-B": ["pearson", "spearman"],
        "QQP": ["accuracy", "f1"],
        "MNLI": ["matched_accuracy", "mismatched_accuracy"],
        "QNLI": ["accuracy"],
        "RTE": ["accuracy"],
        "WNLI": ["accuracy"],
        "AX": ["r_k"],
    }
    assert [(metric.function, metric.file) for metric in glue.task("MNLI").metrics] == [
        ("accuracy", "MNLI-m"),
        ("accuracy", "MNLI-mm"),
    ]
    assert {m.positive for task in glue.tasks for m in task.metrics if m.function == "f1"} == {"1"}


def test_ax_is_answered_by_the_mnli_model_and_broken_down(glue: Benchmark) -> None:
    ax = glue.task("ax")
    assert (ax.scored, ax.predict_with, ax.metadata) == (False, "MNLI", ("direction", "domain"))
    assert ax.words == glue.task("MNLI").words
    assert ax.file("AX").synonyms == ("diagnostic",)
    assert ax.splits["test"].file == "diagnostic.tsv"


def test_sts_b_runs_from_0_to_5_and_says_what_the_paper_says(glue: Benchmark) -> None:
    task = glue.task("STS-B")
    assert task.score_range == (0.0, 5.0)
    assert any("1 to 5" in note for note in task.notes)


def test_qnli_v1_can_be_told_by_its_sizes(glue: Benchmark) -> None:
    (version,) = glue.task("QNLI").file("QNLI").other_versions
    assert (version.name, dict(version.sizes)) == ("v1", {"test": 5740, "dev": 5732})


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("sst2", "SST-2"),
        ("sst", "SST-2"),
        ("Quora", "QQP"),
        ("stsb", "STS-B"),
        ("cola", "CoLA"),
        ("diagnostic", "AX"),
    ],
)
def test_aliases_name_tasks(glue: Benchmark, alias: str, name: str) -> None:
    assert glue.task(alias).name == name


def human(task: Task) -> float:
    (row,) = (reference for reference in task.references if reference.name == "Human")
    assert row.scores.keys() == {metric.name for metric in task.metrics}
    return statistics.fmean(row.scores.values())


def test_the_human_average_follows_from_the_human_rows(glue: Benchmark) -> None:
    (average,) = glue.references
    assert (average.name, average.scores) == ("Human", {"score": 0.871})
    assert statistics.fmean(map(human, glue.scored)) == pytest.approx(0.871, abs=0.0005 + 1e-9)


def test_references_of_the_paper(glue: Benchmark) -> None:
    majority = glue.task("WNLI").references[0]
    assert (majority.name, majority.scores) == ("Majority class", {"accuracy": 0.651})
    assert human(glue.task("AX")) == 0.80


def test_every_source_says_its_license_and_citation(glue: Benchmark) -> None:
    for task in glue.tasks:
        assert task.source.corpus
        assert "distribut" in task.source.license
        assert task.source.citation
        assert task.source.url.startswith("https://")
        assert task.columns
        assert task.title != task.name


def test_packaged_manifests_are_called_as_their_files() -> None:
    assert "glue" in installed()
    for name in installed():
        assert load_benchmark(name).name == name


def rows(path: Path, header: int) -> int:
    return len(path.read_bytes().rstrip(b"\n").split(b"\n")) - header


@needs_real
@pytest.mark.parametrize("name", ["CoLA", "SST-2", "MRPC", "STS-B", "QNLI", "RTE", "WNLI"])
def test_sizes_are_those_of_the_real_files(glue: Benchmark, name: str) -> None:
    for split in glue.task(name).splits.values():
        path = REAL / "glue" / name / split.file
        headless = name == "CoLA" and split.name != "test"
        if path.exists():
            assert rows(path, header=0 if headless else 1) == split.size


@needs_real
def test_sizes_of_qnli_v1_and_ax_are_those_of_the_real_files(glue: Benchmark) -> None:
    (version,) = glue.task("QNLI").file("QNLI").other_versions
    for role, size in version.sizes.items():
        assert rows(REAL / "glue" / "QNLI-v1" / f"{role}.tsv", header=1) == size
    assert rows(REAL / "glue" / "AX" / "diagnostic-full.tsv", header=1) == glue.file("AX").size()


@needs_real
@pytest.mark.parametrize("name", ["SST-2", "MRPC", "QNLI", "AX"])
def test_label_words_are_those_of_the_real_gold(glue: Benchmark, name: str) -> None:
    lines = (REAL / "gold" / f"{name}.tsv").read_text().splitlines()[1:]
    assert {line.split("\t")[1] for line in lines} == set(glue.task(name).words)
    assert len(lines) == glue.file(name).size()


@needs_real
def test_every_spelling_of_the_released_diagnostic_file_is_known(glue: Benchmark) -> None:
    known = {(each.coarse, name) for each in glue.task("AX").phenomena for name in (each.name, *each.aliases)}
    lines = (REAL / "gold" / "AX.phenomena.tsv").read_text().splitlines()[1:]
    spelled = {tuple(line.split("\t")[1:]) for line in lines}
    assert spelled <= known
    assert len(spelled) == 33


@needs_real
@pytest.mark.parametrize("system", ["bert4keras", "fastmtl"])
def test_real_submissions_have_the_files_and_words(glue: Benchmark, system: str) -> None:
    for file in glue.files():
        lines = (REAL / "submissions" / system / f"{file.name}.tsv").read_text().splitlines()[1:]
        assert len(lines) == file.size()
        task = glue.task(file.task)
        if task.labels:
            known = {word for label in task.labels for word in (label.word, *label.synonyms)}
            assert {line.split("\t")[1] for line in lines} <= known


def test_snli_is_auxiliary_training_data_for_mnli() -> None:
    glue = load_benchmark("glue")
    snli = glue.dataset("snli")
    assert snli.trains == "MNLI"
    assert snli.splits["train"].size == 549_367  # 550,152 pairs less those without a gold label
    assert snli not in glue.tasks
    assert glue.dataset("MNLI") is glue.task("MNLI")


def test_the_printed_sizes_are_those_of_table_1() -> None:
    glue = load_benchmark("glue")
    printed = {task.name: dict(task.printed.sizes) for task in glue.scored}
    assert printed["CoLA"] == {"train": "8.5k", "test": "1k"}
    assert printed["WNLI"] == {"train": "634", "test": "146"}
    assert set(glue.task("AX").printed.categories) == set(glue.task("AX").coarse())
