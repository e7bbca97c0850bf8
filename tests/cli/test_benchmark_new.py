"""`gluebench benchmark new` and `lint`, from CSV files to a graded submission and a board."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner, Result
from leaderboard.served import new_site
from outside import environment

from gluebench.benchmark import load_benchmark
from gluebench.cli import main

WORDS = ["tin", "oak", "mud", "fig", "elm", "rye", "ash", "bay", "cod", "dew"]
SIZES = {"train": 120, "dev": 30, "test": 60}


def write_csv(path: Path, header: tuple[str, ...], rows: list[tuple[object, ...]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tasks in CSV: a mood (quoted commas in its text) and the likeness of two sentences."""
    home = tmp_path_factory.mktemp("source")
    rng = Random(4)
    for split, size in SIZES.items():
        texts = [f"{split} {n}, {' '.join(rng.choices(WORDS, k=5))}" for n in range(2 * size)]
        moods = [rng.choice(["glad", "sad", "glad"]) for _ in range(size)]
        mood_rows = list(zip(range(size), texts[:size], moods, strict=True))
        write_csv(home / f"Mood/{split}.csv", ("id", "text", "mood"), mood_rows)
        scores = [round(rng.uniform(0, 5), 1) for _ in range(size)]
        header = ("one", "two", "score")
        rows = list(zip(texts[:size], texts[size:], scores, strict=True))
        write_csv(home / f"Like/{split}.csv", header, rows)
    return home


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words], prog_name="gluebench")


def new(source: Path, target: Path, *options: object) -> Result:
    return run("benchmark", "new", "tiny", "--from", source, "--to", target, "--label", "Mood=mood", *options)


