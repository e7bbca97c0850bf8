"""`gluebench data stats`, as a user sees it."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from real import REAL, needs_real

from gluebench.benchmark import load_benchmark
from gluebench.cli import main
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["data", "stats", *map(str, arguments)], prog_name="gluebench")


def shown(*arguments: object) -> str:
    done = run(*arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def line(text: str, start: str) -> list[str]:
    """The words of the first line that starts so."""
    return next(each.split() for each in text.splitlines() if each.startswith(start))


def test_the_sample_in_every_table(sample_folder: Path) -> None:
    text = shown("sample", "--data", sample_folder, "--task", "MNLI", "--task", "STS-B")
    sizes = [f"{split.size:,}" for split in load_benchmark("sample").task("MNLI").splits.values()]
    assert line(text, "MNLI") == ["MNLI", sizes[0], sizes[1], "+", sizes[2], sizes[3], "+", sizes[4]]
    assert "entailment: 33.3, neutral: 33.3, contradiction: 33.3" in text
    assert "  test_matched " in text
    assert "hidden" in text
    assert "; mean 2." in text
    assert "95th percentile" in text
    assert "% types unseen" in text
    assert "printed" not in text, "nothing is printed of the sample"


def test_labels_of_sets_tags_and_texts_are_not_hidden(tmp_path: Path) -> None:
    (tmp_path / "forms.toml").write_text(
        '[benchmark]\nname = "forms"\n'
        '[tasks.Topics]\nform = "sets"\ncolumns = ["text"]\nlabels = ["joy", "anger"]\n'
        'metrics = [{ name = "sets_accuracy" }]\nsplits.dev.size = 4\n'
        '[tasks.Names]\nform = "tokens"\ncolumns = ["text"]\nlabels = ["O", "B-PER", "I-PER"]\n'
        'metrics = [{ name = "entity_f1" }]\nsplits.dev.size = 4\n'
        '[tasks.Open]\nform = "tokens"\ncolumns = ["text"]\n'
        'metrics = [{ name = "token_macro_f1" }]\nsplits.dev.size = 4\n'
        '[tasks.Answers]\nform = "text"\ncolumns = ["text"]\n'
        'metrics = [{ name = "exact_match" }]\nsplits.dev.size = 4\n'
    )
    labels = {
        "Topics": ["joy", "anger|joy", "", "joy"],
        "Names": ["O O", "B-PER O", "O", "O B-PER I-PER"],
        "Open": ["X X Y", "X", "Y", "X"],
        "Answers": ["Paris", "Oslo", "Rome", "Bern"],
    }
    for task, words in labels.items():
        (tmp_path / task).mkdir()
        rows = "".join(f"{at}\ta b\t{word}\n" for at, word in enumerate(words))
        (tmp_path / task / "dev.tsv").write_text(f"index\ttext\tlabel\n{rows}")
    text = shown(tmp_path / "forms.toml", "--data", tmp_path)
    assert "hidden" not in text
    assert "joy: 75.0, anger: 25.0" in text
    assert "O: 62.5, B-PER: 25.0, I-PER: 12.5" in text
    assert "X: 66.7, Y: 33.3" in text
    assert "given" in text


@pytest.mark.parametrize("names", [("MNLI,STS-B",), ("MNLI", "STS-B"), ("MNLI, STS-B",)])
def test_tasks_are_named_with_commas_or_one_by_one(sample_folder: Path, names: tuple[str, ...]) -> None:
    options = [word for name in names for word in ("--task", name)]
    data = json.loads(shown("sample", "--data", sample_folder, *options, "--json"))
    assert [task["task"] for task in data["tasks"]] == ["MNLI", "STS-B"]


def test_what_is_not_on_disk_is_a_dash(sample_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "RTE").mkdir()
    (tmp_path / "RTE" / "dev.tsv").write_bytes((sample_folder / "RTE" / "dev.tsv").read_bytes())
    text = shown("sample", "--data", tmp_path)
    dev = load_benchmark("sample").task("RTE").splits["dev"].size
    assert line(text, "RTE") == ["RTE", "-", str(dev), "-"]
    assert line(text, "MNLI") == ["MNLI", "-", "-", "-"]


def test_json_has_every_figure_and_fractions(sample_folder: Path) -> None:
    data = json.loads(shown("sample", "--data", sample_folder, "--task", "MRPC", "--json"))
    (task,) = data["tasks"]
    assert (data["benchmark"], task["task"]) == ("sample", "MRPC")
    assert task["splits"]["dev"]["examples"] == load_benchmark("sample").task("MRPC").splits["dev"].size
    assert [part["share"] for part in task["splits"]["train"]["labels"]["parts"]] == [0.32, 0.68]
    assert task["splits"]["test"]["labels"] is None
    assert 0 < task["splits"]["test"]["vocabulary"]["unseen_types"] < 1


def test_csv_has_a_row_for_each_figure(sample_folder: Path) -> None:
    text = shown("sample", "--data", sample_folder, "--task", "MRPC", "--csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    values = {(row["split"], row["measure"], row["item"]): row["value"] for row in rows}
    assert values["dev", "examples", ""] == str(load_benchmark("sample").task("MRPC").splits["dev"].size)
    assert values["train", "label share", "1"] == "0.68"
    assert float(values["test", "p95 length", "sentence1"]) > 10


@pytest.mark.parametrize("form", ["--markdown", "--latex"])
def test_other_forms_hold_the_same_tables(sample_folder: Path, form: str) -> None:
    text = shown("sample", "--data", sample_folder, "--task", "RTE", form)
    for word in ("Examples on disk", "Label balance", "Lengths in tokens", "Words"):
        assert word in text


def test_mistakes_are_told(sample_folder: Path, tmp_path: Path) -> None:
    unknown = run("sample", "--data", sample_folder, "--task", "RTF")
    assert (unknown.exit_code, "Did you mean RTE" in unknown.output) == (2, True)
    nothing = run("glue", "--data", tmp_path)
    assert (nothing.exit_code, "gluebench data get glue" in nothing.output) == (1, True)
    (tmp_path / "RTE").mkdir()
    (tmp_path / "RTE" / "dev.parquet").write_bytes(b"<html>")
    broken = run("glue", "--data", tmp_path)
    assert (broken.exit_code, "dev.parquet: not a Parquet file" in broken.output) == (1, True)
    assert "Traceback" not in unknown.output + nothing.output + broken.output


def test_a_picture_is_drawn_beside_the_tables(sample_folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; the plot extra brings it")
    picture = tmp_path / "stats.svg"
    done = run("sample", "--data", sample_folder, "--task", "WNLI", "--plot", picture)
    assert (done.exit_code, picture.read_bytes()[:5]) == (0, b"<?xml")
    assert "Examples on disk" in done.stdout
    assert f"drawn: {picture}" in done.stderr


@pytest.mark.parametrize(
    ("name", "said"),
    [("stats.gif", "does not end in .png, .svg, .pdf"), ("none/stats.png", "is not a folder")],
)
def test_a_picture_that_cannot_be_written_is_refused_first(
    sample_folder: Path, tmp_path: Path, name: str, said: str
) -> None:
    done = run("sample", "--data", sample_folder, "--plot", tmp_path / name)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


def test_where_there_is_nothing_to_draw_it_says_so(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed; the plot extra brings it")
    (tmp_path / "RTE").mkdir()
    done = run("sample", "--data", tmp_path, "--plot", tmp_path / "stats.png")
    assert (done.exit_code, "none of the splits is on disk" in done.output) == (1, True)
    assert not (tmp_path / "stats.png").exists()


def test_without_matplotlib_it_says_what_to_install(
    sample_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("sample", "--data", sample_folder, "--plot", tmp_path / "stats.png")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "pip install 'gluebench[plot]'" in done.output


@needs_real
def test_the_papers_tables_stand_beside_the_files(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    for name in ("AX", "WNLI"):
        prepare_from_folder(REAL / "glue", tmp_path, glue, glue.task(name), load_release("glue"))
    text = shown("--data", tmp_path)
    assert line(text, "WNLI") == ["WNLI", "635", "634*", "71", "146", "146"]
    assert line(text, "STS-B") == ["STS-B", "-", "7k", "-", "-", "1.4k"]
    assert "the released file has 635" in " ".join(text.split())
    assert line(text, "Logic") == ["Logic", "364", "364", "37.6", "37.6", "26.9", "26.9", "35.4", "35.4"]
    assert "Every figure is the one printed." in text
