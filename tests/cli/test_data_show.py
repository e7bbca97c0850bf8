"""`gluebench data show`, as a user sees it."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from real import REAL, needs_real

from gluebench.benchmark import load_benchmark
from gluebench.benchmark.tables import text_width
from gluebench.cli import main
from gluebench.cli.data.show_view import visible, wrap_text
from gluebench.data.dataset import Origin
from gluebench.data.prepared import prepare
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release

MANIFEST = """
[benchmark]
name = "mine"

[tasks.Probe]
columns = ["premise", "hypothesis"]
scored = false
metrics = [{ name = "r_k" }]
splits.test.size = 5
labels = { entailment = "it follows", neutral = "neither", contradiction = "it cannot be" }
[tasks.Probe.phenomena."Logic"]
"Negation" = []
"Double Negation" = ["Double negation"]
[tasks.Probe.phenomena."Knowledge"]
"Common Sense" = []

[tasks.Mood]
columns = ["text"]
labels = { 0 = "bad", 1 = "good" }
metrics = [{ name = "accuracy" }]
splits.dev.size = 3

[tasks.Warmth]
columns = ["one", "two"]
score_range = [0.0, 5.0]
metrics = [{ name = "pearson" }]
splits.train.size = 1
splits.test.size = 1
"""
ROWS = [
    ("No owl sleeps.", "An owl sleeps.", "contradiction", ["Negation"]),
    ("An owl sleeps.", "No owl sleeps.", "contradiction", ["Negation"]),
    ("It is not unlikely.", "It is likely.", "neutral", ["Double Negation", "Common Sense"]),
    ("It is likely.", "It is not unlikely.", "entailment", ["Double Negation", "Common Sense"]),
    ("Ice melts.", "Water freezes.", "neutral", []),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A manifest and its prepared data."""
    folder = tmp_path_factory.mktemp("home")
    (folder / "mine.toml").write_text(MANIFEST)
    mine = load_benchmark(folder / "mine.toml")
    premises, hypotheses, labels, tags = zip(*ROWS, strict=True)
    columns = {"premise": premises, "hypothesis": hypotheses, "label": labels, "phenomena": tags}
    tables = {
        "Probe": ("test", {**columns, "domain": ["news", "news", "forum", "forum", "forum"]}),
        "Mood": (
            "dev",
            {"text": ["fine\x1b[31m weather", "rain, rain", "Rain at last"], "label": ["1", "0", "1"]},
        ),
        "Warmth": ("test", {"one": ["a"], "two": ["b"]}),
    }
    for task, (split, values) in tables.items():
        count = len(next(iter(values.values())))
        table = pa.table({"index": pa.array(range(10, 10 + count), pa.int64()), **values})
        prepare(
            folder, mine, mine.task(task), {split: table.to_batches()}, origin=Origin("folder", "by hand")
        )
    return folder


def run(home: Path, *arguments: object) -> Result:
    words = [
        "data",
        "show",
        *map(str, arguments),
        "--data",
        str(home),
        "--benchmark",
        str(home / "mine.toml"),
    ]
    return CliRunner().invoke(main, words, prog_name="gluebench")


