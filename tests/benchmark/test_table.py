"""Table 1 and the details of a task as rows of text."""

from __future__ import annotations

import json
from pathlib import Path

import every_form
import pytest

from gluebench.benchmark import ManifestError, load_benchmark
from gluebench.benchmark.figures import between, interval, percent, points
from gluebench.benchmark.tables import Table
from gluebench.cli.benchmark import HEADER, details, short_size, table_notes, table_one
from gluebench.cli.common.output import plain


def test_table_1_of_glue() -> None:
    sections = table_one(load_benchmark("glue")).items()
    header = [column.title for column in Table(HEADER).columns]
    rows = [row for section, of_section in sections for row in ([section], *of_section)]
    assert [" | ".join(row) for row in (header, *rows)] == [
        "Corpus | Train | Test | Task | Metrics | Domain",
        "Single-Sentence Tasks",
        "CoLA | 8.6k | 1.1k* | acceptability | Matthews corr. | misc.",
        "SST-2 | 67k | 1.8k | sentiment | acc. | movie reviews",
        "Similarity and Paraphrase Tasks",
        "MRPC | 3.7k | 1.7k | paraphrase | acc./F1 | news",
        "STS-B | 5.7k | 1.4k | sentence similarity | Pearson/Spearman corr. | misc.",
        "QQP | 364k | 391k* | paraphrase | acc./F1 | social QA questions",
        "Inference Tasks",
        "MNLI | 393k | 20k* | NLI | matched acc./mismatched acc. | misc.",
        "QNLI | 105k | 5.5k | QA/NLI | acc. | Wikipedia",
        "RTE | 2.5k | 3k | NLI | acc. | news, Wikipedia",
        "WNLI | 635 | 146* | coreference/NLI | acc. | fiction books",
        "Diagnostic Set",
        "AX |  | 1.1k | NLI | R3 | news, Reddit, Wikipedia, academic papers",
    ]


@pytest.mark.parametrize(
    ("size", "printed"),
    [
        *((1, "1"), (634, "634"), (999, "999"), (1000, "1k"), (1063, "1.1k"), (3000, "3k"), (9949, "9.9k")),
        *(
            (9950, "10k"),
            (9999, "10k"),
            (19643, "20k"),
            (67349, "67k"),
            (363846, "364k"),
            (2_000_000, "2000k"),
        ),
    ],
)
def test_sizes_as_the_paper_prints_them(size: int, printed: str) -> None:
    assert short_size(size) == printed


def test_the_notes_explain_the_marks() -> None:
    notes = table_notes(load_benchmark("glue"))
    assert notes[:2] == [
        "* The test labels are private.",
        "AX is reported, not averaged, answered by the model for MNLI.",
    ]
    assert len(notes) == 2 + len(load_benchmark("glue").notes)


def test_a_bare_benchmark_has_a_table_without_sections_marks_or_notes(tmp_path: Path) -> None:
    path = tmp_path / "bare.toml"
    path.write_text(
        '[benchmark]\nname = "bare"\n[tasks.A]\nscore_range = [0, 1]\n'
        'metrics = [{ name = "pearson" }]\nsplits.test.size = 12\n'
    )
    bare = load_benchmark(path)
    assert table_one(bare) == {"": [["A", "", "12", "", "pearson", ""]]}
    assert table_notes(bare) == []
    assert [row[0] for row in details(bare, bare.task("A"))] == [
        *("Task", "Benchmark", "Scores", "Metrics", "Counts in the average", "Split"),
        *("Submission file", "Corpus", "License"),
    ]


def told(task: str) -> dict[str, list[str]]:
    glue = load_benchmark("glue")
    rows = details(glue, glue.task(task))
    assert all(len(row) == 2 and row[1] for row in rows)
    return {what: [value for key, value in rows if key == what] for what, _ in rows}


def test_details_of_a_classification_task() -> None:
    wnli = told("WNLI")
    assert wnli["Label"] == [
        "0 = not entailed (also read: not_entailment)",
        "1 = entailed (also read: entailment)",
    ]
    assert wnli["Test labels"] == ["private"]
    assert told("SST-2")["Test labels"] == ["public"]
    assert wnli["Split"][0] == "train: train.tsv, 635 examples"
    assert wnli["Submission file"] == ["WNLI.tsv, predictions for test or dev"]
    assert wnli["Reference"][0] == "Majority class: acc. 65.1 (Wang et al. 2019, section 6)"
    assert "Winograd Schema Challenge" in wnli["Citation"][0]


