"""Linting a diagnostic set: each fault with its line, the sample clean, the release's oddities."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from real import REAL, needs_real

from gluebench.benchmark import Task, load_benchmark
from gluebench.cli import main
from gluebench.data import DataError
from gluebench.data.lint_diagnostic import Lint, lint, read_diagnostic, symmetric_label

HEADER = "domain\tphenomena\tsentence1\tsentence2\tforward\tbackward\tset"
OPEN, SHUT = "The old mill is open today.", "The old mill is not open today."
WIDE = "The old mill is open to visitors today."
GOOD = [
    f"news\tNegation\t{OPEN}\t{SHUT}\tcontradiction\tcontradiction\tmill",
    f"news\tRedundancy\t{OPEN}\t{WIDE}\tneutral\tentailment\tmill",
]
RELEASED = (
    "Lexical Semantics\tPredicate-Argument Structure\tLogic\tKnowledge\tDomain\tPremise\tHypothesis\tLabel"
)
SAMPLE = str(files("gluebench.data.sample").joinpath("diagnostic.tsv"))
RELEASE = REAL / "glue" / "AX" / "diagnostic-full.tsv"
WHOLE_SET = {"few-pairs", "one-sided", "median-overlap"}
"""What a file of a few rows is always warned of."""


@pytest.fixture(scope="module")
def glue() -> Task:
    return load_benchmark("glue").task("AX")


def written(folder: Path, rows: Sequence[str], header: str = HEADER) -> Path:
    path = folder / "set.tsv"
    path.write_bytes("".join(f"{line}\n" for line in [header, *rows]).encode())
    return path


def linted(path: Path | str, task: Task) -> Lint:
    return lint(read_diagnostic(path, task), task, symmetric=symmetric_label(task))


def codes(found: Lint) -> list[tuple[str, str, int | None]]:
    """Findings on single rows."""
    return [(each.severity, each.code, each.line) for each in found.findings if each.code not in WHOLE_SET]


def call(*words: object) -> Result:
    return CliRunner().invoke(main, ["data", "lint-diagnostic", *map(str, words)])


def test_two_good_pairs_are_warned_of_their_number_alone(tmp_path: Path, glue: Task) -> None:
    found = linted(written(tmp_path, GOOD), glue)
    assert codes(found) == []
    assert found.total == ("all", 2, {"entailment": 1, "neutral": 1, "contradiction": 2})
    assert dict(found.domains) == {"news": 2}
    assert found.sets == 1
    assert found.median_overlap == pytest.approx((6 / 7 + 6 / 8) / 2)


A = "The river is deep here."
B = "The river is deep and cold here."


@pytest.mark.parametrize(
    ("row", "severity", "code", "said"),
    [
        (f"news\tNegation\t{A}\t{B}\tneutral\t\ts", "error", "one-direction", "other direction"),
        (f"news\tNegation\t{A}\t{B}\tneutral\tcontradiction\ts", "error", "asymmetric", "holds in both"),
        (f"news\tNegation\t{A}\t{B}\tneutral\tentailement\ts", "error", "label", "Did you mean entailment?"),
        (f"news\tNegation\t{A}\t{A}\tentailment\tentailment\ts", "error", "identical", "the same"),
        (f"news\tNegation\t\t{B}\tneutral\tentailment\ts", "error", "empty", "missing"),
        (f"news\t\t{A}\t{B}\tneutral\tentailment\ts", "error", "no-phenomenon", "which of them"),
        (
            f"news\tNegatoin\t{A}\t{B}\tneutral\tentailment\ts",
            "error",
            "phenomenon",
            "Did you mean Negation?",
        ),
        (
            f"news\tCore args; Core Arguments\t{A}\t{B}\tneutral\tentailment\ts",
            "warning",
            "tag-twice",
            "2 times",
        ),
        (f"\tNegation\t{A}\t{B}\tneutral\tentailment\ts", "warning", "no-domain", "news or forum"),
        (f"news\tNegation\t{A} \t{B}\tneutral\tentailment\ts", "warning", "edge-space", "space at the edge"),
        (f"news\tNegation\t{A}\t{B}\tneutral\tentailment\t", "warning", "no-set", "common name"),
        (f"news\tNegation\t{A}\tNobody swims.\tneutral\tneutral\ts", "warning", "low-overlap", "share 0.00"),
        (
            "news\tNegation\tThe old mill is not open today.\tThe old mill is open today.\t"
            "contradiction\tcontradiction\tmill",
            "error",
            "duplicate",
            "line 2 again",
        ),
        (
            "news\tNegation\tThe old mill is open to visitors today.\tThe old mill is open today.\t"
            "neutral\tentailment\tmill",
            "error",
            "conflict",
            "line 3 under other labels",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)
def test_each_fault_of_a_row_is_found_with_its_line(
    tmp_path: Path, glue: Task, row: str, severity: str, code: str, said: str
) -> None:
    alone = row.replace("\ts", "\tmill") if row.endswith("\ts") else row
    found = linted(written(tmp_path, [*GOOD, alone]), glue)
    assert codes(found) == [(severity, code, 4)]
    assert said in next(each.message for each in found.findings if each.code == code)


def test_equivalence_and_the_releases_spellings_are_no_faults(tmp_path: Path, glue: Task) -> None:
    row = f"news\tcore args; RELATIVE-CLAUSES\t{A}\tHere the river is deep.\tentailment\tentailment\tmill"
    assert codes(linted(written(tmp_path, [*GOOD, row]), glue)) == []


def test_minimal_sets_need_two_pairs_and_two_labels(tmp_path: Path, glue: Task) -> None:
    rows = [
        f"news\tNegation\t{A}\t{B}\tneutral\tentailment\talone",
        "news\tNegation\tNo pony trots.\tNo pony trots off.\tneutral\tneutral\tponies",
        "news\tNegation\tNo pony trots.\tNo pony trots up.\tneutral\tneutral\tponies",
    ]
    found = codes(linted(written(tmp_path, [*GOOD, *rows]), glue))
    assert found == [("warning", "lone-pair", 4), ("warning", "one-label", 5)]


def test_a_phenomenon_with_few_pairs_or_one_label_is_warned_of(tmp_path: Path, glue: Task) -> None:
    found = linted(written(tmp_path, GOOD), glue)
    few = [each.message for each in found.findings if each.code == "few-pairs"]
    assert len(few) == len(glue.phenomena)
    assert "Negation: 1 pair, fewer than 10; a score on so few says little" in few
    assert "Disjunction: 0 pairs, fewer than 10; a score on so few says little" in few
    sided = [each.message for each in found.findings if each.code == "one-sided"]
    assert sided == ['Negation: "contradiction" is the label of 2 of 2 examples; add pairs that have another']


def test_a_label_that_never_occurs_is_warned_of(tmp_path: Path, glue: Task) -> None:
    said = [each.message for each in linted(written(tmp_path, GOOD[1:]), glue).findings]
    assert 'no example at all has the label "contradiction"' in said


def test_a_word_that_gives_the_label_away_is_counted(tmp_path: Path, glue: Task) -> None:
    things = ["goat", "mule", "colt", "lamb", "calf", "kid", "foal", "hen", "duck"]
    never = "news\tNegation\tThe {0} is here.\tThe {0} is never here.\tcontradiction\tcontradiction\tmill"
    right = "news\tNegation\tThe {0} is here.\tThe {0} is right here.\tentailment\tentailment\tmill"
    other = "news\tNegation\tThe ram is never here.\tThe ram is never here now.\tentailment\tneutral\tmill"
    rows = [form.format(thing) for form in (never, right) for thing in things]
    found = linted(written(tmp_path, [*rows, other]), glue)
    said = [each.message for each in found.findings if each.code == "shortcut"]
    assert said == [
        '"contradiction" is the label of 9 of 11 hypotheses with "never"; '
        "add pairs that have it under other labels"
    ]


def test_a_low_median_of_the_overlap_is_warned_of(tmp_path: Path, glue: Task) -> None:
    row = "news\tNegation\tThe mill is shut.\tThe barn is open.\tneutral\tneutral\tmill"
    said = [each.message for each in linted(written(tmp_path, [row]), glue).findings]
    assert "the median pair shares 0.33 of its words, less than 0.7" in said


def test_the_released_form_is_read_with_its_categories(tmp_path: Path, glue: Task) -> None:
    rows = [
        f"\t\tNegation;Double negation\t\tNews\t{A}\t{B}\tneutral\r",
        f"\t\tNegation;Double negation\t\tNews\t{B}\t{A}\tentailment\r",
        "Negation\t\t\t\tNews\tThe pond is wide.\tThe pond is very wide.\tneutral\r",
        "Negation\t\t\t\tForum\tThe pond is very wide.\tThe pond is wide.\tcontradiction\r",
        "\tCore args\t\t\tNews\tThe lake is wide.\tThe lake is very wide.\tneutral\r",
    ]
    found = linted(written(tmp_path, rows, RELEASED + "\r"), glue)
    assert codes(found) == [
        ("error", "asymmetric", 5),
        ("error", "one-direction", 6),
        ("warning", "category", 4),
        ("warning", "directions-differ", 5),
        ("warning", "category", 5),
    ]
    assert found.total.pairs == 3
    assert found.sets is None


def test_rows_of_another_width_are_all_named(tmp_path: Path, glue: Task) -> None:
    path = written(tmp_path, [GOOD[0], "news\tNegation", *GOOD[1:], "a\tb\tc"])
    with pytest.raises(DataError) as caught:
        read_diagnostic(path, glue)
    assert [line.split(": ", 1)[0] for line in caught.value.problems] == [f"{path}:3", f"{path}:5"]
    assert "2 columns, expected 7" in caught.value.problems[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"one\ttwo\nx\ty\n", ":1: the header names neither"),
        (HEADER.encode() + b"\n", "no pairs"),
        (b"", ":1: the header names neither"),
        (HEADER.encode() + b"\n\xff\n", "not UTF-8 text"),
    ],
)
def test_a_file_of_another_kind_is_refused(tmp_path: Path, glue: Task, content: bytes, said: str) -> None:
    path = tmp_path / "set.tsv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        read_diagnostic(path, glue)
    result = call(path)
    assert result.exit_code == 1
    assert "Traceback" not in result.output


POLISH = """
[benchmark]
name = "probe"

