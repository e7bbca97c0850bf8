"""Commands on a benchmark with every form of answers, on one of losses, and on one of losses and shares."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import every_form
import pytest
from click.testing import CliRunner, Result

from gluebench.cli import main


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forms")
    for name in ("forms", "losses", "mixed"):
        every_form.write(folder / name, name)
    return folder


def run(home: Path, benchmark: str, *words: str) -> Result:
    """The command on files below the benchmark's folder, which arguments with a slash name."""
    folder = home / benchmark
    paths = [str(folder / word) if "/" in word else word for word in words]
    manifest = str(folder / f"{benchmark}.toml")
    return CliRunner().invoke(main, [*paths, "--benchmark", manifest], catch_exceptions=False)


def rmse(home: Path) -> float:
    """The error of the best submission, from its files."""
    folder = home / "losses"
    gold, answers = (
        [float(line.split("\t")[1]) for line in (folder / path).read_text().splitlines()[1:]]
        for path in ("gold/Rating.tsv", "runs/2/Rating.tsv")
    )
    squares = [(one - other) ** 2 for one, other in zip(gold, answers, strict=True)]
    return math.sqrt(sum(squares) / len(squares))


def test_a_loss_is_shown_as_it_is_and_stored_negated(home: Path) -> None:
    loss = rmse(home)
    text = run(home, "losses", "grade", "runs/2", "--gold", "gold/").output
    assert f"RMSE ↓        {loss:.3f} [" in text
    assert "macro-average ↓" in text
    assert "task score ↓" in text
    report = json.loads(run(home, "losses", "grade", "runs/2", "--gold", "gold/", "--json").output)
    score = report["tasks"]["Rating"]["metrics"]["neg_rmse"]
    assert score["value"] == pytest.approx(-loss)
    assert score["loss"] is True
    low, high = text.split(f"{loss:.3f} [")[1].split("]")[0].split(", ")
    assert (float(low), float(high)) == pytest.approx((-score["high"], -score["low"]), abs=5e-4)
    rows = csv.DictReader(
        io.StringIO(run(home, "losses", "grade", "runs/2", "--gold", "gold/", "--csv").output)
    )
    assert float(next(rows)["value"]) == pytest.approx(-loss)


def test_the_better_run_has_the_lower_loss(home: Path) -> None:
    text = run(home, "losses", "grade", "runs/0", "runs/1", "runs/2", "--gold", "gold/").output
    (line,) = (line for line in text.splitlines() if "JS ↓" in line)
    mean, best = line.split("[")[0].split()[-1], line.split()[-2]
    assert 0 < float(best) < float(mean)
    assert "[0.000, " in line, "no interval of a loss ends below 0"


def test_a_difference_of_losses_is_above_0_where_a_is_better(home: Path) -> None:
    text = run(home, "losses", "compare", "runs/2", "runs/0", "--gold", "gold/", "--details").output
    line = next(line for line in text.splitlines() if line.startswith("average ↓"))
    a, b, difference = map(float, line.split("[")[0].split()[-3:])
    assert difference == pytest.approx(b - a, abs=1e-3)
    assert difference > 0
    assert "runs/2 is better by" in text
    assert "points" not in text
    assert "the mean of JS and CE" in text


def test_equivalence_is_in_units_of_the_loss(home: Path) -> None:
    words = ("compare", "runs/2", "runs/1", "--gold", "gold/", "--equivalence", "2")
    assert "same within 2.000" in run(home, "losses", *words).output
    assert "same within 2.0\n" in run(home, "forms", *words).output


def test_a_ranking_by_losses(home: Path) -> None:
    text = run(home, "losses", "rank", "runs/0", "runs/1", "runs/2", "--gold", "gold/", "--matrix").output
    assert "macro-average ↓" in text
    losses = [float(line.split()[-1]) for line in text.splitlines()[3:6]]
    assert losses == sorted(losses)
    assert min(losses) > 0


def test_losses_beside_shares(home: Path) -> None:
    """Each task has its own scores; the first counts, and no rule ranks both together."""
    text = run(home, "mixed", "grade", "runs/2", "--gold", "gold/").output
    (average,) = (line for line in text.splitlines() if line.startswith("macro-average ↓  of Rating"))
    (loss,) = (line for line in text.splitlines() if "RMSE ↓" in line)
    assert average.split()[-3:] == loss.split()[-4:-1]
    assert "task score" in text
    words = ("rank", "runs/0", "runs/1", "runs/2", "--gold", "gold/")
    assert "test split: Rating by macro-average\n" in run(home, "mixed", *words).output
    by_other = run(home, "mixed", *words, "--weights", "Humor=1", "--weights", "Rating=0").output
    assert "test split: Humor by macro-average\n" in by_other
    both = run(home, "mixed", *words, "--weights", "Humor=1")
    assert both.exit_code == 1
    assert "Rating: losses cannot be ranked together with scores; expected the weight 0" in both.output


