"""Metrics on the scale of a manifest, and averages with its weights, against plain arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gluebench import compare, grade, grade_runs, rank
from gluebench.benchmark import Benchmark, ManifestError, load_benchmark
from gluebench.benchmark.lookup import file_name
from gluebench.data import DataError

MANIFEST = """
[benchmark]
name = "mixed"

[tasks.Rating]
score_range = [0.0, 5.0]
weight = 3
metrics = [{ name = "rating", function = "neg_rmse", scale = [-5.0, 0.0] }]
splits.test.size = 300

[tasks."Opinión política"]
labels = ["left", "right", "none"]
metrics = [{ name = "above chance", function = "accuracy", scale = [0.25, 1.0] }, { name = "macro_recall" }]
splits.test.size = 300
"""


@pytest.fixture(scope="module")
def benchmark(tmp_path_factory: pytest.TempPathFactory) -> Benchmark:
    return load_benchmark(
        manifest(tmp_path_factory.mktemp("mixed"), MANIFEST.replace("above chance", "above"))
    )


@pytest.fixture(scope="module")
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def manifest(folder: Path, text: str) -> Path:
    (folder / "mixed.toml").write_text(text)
    return folder / "mixed.toml"


def answers(rng: np.random.Generator, noise: float, gold: dict[str, list]) -> dict[str, list]:
    words = rng.choice(["left", "right", "none"], 300)
    keep = rng.random(300) > noise
    return {
        "Rating": (np.array(gold["Rating"]) + rng.normal(0, noise, 300)).tolist(),
        "Opinión política": np.where(keep, gold["Opinión política"], words).tolist(),
    }


@pytest.fixture(scope="module")
def gold(rng: np.random.Generator) -> dict[str, list]:
    return {
        "Rating": rng.uniform(0, 5, 300).tolist(),
        "Opinión política": rng.choice(["left", "right", "none"], 300).tolist(),
    }


def expected(gold: dict[str, list], given: dict[str, list]) -> tuple[float, float, float]:
    errors = np.subtract(gold["Rating"], given["Rating"])
    truth, predicted = (np.array(values["Opinión política"]) for values in (gold, given))
    right = truth == predicted
    recalls = [right[truth == word].mean() for word in ("left", "right", "none")]
    return 1 - (errors**2).mean() ** 0.5 / 5, (right.mean() - 0.25) / 0.75, float(np.mean(recalls))


def test_scores_are_scaled_and_weighted(benchmark: Benchmark, gold: dict, rng: np.random.Generator) -> None:
    given = answers(rng, 0.4, gold)
    rating, above, recall = expected(gold, given)
    report = grade(given, gold, benchmark=benchmark)
    opinion = report.tasks["Opinión política"]
    assert report.tasks["Rating"].score.value == pytest.approx(rating, abs=1e-12)
    assert opinion.metrics["above"].value == pytest.approx(above, abs=1e-12)
    assert report.score.value == pytest.approx((3 * rating + (above + recall) / 2) / 4, abs=1e-12)
    for score in (report.score, report.tasks["Rating"].score, opinion.metrics["above"]):
        assert score.low < score.value < score.high


def test_differences_and_ranks_have_the_weights(
    benchmark: Benchmark, gold: dict, rng: np.random.Generator
) -> None:
    systems = [answers(rng, noise, gold) for noise in (0.3, 0.6)]
    scores = [expected(gold, system) for system in systems]
    averages = [(3 * rating + (above + recall) / 2) / 4 for rating, above, recall in scores]
    difference = compare(*systems, gold, benchmark=benchmark, resamples=200).overall
    assert (difference.a, difference.b) == pytest.approx(tuple(averages), abs=1e-12)
    ranking = rank(dict(zip("ab", systems, strict=True)), gold, benchmark=benchmark)
    assert [system.name for system in ranking.systems] == ["a", "b"]
    assert [system.value for system in ranking.systems] == pytest.approx(averages, abs=1e-12)


@pytest.mark.parametrize(
    ("there", "instead", "message"),
    [
        ("[-5.0, 0.0]", "[0.0, -5.0]", "the worse value first"),
        ("[-5.0, 0.0]", "[1.0, 1.0]", "expected two finite numbers"),
        ('"neg_rmse"', '"pearson"', "is not for pearson"),
        ("weight = 3", "weight = -1", "expected 0, which leaves the task out of the average, or a positive"),
        (", scale = [-5.0, 0.0]", "", "weight = 0"),
        ('"Opinión política"', '"a/b"', "is not a name for a task"),
    ],
)
def test_what_cannot_be_is_said(tmp_path: Path, there: str, instead: str, message: str) -> None:
    text = MANIFEST.replace("above chance", "above").replace(there, instead)
    with pytest.raises(ManifestError, match=message):
        load_benchmark(manifest(tmp_path, text))


def test_a_task_of_weight_0_is_scored_and_does_not_count(
    tmp_path: Path, gold: dict, rng: np.random.Generator
) -> None:
    """A loss and shares side by side: the score, the average difference and the ranking are the loss's."""
    text = (
        MANIFEST.replace("above chance", "above")
        .replace(", scale = [-5.0, 0.0]", "")
        .replace("weight = 3\n", "")
    )
    path = manifest(tmp_path, text.replace('labels = ["', 'weight = 0\nlabels = ["'))
    systems = {name: answers(rng, noise, gold) for name, noise in (("a", 0.3), ("b", 0.6))}
    losses = {name: -(5 - 5 * expected(gold, given)[0]) for name, given in systems.items()}
    opinions = {name: sum(expected(gold, given)[1:]) / 2 for name, given in systems.items()}
    report = grade(systems["a"], gold, benchmark=path)
    assert report.score == report.tasks["Rating"].score._replace(n=1)
    assert report.score.value == pytest.approx(losses["a"])
    assert report.tasks["Opinión política"].score.value == pytest.approx(opinions["a"])
    alone = grade({"Rating": systems["a"]["Rating"]}, gold, benchmark=path)
    assert alone.complete
    assert alone.score == report.score

    comparison = compare(*systems.values(), gold, benchmark=path, resamples=200)
    assert comparison.over == ("Rating",)
    assert comparison.overall.difference == pytest.approx(losses["a"] - losses["b"])
    assert {*comparison.tasks} == {"Rating", "Opinión política"}
    assert "On average over the tasks that count, Rating, A is better" in comparison.conclusion

    ranked = rank(systems, gold, benchmark=path)
    assert (ranked.tasks, ranked.weights, ranked.loss) == (("Rating",), None, True)
    other = {"Rating": 0, "Opinión política": 1}
    shares = rank(systems, gold, benchmark=path, weights=other)
    assert [system.value for system in shares.systems] == pytest.approx([*opinions.values()])
    with pytest.raises(DataError, match="Rating: losses cannot be ranked together with scores"):
        rank(systems, gold, benchmark=path, weights={"Opinión política": 1})