[tasks.Sonda]
columns = ["zdanie1", "zdanie2"]
scored = false
metrics = [{ name = "r_k" }]
splits.test.size = 2
[tasks.Sonda.labels]
wynika = "pierwsze pociąga drugie"
nie_wiadomo = "ani jedno, ani drugie"
przeczy = "pierwsze wyklucza drugie"
[tasks.Sonda.phenomena."Logika"]
"Przeczenie" = []
"Spójniki" = []
[tasks.Sonda.source]
corpus = "own"
license = "own"
citation = "own"

[tasks.Inne]
columns = ["a"]
scored = true
labels = { x = "x", y = "y" }
metrics = [{ name = "accuracy" }]
splits.test.size = 2
[tasks.Inne.source]
corpus = "own"
license = "own"
citation = "own"
"""


def test_another_language_brings_its_own_labels_and_phenomena(tmp_path: Path) -> None:
    manifest = tmp_path / "probe.toml"
    manifest.write_text(POLISH, encoding="utf-8")
    rows = [
        "prasa\tPrzeczenie\tStary młyn jest otwarty.\tStary młyn nie jest otwarty.\tprzeczy\tnie_wiadomo\tm",
        "prasa\tSpojniki\tStary młyn jest otwarty.\tStary młyn jest otwarty i duży.\tnie_wiadomo\twynika\tm",
    ]
    path = written(tmp_path, rows)
    result = call(path, "--benchmark", manifest)
    assert result.exit_code == 1
    assert f"error: {path}:2: asymmetric" in result.output
    assert "Did you mean Spójniki?" in result.output
    lenient = call(path, "--benchmark", manifest, "--symmetric", "wynika", "--task", "Sonda", "--fewest", 1)
    assert "asymmetric" in lenient.output  # now it is the second pair's "wynika" that must hold both ways
    assert f"{path}:3: asymmetric" in lenient.output
    assert call(path, "--benchmark", manifest, "--symmetric", "nonsense").exit_code == 2
    assert call(path, "--benchmark", manifest, "--task", "Inne").exit_code == 2
    assert call(path, "--benchmark", manifest, "--task", "Sondda").exit_code == 2


def test_the_command_warns_without_failing_and_speaks_json(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    result = call(path)
    assert result.exit_code == 0
    assert f"warning: {path}: few-pairs: Negation: 1 pair" in result.output
    assert " ".join(result.output.split()).endswith(" warnings.")
    data = json.loads(call(path, "--json", "--fewest", 1).stdout)
    assert data["total"] == {
        "name": "all",
        "pairs": 2,
        "labels": {"entailment": 1, "neutral": 1, "contradiction": 2},
    }
    assert {each["code"] for each in data["findings"]} == {"few-pairs", "one-sided"}
    for form in ("--csv", "--markdown", "--latex"):
        assert "few-pairs" in call(path, form).stdout


def test_the_samples_set_has_nothing_to_find() -> None:
    result = call(SAMPLE, "--benchmark", "sample")
    assert result.exit_code == 0
    assert result.output.splitlines()[-1].endswith(": 0 errors, 0 warnings.")
    assert json.loads(call(SAMPLE, "--benchmark", "sample", "--json").stdout)["findings"] == []


@needs_real
def test_the_release_has_the_known_oddities_and_no_other_errors(glue: Task) -> None:
    found = linted(RELEASE, glue)
    errors = [(each.code, each.line) for each in found.findings if each.severity == "error"]
    assert errors == [("no-phenomenon", 432), ("no-phenomenon", 433), ("duplicate", 538), ("conflict", 1068)]
    said = next(each.message for each in found.findings if each.code == "conflict")
    assert said.startswith("the pair of line 1066 under other labels")
    assert found.total == ("all", 552, {"entailment": 460, "neutral": 386, "contradiction": 258})
    assert dict(found.domains) == {
        "Artificial": 150,
        "News": 102,
        "Wikipedia": 100,
        "ACL": 100,
        "Reddit": 100,
    }
    warned = Counter(each.code for each in found.findings if each.severity == "warning")
    assert set(warned) == {"edge-space", "low-overlap", "few-pairs", "one-sided", "shortcut"}
    assert [each.line for each in found.findings if each.code == "edge-space"] == [690, 691]
    assert warned["few-pairs"] == 1