@pytest.fixture(scope="module")
def made(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The benchmark as it was made; to read, not to change."""
    target = tmp_path_factory.mktemp("made") / "tiny"
    result = new(source, target)
    assert result.exit_code == 0, result.output
    return target


def test_what_was_found_is_shown_and_written(source: Path, tmp_path: Path) -> None:
    result = new(source, tmp_path / "made", "--license", "Like=CC0", "--title", "A tiny one")
    assert result.exit_code == 0, result.output
    for words in (
        "CSV, cells between commas",
        "accuracy, f1 of sad",
        "pearson, spearman",
        "0 to 5",
        "told",
        "detected",
    ):
        assert words in result.stdout
    benchmark = load_benchmark(tmp_path / "made/tiny.toml")
    assert benchmark.title == "A tiny one"
    assert [(task.name, task.source.license) for task in benchmark.tasks] == [
        ("Like", "CC0"),
        ("Mood", "not stated"),
    ]
    assert all(task.private for task in benchmark.tasks), "its test labels are in the gold folder alone"
    assert {name: split.size for name, split in benchmark.task("Mood").splits.items()} == SIZES
    assert "The license was not stated." in benchmark.task("Mood").notes
    assert sum(label.share or 0 for label in benchmark.task("Mood").labels) == pytest.approx(1)
    assert benchmark.task("Like").score_range == (0.0, 5.0)


def test_labels_of_the_test_split_stand_in_private_places_alone(made: Path, source: Path) -> None:
    assert (made / "data/Mood/test.tsv").read_text().startswith("index\ttext\n")
    assert (made / "data/Mood/dev.tsv").read_text().startswith("index\ttext\tlabel\n")
    for private in ("gold", "gold-dev", "lint.md", "organize.json"):
        assert (made / private).stat().st_mode & 0o077 == 0
    assert "as private as the gold" in (made / "lint.md").read_text()
    moods = [row["mood"] for row in csv.DictReader((source / "Mood/test.csv").open())]
    lines = (made / "gold/Mood.tsv").read_text().splitlines()
    assert lines == ["index\tlabel", *(f"{index}\t{mood}" for index, mood in enumerate(moods))]


def submission(made: Path, folder: Path, gold: str) -> Path:
    """A submission that is right everywhere."""
    folder.mkdir()
    for name in ("Mood", "Like"):
        text = (made / gold / f"{name}.tsv").read_text()
        (folder / f"{name}.tsv").write_text(text.replace("index\tlabel", "index\tprediction", 1))
    return folder


@pytest.mark.parametrize(("split", "gold"), [("test", "gold"), ("dev", "gold-dev")])
def test_submissions_to_it_are_checked_and_graded(made: Path, tmp_path: Path, split: str, gold: str) -> None:
    right = submission(made, tmp_path / "right", gold)
    told = ("--benchmark", made / "tiny.toml", "--split", split)
    assert run("check", right, *told).exit_code == 0
    result = run("grade", right, "--gold", made / gold, *told, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert (report["complete"], report["score"]["value"]) == (True, 1.0)
    assert set(report["tasks"]["Mood"]["metrics"]) == {"accuracy", "f1"}


@pytest.mark.slow
def test_a_leaderboard_takes_it(made: Path, tmp_path: Path) -> None:
    def board(*words: object) -> subprocess.CompletedProcess[str]:
        command = [
            sys.executable,
            "-m",
            "gluebench",
            "leaderboard",
            *map(str, words),
            "--site",
            str(tmp_path / "site"),
        ]
        return subprocess.run(command, capture_output=True, text=True, env=environment())

    new_site(tmp_path / "site")
    done = board("add", made / "tiny.toml", "--gold", made / "gold")
    assert done.returncode == 0, done.stderr


def test_a_dry_run_writes_nothing(source: Path, tmp_path: Path) -> None:
    result = new(source, tmp_path / "made", "--dry-run")
    assert result.exit_code == 0
    assert "Nothing was written." in result.stderr
    assert not list(tmp_path.iterdir())


def test_it_can_be_made_again_until_somebody_edits_it(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "made"
    assert new(source, target).exit_code == 0
    first = (target / "tiny.toml").read_bytes()
    assert new(source, target).exit_code == 0
    assert (target / "tiny.toml").read_bytes() == first
    with (target / "tiny.toml").open("a") as file:
        file.write("# mine now\n")
    result = new(source, target)
    assert result.exit_code == 1
    assert "was changed by hand since (tiny.toml)" in result.stderr
    assert (target / "tiny.toml").read_text().endswith("# mine now\n")


def test_mistakes_are_said_without_a_traceback(source: Path, tmp_path: Path) -> None:
    result = run("benchmark", "new", "tiny", "--from", source, "--to", tmp_path / "made")
    assert result.exit_code == 1
    assert "Mood: which column is the label?" in result.stderr
    assert run("benchmark", "new", "a b", "--from", source, "--to", tmp_path / "made").exit_code == 2
    assert not list(tmp_path.iterdir())


def lint(made: Path, *options: object) -> Result:
    return run("benchmark", "lint", made / "tiny.toml", "--data", made / "data", *options)


def test_lint_alone_says_what_new_said(made: Path) -> None:
    result = lint(made, "--gold", made / "gold", "--markdown")
    assert result.exit_code == 0
    assert result.stdout == (made / "lint.md").read_text()


def test_lint_in_every_form(made: Path) -> None:
    data = json.loads(lint(made, "--gold", made / "gold", "--json").stdout)
    assert data["schema"] == "gluebench.lint/1"
    assert data["errors"] == 0
    checks = {finding["check"] for finding in data["tasks"]["Like"]}
    assert {"prior shift", "one alone", "word overlap", "length of two", "test size"} <= checks
    records = list(csv.DictReader(io.StringIO(lint(made, "--gold", made / "gold", "--csv").stdout)))
    assert len(records) == sum(map(len, data["tasks"].values()))
    assert lint(made, "--gold", made / "gold", "--latex").stdout.count(r"\begin{tabular}") == 1


def test_without_gold_the_test_labels_stay_out_of_it(made: Path) -> None:
    data = json.loads(lint(made, "--json").stdout)
    shifts = [finding for finding in data["tasks"]["Mood"] if finding["check"] == "prior shift"]
    assert [finding["where"] for finding in shifts] == ["train, dev"]
    assert "private" not in lint(made).stdout


def test_a_leak_into_the_test_split_exits_with_1_and_is_still_written(source: Path, tmp_path: Path) -> None:
    home = tmp_path / "source"
    splits = {split: list(csv.reader((source / f"Mood/{split}.csv").open()))[1:] for split in SIZES}
    splits["test"][7][1] = splits["train"][3][1]
    for split, rows in splits.items():
        write_csv(home / f"{split}.csv", ("id", "text", "label"), [tuple(row) for row in rows])
    result = run("benchmark", "new", "tiny", "--from", home, "--to", tmp_path / "made")
    assert result.exit_code == 0
    assert "train 3 = test 7" in result.stdout
    assert "1 error," in result.stdout
    result = lint(tmp_path / "made")
    assert result.exit_code == 1
    assert "train 3 = test 7" in result.stdout


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom gluebench.cli import main\n"
        "main(['benchmark', 'new', '--help'], standalone_mode=False)\n"
        "assert not {'numpy', 'pyarrow', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