def shown(home: Path, *arguments: object) -> str:
    done = run(home, *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_an_example_is_its_index_label_and_texts(home: Path) -> None:
    assert shown(home, "Mood", "--index", 11) == (
        "Mood dev: 3 examples\n\n11  0 (bad)\n    text  rain, rain\n"
    )


def test_a_diagnostic_set_is_table_3(home: Path) -> None:
    assert shown(home, "Probe") == (
        "Probe test: 5 examples\n"
        "Fwd (Bwd) is the label when sentence 1 (sentence 2) is the premise.\n"
        "Labels: E entailment, N neutral, C contradiction.\n\n"
        "10, 11  Negation (Logic)\n    1  No owl sleeps.\n    2  An owl sleeps.\n    Fwd C  Bwd C\n\n"
        "12, 13  Double Negation (Logic), Common Sense (Knowledge)\n"
        "    1  It is not unlikely.\n    2  It is likely.\n    Fwd N  Bwd E\n\n"
        "14\n    1  Ice melts.\n    2  Water freezes.\n    Fwd N  Bwd -\n"
    )


@pytest.mark.parametrize(
    ("options", "indices"),
    [
        (["--label", "entailment"], [[12, 13]]),
        (["--label", "ENTAILMENT"], [[12, 13]]),
        (["--label", "neutral"], [[12, 13], [14]]),
        (["--phenomenon", "double negation"], [[12, 13]]),
        (["--phenomenon", "Logic"], [[10, 11], [12, 13]]),
        (["--phenomenon", "Knowledge", "--label", "contradiction"], []),
        (["--grep", "owl|Ice"], [[10, 11], [14]]),
        (["--index", "13"], [[12, 13]]),
        (["--index", "14", "--index", "10"], [[10, 11], [14]]),
        (["--limit", "1"], [[10, 11]]),
    ],
)
def test_examples_are_chosen(home: Path, options: list[str], indices: list[list[int]]) -> None:
    found = json.loads(shown(home, "Probe", "--json", *options))["examples"]
    assert [each["indices"] for each in found] == indices


def test_grep_minds_letter_case_unless_told_otherwise(home: Path) -> None:
    assert [line[:2] for line in shown(home, "Mood", "--grep", "rain").splitlines() if line[:1] == "1"] == [
        "11"
    ]
    both = shown(home, "Mood", "--grep", "(?i)rain").splitlines()
    assert [line[:2] for line in both if line[:1] == "1"] == ["11", "12"]


def test_a_label_may_be_called_by_its_gloss(home: Path) -> None:
    assert "rain, rain" in shown(home, "Mood", "--label", "bad")


def test_other_columns_are_shown_when_asked_for(home: Path) -> None:
    assert "forum" not in shown(home, "Probe", "--index", 14)
    assert "    domain  forum\n" in shown(home, "Probe", "--index", 14, "--all-columns")


def test_json_csv_and_markdown(home: Path) -> None:
    (pair,) = json.loads(shown(home, "Probe", "--index", 12, "--json"))["examples"]
    assert pair == {
        "indices": [12, 13],
        "tags": ["Double Negation (Logic)", "Common Sense (Knowledge)"],
        "sentence1": "It is not unlikely.",
        "sentence2": "It is likely.",
        "forward": "neutral",
        "backward": "entailment",
    }
    rows = list(csv.DictReader(io.StringIO(shown(home, "Mood", "--csv"))))
    assert [row["text"] for row in rows] == ["fine\x1b[31m weather", "rain, rain", "Rain at last"]
    assert "| Negation (Logic) | No owl sleeps. | An owl sleeps. | C | C |" in shown(
        home, "Probe", "--markdown"
    )
    assert "| 11 | rain, rain | 0 (bad) |" in shown(home, "Mood", "--markdown")


def test_nothing_found_is_said_and_is_no_error(home: Path) -> None:
    done = run(home, "Mood", "--grep", "snow")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == "No example of Mood dev matches (3 are there).\n"
    some = run(home, "Mood", "--index", 11, "--index", 99)
    assert "rain, rain" in some.stdout
    assert some.stderr == "No example of Mood dev with the index 99 matches.\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["Moood"], "Did you mean Mood"),
        (["Mood", "--split", "dve"], "Did you mean dev"),
        (["Mood", "--label", "goood"], "Did you mean good"),
        (["Probe", "--phenomenon", "Negatoin"], "Did you mean Negation"),
        (["Mood", "--grep", "("], "is not a regular expression"),
        (["Warmth"], "name one: --split train or --split test"),
        (["Warmth", "--split", "test", "--label", "1"], "has scores, not labels"),
        (["Mood", "--phenomenon", "Negation"], "has no phenomena"),
    ],
)
def test_mistakes_are_usage_errors_with_the_closest_name(home: Path, arguments: list[str], said: str) -> None:
    done = run(home, *arguments)
    assert done.exit_code == 2
    assert said in " ".join(done.output.split())


def test_mnli_names_its_dev_sections(sample_folder: Path) -> None:
    words = ["data", "show", "MNLI", "--benchmark", "sample", "--data", str(sample_folder)]
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, "--split dev_matched or --split dev_mismatched" in done.output) == (2, True)