def test_details_of_a_task_of_two_files() -> None:
    assert told("MNLI")["Metrics"] == [
        "matched_accuracy (matched acc.) on MNLI-m; mismatched_accuracy (mismatched acc.) on MNLI-mm"
    ]
    assert told("MNLI")["Submission file"] == [
        "MNLI-m.tsv, predictions for test_matched or dev_matched",
        "MNLI-mm.tsv, predictions for test_mismatched or dev_mismatched",
    ]


def test_details_of_regression_f1_and_other_versions() -> None:
    assert told("STS-B")["Scores"] == ["a number from 0 to 5"]
    assert told("MRPC")["Metrics"] == ["accuracy (acc.); f1 (F1) of 1"]
    assert told("QNLI")["Other version"][0].startswith("v1 (test 5,740, dev 5,732): ")


def test_details_of_the_diagnostic_set() -> None:
    ax = told("AX")
    assert ax["Predicted with"] == ["the model for MNLI"]
    assert [line.partition(":")[0] for line in ax["Phenomena"]] == list(
        load_benchmark("glue").task("AX").coarse()
    )
    assert ax["Broken down by"] == ["direction, domain"]
    assert ax["Submission file"] == ["AX.tsv, predictions for test; also read: diagnostic.tsv"]


def test_the_details_of_other_forms(tmp_path: Path) -> None:
    every_form.write(tmp_path / "forms", "forms")
    benchmark = load_benchmark(tmp_path / "forms" / "forms.toml")
    certainty = details(benchmark, benchmark.task("Certainty"))
    assert [what for what, _ in certainty].count("Labels") == 1
    rows = dict(certainty)
    assert (rows["Answers"], rows["Labels"]) == ("probabilities", "no, yes")
    assert rows["Counts in the average"] == "yes, with the weight 2"
    humor = dict(details(benchmark, benchmark.task("Humor")))
    assert humor["Submission file"] == "answers.csv, column is_humor, predictions for test"


def test_json_lists_ids_that_a_pattern_numbers(tmp_path: Path) -> None:
    every_form.write(tmp_path / "forms", "forms")
    benchmark = load_benchmark(tmp_path / "forms" / "forms.toml")
    document = json.loads(json.dumps(plain(benchmark)))
    emotions = next(task for task in document["tasks"] if task["name"] == "Emotions")
    ids = emotions["splits"]["test"]["ids"]
    assert (ids[0], ids[-1], len(ids)) == ("em_000", "em_039", 40)


def test_the_heading_of_a_loss_and_its_reference(tmp_path: Path) -> None:
    every_form.write(tmp_path / "losses", "losses")
    benchmark = load_benchmark(tmp_path / "losses" / "losses.toml")
    assert [metric.title for task in benchmark.tasks for metric in task.metrics] == ["RMSE ↓", "JS ↓", "CE ↓"]
    rows = dict(details(benchmark, benchmark.task("Rating")))
    assert rows["Reference"] == "People: RMSE ↓ 0.250 (us)"
    assert benchmark.loss


@pytest.mark.parametrize(
    ("value", "loss", "shown", "difference"),
    [
        (None, True, "-", "-"),
        (-0.5314, True, "0.531", "-0.531"),
        (0.0, True, "0.000", "0.000"),
        (-1e-9, True, "0.000", "0.000"),
        (0.5314, False, "53.1", "53.1"),
        (-0.0001, None, "0.0", "0.0"),
    ],
)
def test_a_figure_is_printed_as_a_percentage_or_a_loss(
    value: float | None, loss: bool | None, shown: str, difference: str
) -> None:
    assert (percent(value, loss), points(value, loss)) == (shown, difference)


def test_the_interval_of_a_loss_is_turned_and_that_of_a_difference_is_not() -> None:
    assert interval(-0.6, -0.4, True) == " [0.400, 0.600]"
    assert between(-0.6, 0.4, True) == " [-0.600, 0.400]"
    assert interval(0.4, 0.6) == between(0.4, 0.6) == " [40.0, 60.0]"


def test_losses_and_shares_are_not_averaged(tmp_path: Path) -> None:
    text = every_form.FORMS.replace(", scale = [-5.0, 0.0]", "")
    (tmp_path / "mixed.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError) as error:
        load_benchmark(tmp_path / "mixed.toml")
    message = str(error.value)
    assert "average losses (Offense neg_mae) with scores from 0 to 1 (Emotions, Certainty," in message
    assert "weight = 0" in message
    assert len(message.splitlines()) == 1
    beside = text.replace("[tasks.Offense]", "[tasks.Offense]\nscored = false")
    (tmp_path / "beside.toml").write_text(beside, encoding="utf-8")
    assert load_benchmark(tmp_path / "beside.toml").task("Offense").loss
