"""Building a task: a recipe's rows become prepared data, or are refused with what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from gluebench import UnknownNameError, load
from gluebench.benchmark import Benchmark, Task, load_benchmark
from gluebench.cli import main
from gluebench.data import DataError, recipes
from gluebench.data.dataset import read_dataset
from gluebench.data.get import build
from gluebench.data.recipes import RECIPES, Option, OptionError, Recipe, RecipeResult, recipe, values_of

MANIFEST = """
[benchmark]
name = "mine"

[tasks.Mood]
columns = ["text"]
labels = { good = "a good mood", bad = "a bad mood" }
metrics = [{ name = "accuracy" }]
splits.train.size = 3
splits.dev.size = 2
splits.test.size = 5
"""
LINES = ["good\tWhat a day", "bad\tIt rains", "good\tTea is ready"]


def from_lines(corpus: Path, task: Task, options: dict[str, Any]) -> RecipeResult:
    """A recipe of the tests: `label<TAB>text` lines."""
    rows = [line.split("\t") for line in (corpus / "lines.txt").read_text().splitlines()]
    columns = {
        task.columns[0]: [text for _, text in rows],
        "label": [label for label, _ in rows],
        "words": [text.split() for _, text in rows],
    }
    first = {name: values[: options["dev"]] for name, values in columns.items()}
    return RecipeResult({"train": columns, "dev": first}, options, (corpus / "lines.txt",), ("made by hand",))


LINES_RECIPE = Recipe(
    "lines",
    "lines.txt: label and text",
    from_lines,
    (Option("dev", int, 2, "Lines in dev."), Option("share", float, 0.5, "Of no use.")),
)


@pytest.fixture
def mine(tmp_path: Path) -> Benchmark:
    (tmp_path / "mine.toml").write_text(MANIFEST)
    return load_benchmark(tmp_path / "mine.toml")


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "corpus").mkdir()
    (tmp_path / "corpus" / "lines.txt").write_text("\n".join(LINES) + "\n")
    monkeypatch.setattr(recipes, "recipe", {"lines": LINES_RECIPE}.__getitem__)
    return tmp_path / "corpus"


def test_what_a_recipe_gives_is_what_load_reads(mine: Benchmark, corpus: Path, tmp_path: Path) -> None:
    made = build(corpus, tmp_path, mine, mine.task("Mood"), named="lines")
    train = load("Mood", "train", tmp_path, benchmark=mine)
    assert [f"{each.label}\t{each.inputs['text']}" for each in train] == LINES
    assert train.column("words")[1] == ["It", "rains"]
    record = read_dataset(tmp_path / "mine" / "Mood")
    assert record == made
    assert record.origin.recipe == "lines"
    assert record.origin.options == {"dev": 2, "share": 0.5}
    assert [(each.name, each.bytes) for each in record.origin.files] == [("lines.txt", 47)]
    assert record.notes == ("made by hand", "test: not built")


def test_options_are_read_as_their_types_and_sizes_that_differ_are_noted(
    mine: Benchmark, corpus: Path, tmp_path: Path
) -> None:
    made = build(corpus, tmp_path, mine, mine.task("Mood"), {"dev": "1", "share": "0.25"}, named="lines")
    assert made.origin.options == {"dev": 1, "share": 0.25}
    assert "dev: 1 examples were built; the released split has 2" in made.notes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"devv": "1"}, "Did you mean --dev"),
        ({"dev": "two"}, "--dev is 'two'; expected a whole number"),
        ({"share": "half"}, "expected a number"),
    ],
)
def test_options_it_cannot_take_are_refused(
    mine: Benchmark, corpus: Path, tmp_path: Path, options: dict[str, str], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        build(corpus, tmp_path, mine, mine.task("Mood"), options, named="lines")


@pytest.mark.parametrize(
    ("name", "option", "expected"),
    [
        ("stsb", "test-labels", "yes or no"),
        ("mrpc", "tokenize", "yes or no"),
        ("sst2", "phrases", "yes or no"),
        ("qnli", "sentences", "release or plain"),
        ("qnli", "second", "close or far"),
        ("qnli", "deal", "pairs or questions or articles"),
        ("wnli", "pairing", "random or apart or together"),
        ("wnli", "clause", "clause or sentence or text"),
    ],
)
def test_a_value_that_is_none_of_the_choices_is_refused(name: str, option: str, expected: str) -> None:
    options = recipe(name).options
    with pytest.raises(OptionError, match=f"^--{option} is 'other'; expected {expected}: "):
        values_of(name, options, {option: "other"}, dashes="--")
    for choice in expected.split(" or "):
        assert values_of(name, options, {option: choice})[option] == choice


def test_an_unknown_label_leaves_what_was_built_before(mine: Benchmark, corpus: Path, tmp_path: Path) -> None:
    build(corpus, tmp_path, mine, mine.task("Mood"), named="lines")
    before = (tmp_path / "mine" / "Mood" / "train.parquet").read_bytes()
    (corpus / "lines.txt").write_text("good\ta\nfine\tb\n")
    with pytest.raises(DataError, match="1 rows have the label 'fine'; expected one of good, bad"):
        build(corpus, tmp_path, mine, mine.task("Mood"), named="lines")
    assert (tmp_path / "mine" / "Mood" / "train.parquet").read_bytes() == before


def test_a_task_without_a_recipe_and_an_absent_corpus_are_told(
    mine: Benchmark, corpus: Path, tmp_path: Path
) -> None:
    with pytest.raises(OptionError, match="names no recipe for Mood"):
        build(corpus, tmp_path, mine, mine.task("Mood"))
    with pytest.raises(DataError, match=r"nowhere: no such folder; expected lines\.txt"):
        build(tmp_path / "nowhere", tmp_path, mine, mine.task("Mood"), named="lines")


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_says_what_it_does_and_reads(name: str) -> None:
    found = recipe(name)
    assert found.name == name
    done = run("build", "SNLI" if name == "snli" else "RTE", "--recipe", name, "--explain")
    assert done.exit_code == 0
    for option in found.options:
        assert f"--{option.name} " in done.stdout
        assert option.help.endswith(".")


def test_every_task_of_glue_names_a_recipe() -> None:
    glue = load_benchmark("glue")
    assert {each.recipe for each in (*glue.tasks, *glue.auxiliary)} == set(RECIPES)


def test_an_unknown_recipe_is_told_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean wnli"):
        recipe("wnly")


def run(*words: str) -> Result:
    return CliRunner().invoke(main, ["data", *words])


def test_the_command_says_what_it_built_and_where(mine: Benchmark, corpus: Path, tmp_path: Path) -> None:
    manifest = str(tmp_path / "mine.toml")
    done = run(
        *("build", "mood", "--benchmark", manifest, "--recipe", "lines", "--dev=1"),
        *("--from", str(corpus), "--to", str(tmp_path / "out"), "--share", "0.5"),
    )
    assert done.exit_code == 0, done.output
    assert "Mood: train, 3 examples" in done.stdout
    assert "note: dev: 1 examples were built" in done.stdout
    assert str(tmp_path / "out" / "mine" / "Mood") in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("Mood",), 2, "name the folder of the original corpus"),
        (("Mood", "stray", "--from", "CORPUS"), 2, "'stray' is not expected here"),
        (("Mood", "--from", "CORPUS", "--dev"), 2, "--dev has no value"),
        (("Mod", "--from", "CORPUS"), 2, "Did you mean Mood"),
        (("Mood", "--from", "CORPUS", "--divide", "1"), 2, "no option --divide"),
        (("Mood", "--from", "CORPUS/none"), 1, "no such folder"),
    ],
)
def test_the_commands_refusals(
    mine: Benchmark, corpus: Path, tmp_path: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    told = [word.replace("CORPUS", str(corpus)) for word in words]
    done = run(
        "build", *told, "--benchmark", str(tmp_path / "mine.toml"), "--recipe", "lines", "--to", str(tmp_path)
    )
    assert done.exit_code == code
    assert message in done.stderr