def test_a_chart_of_a_loss_is_of_losses_alone(tmp_path: Path, gold: dict, rng: np.random.Generator) -> None:
    """The loss itself, with its ends in order; shares have another scale, and the title says so."""
    text = MANIFEST.replace("above chance", "above").replace(", scale = [-5.0, 0.0]", "")
    path = manifest(tmp_path, text.replace('labels = ["', 'weight = 0\nlabels = ["'))
    systems = [answers(rng, noise, gold) for noise in (0.3, 0.6)]
    report = grade(systems[0], gold, benchmark=path)
    summary = grade_runs(systems, gold, benchmark=path)[1]
    comparison = compare(*systems, gold, benchmark=path, resamples=200)
    score, mean, difference = report.score, summary.score, comparison.overall
    for result, sign, number in (
        (report, -1, (score.value, score.low, score.high)),
        (summary, -1, (mean.mean, mean.low, mean.high)),
        (comparison, 1, (difference.difference, difference.low, difference.high)),
    ):
        axes = result.plot()
        lines = {line.get_label(): sorted(line.get_xdata()) for line in axes.lines}
        assert "Opinión política" not in lines
        assert lines["Rating"] == pytest.approx([sign * number[0]])
        assert lines["Rating interval"] == pytest.approx(sorted(sign * end for end in number[1:]))
        assert "without Opinión política, on another scale" in axes.get_title(loc="left").replace("\n", " ")
        assert (
            "loss ↓, lower is better" if sign < 0 else "in losses, above 0 is better"
        ) in axes.get_xlabel()
        axes.figure.clear()


def test_a_benchmark_has_a_task_that_counts(tmp_path: Path) -> None:
    text = MANIFEST.replace("above chance", "above").replace("weight = 3", "weight = 0")
    with pytest.raises(ManifestError, match="none counts in the score"):
        load_benchmark(manifest(tmp_path, text.replace('labels = ["', 'weight = 0\nlabels = ["')))


def test_a_task_of_weight_0_has_metrics_of_one_kind(tmp_path: Path) -> None:
    text = MANIFEST.replace("above chance", "above").replace("weight = 3", "weight = 0")
    text = text.replace('{ name = "rating"', '{ name = "neg_mae" }, { name = "rating"')
    with pytest.raises(ManifestError, match=r"tasks.Rating.metrics: are losses and others"):
        load_benchmark(manifest(tmp_path, text))


def test_file_names_are_made_of_ascii_letters() -> None:
    assert file_name("Opinión política") == "Opinion-politica"
    assert file_name("SST-2") == "SST-2"
    assert file_name("情感").startswith("file-")
    assert file_name("情感") != file_name("推理")