@pytest.mark.parametrize("name", ["forms", "losses", "mixed"])
@pytest.mark.parametrize("words", [("runs/2",), ("runs/0", "runs/1", "runs/2")])
def test_a_plot_of_every_form_is_drawn(home: Path, name: str, words: tuple[str, ...], tmp_path: Path) -> None:
    plot = tmp_path / "plot.svg"
    assert run(home, name, "grade", *words, "--gold", "gold/", "--plot", str(plot)).exit_code == 0
    assert plot.read_bytes().startswith(b"<?xml")


def test_a_set_of_sets_is_diagnosed(home: Path) -> None:
    done = run(home, "forms", "diagnose", "runs/2", "runs/0", "--gold", "gold/")
    assert done.exit_code == 0
    assert "ironía" in done.output


def test_errors_of_every_form_that_is_right_or_wrong(home: Path) -> None:
    words = ("errors", "runs/2", "--gold", "gold/", "--data", "data/", "--json")
    files = json.loads(run(home, "forms", *words).output)["files"]
    wrong = {name: file["rates"][0]["systems"]["2"]["wrong"] for name, file in files.items()}
    assert set(wrong) == {*every_form.TASKS["forms"]} - {"Retrieval", "Causes"}
    folder = home / "forms"
    for name in ("Emotions", "Names", "Places"):
        gold, answers = (
            (folder / part / f"{name}.tsv").read_text().splitlines()[1:] for part in ("gold", "runs/2")
        )
        assert wrong[name] == sum(one != other for one, other in zip(gold, answers, strict=True))
    assert wrong["Certainty"] == sum(
        (line.split()[1] > line.split()[2]) != (gold.endswith("no"))
        for gold, line in zip(
            (folder / "gold/Certainty.tsv").read_text().splitlines()[1:],
            (folder / "runs/2/Certainty.tsv").read_text().splitlines()[1:],
            strict=True,
        )
    )
    refused = run(home, "forms", *words, "--task", "Retrieval")
    assert refused.exit_code == 1
    assert "neither right nor wrong" in refused.output


def test_data_of_every_form_are_read_and_linted(home: Path) -> None:
    manifest = str(home / "forms" / "forms.toml")
    data, gold = (str(home / "forms" / name) for name in ("data", "gold"))
    for words in (
        ("data", "stats", manifest, "--data", data),
        ("data", "verify", manifest, "--data", data),
        ("data", "show", "Emotions", "--split", "train", "--benchmark", manifest, "--data", data),
        ("benchmark", "lint", manifest, "--data", data, "--gold", gold),
        ("benchmark", "show", manifest, "--task", "Opinión política"),
    ):
        done = CliRunner().invoke(main, words, catch_exceptions=False)
        assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    "words",
    [
        ("run", "system:majority", "--data", "data/", "--out", "out/x.zip"),
        ("probe", "cbow", "--data", "data/"),
        ("train", "--data", "data/", "--out", "out/x"),
    ],
)
def test_systems_say_that_they_answer_labels_and_numbers(home: Path, words: tuple[str, ...]) -> None:
    done = run(home, "forms", *words)
    assert done.exit_code == 1
    assert "systems answer with labels and numbers, not Emotions (sets)" in done.output


def test_an_audit_without_labels_says_so(home: Path) -> None:
    done = run(home, "losses", "audit", "--data", "data/")
    assert done.exit_code == 1
    assert "no task of losses with a train split has one or two texts and a label" in done.output


def test_missing_files_are_called_as_the_benchmark_calls_them(tmp_path: Path) -> None:
    file = tmp_path / "COPA.jsonl"
    file.write_text("".join(f'{{"idx": {at}, "label": {at % 2}}}\n' for at in range(500)))
    done = CliRunner().invoke(main, ["check", str(file), "--benchmark", "superglue"])
    assert "There is no macro-average without BoolQ.jsonl, CB.jsonl, MultiRC.jsonl," in done.output