def test_the_samples_diagnostic_set_has_pairs_without_tags_or_labels(sample_folder: Path) -> None:
    words = ["data", "show", "AX", "--benchmark", "sample", "--data", str(sample_folder)]
    done = CliRunner().invoke(main, [*words, "--limit", "1"])
    size = load_benchmark("sample").task("AX").splits["test"].size
    assert done.stdout.splitlines()[:2] == [f"AX test: {size:,} examples", "The labels are hidden."]
    assert done.stdout.splitlines()[3] == "0, 1"
    tags = CliRunner().invoke(main, [*words, "--phenomenon", "Logic"])
    assert (tags.exit_code, "have no tags" in tags.output) == (2, True)
    labels = CliRunner().invoke(main, [*words, "--label", "neutral"])
    assert (labels.exit_code, "are hidden" in labels.output) == (2, True)


def test_control_characters_do_not_reach_the_terminal(home: Path) -> None:
    assert "fine\\x1b[31m weather" in shown(home, "Mood", "--index", 10)


def test_on_a_terminal_texts_are_folded_and_matches_set_off(home: Path) -> None:
    command = [sys.executable, "-m", "gluebench", "data", "show", "Probe", "--grep", "not unlikely"]
    command += ["--data", str(home), "--benchmark", str(home / "mine.toml")]
    text = on_a_terminal(command, columns=44)
    assert "It is \x1b[1;31mnot unlikely\x1b[0m." in text
    lines = [re.sub(r"\x1b\[[\d;]*m", "", line).rstrip("\r") for line in text.splitlines()]
    assert max(map(len, lines)) <= 44
    assert "12, 13  Double Negation (Logic), Common" in lines
    assert "\x1b[1;31m" not in on_a_terminal(command, columns=44, NO_COLOR="1")


def on_a_terminal(command: list[str], *, columns: int, **more: str) -> str:
    """What the command writes to a terminal, its pager one that passes everything on."""
    pty = pytest.importorskip("pty", reason="terminals are tested where the system has pseudo-terminals")
    controller, terminal = pty.openpty()
    env = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    env |= {"PAGER": "cat", "TERM": "xterm", "COLUMNS": str(columns), **more}
    done = subprocess.Popen([*command, "--no-pager"], stdout=terminal, stdin=terminal, env=env)
    os.close(terminal)
    parts = []
    while part := read(controller):
        parts.append(part)
    os.close(controller)
    assert done.wait() == 0
    return b"".join(parts).decode()


def read(controller: int) -> bytes:
    try:
        return os.read(controller, 4096)
    except OSError:  # Linux says so when the other side is closed
        return b""


@given(st.text("ab 日\u0301", max_size=60), st.integers(4, 20))
def test_folding_loses_only_white_space_and_keeps_to_the_width(text: str, width: int) -> None:
    lines = [text[line.start : line.end] for line in wrap_text(text, width)]
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(text_width(line) <= width for line in lines)


@given(st.text("ab\n\x1b ", max_size=30))
def test_matches_stay_matches_when_control_characters_are_written_out(text: str) -> None:
    pattern = re.compile(r"a+\s?b")
    seen, matches = visible(text, pattern)
    matching = "".join(sign for sign, matches in zip(seen, matches, strict=True) if matches)
    assert matching == "".join(pattern.findall(text)).replace("\n", "\\n")
    assert not set(seen) & {"\n", "\x1b"}


@needs_real
def test_the_examples_of_the_papers_table_3_have_its_labels(tmp_path: Path) -> None:
    glue = load_benchmark("glue")
    prepare_from_folder(REAL / "glue", tmp_path, glue, glue.task("AX"), load_release("glue"))
    words = ["data", "show", "AX", "--data", str(tmp_path)]
    every = json.loads(CliRunner().invoke(main, [*words, "--json"]).stdout)["examples"]
    assert [each["indices"] for each in every] == [[at, at + 1] for at in range(0, 1104, 2)]
    rows = {each["indices"][0]: each for each in every}
    assert rows[1056]["tags"] == ["Lexical Entailment (Lexical Semantics)", "Downward Monotone (Logic)"]
    assert rows[558]["tags"] == ["Universal (Logic)"]
    # The file tags the third as Downward Monotone; the paper prints Quantifiers and Double Negation.
    assert [(rows[at]["forward"], rows[at]["backward"]) for at in (1056, 558, 630)] == [
        ("neutral", "entailment"),
        ("entailment", "neutral"),
        ("neutral", "entailment"),
    ]
    text = CliRunner().invoke(main, [*words, "--index", "1056"]).stdout
    assert text.splitlines()[4].startswith("1056, 1057  Lexical Entailment (Lexical Semantics), Downward")
    assert text.splitlines()[-1] == "    Fwd N  Bwd E"
