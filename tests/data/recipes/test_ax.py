"""AX from a file of our own in its layout, and from the paper's own file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from real import REAL, needs_real

from gluebench.benchmark import load_benchmark

HEADER = (
    "Lexical Semantics\tPredicate-Argument Structure\tLogic\tKnowledge\t"
    "Domain\tPremise\tHypothesis\tLabel\r\n"
)
ROWS = (
    "Factivity;Quantifiers\t\tNegation\t\tNews\tAll left. \tNone stayed.\tentailment\r\n"
    "\tCore args\tDouble negation;Universal\tCommon sense\tACL\tNone stayed.\tAll left. \tneutral\r\n"
    '\t\t\t\tReddit\t"Ann left.\tAnn stayed.\tcontradiction\r\n'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "diagnostic-full.tsv").write_text(HEADER + ROWS, newline="")
    return tmp_path


def test_tags_become_the_manifests_names_in_one_list(folder, make) -> None:
    built = make("ax", folder, "AX")
    assert built.splits == {
        "test": {
            "premise": ["All left. ", "None stayed.", '"Ann left.'],
            "hypothesis": ["None stayed.", "All left. ", "Ann stayed."],
            "label": ["entailment", "neutral", "contradiction"],
            "domain": ["News", "ACL", "Reddit"],
            "phenomena": [
                ["Factivity", "Quantifiers", "Negation"],
                ["Core Arguments", "Double Negation", "Universal", "Common Sense"],
                [],
            ],
        }
    }
    assert built.notes == ()


def test_labels_can_be_left_out(folder, make) -> None:
    built = make("ax", folder, "AX", test_labels="no")
    assert "label" not in built.splits["test"]
    assert len(built.notes) == 1


def test_every_bad_row_is_named(folder, problems) -> None:
    path = folder / "diagnostic-full.tsv"
    path.write_text(
        HEADER + ROWS + "Sarcasm\t\tIrony\t\tNews\ta\tb\tmaybe\r\nNews\ta\tb\tneutral\r\n", newline=""
    )
    assert problems("ax", folder, "AX") == [
        f'{path}:5: the tag "Sarcasm" is neither a phenomenon of the manifest nor an alias of one',
        f'{path}:5: the tag "Irony" is neither a phenomenon of the manifest nor an alias of one',
        f'{path}:5: the label is "maybe", expected one of entailment, neutral, contradiction',
        f"{path}:6: 4 columns, expected 8",
    ]


def test_the_file_without_tags_is_refused(folder, problems) -> None:
    path = folder / "diagnostic-full.tsv"
    path.write_text("index\tsentence1\tsentence2\n0\ta\tb\n")
    (told,) = problems("ax", folder, "AX")
    assert told.startswith(f'{path}:1: the header is "index sentence1 sentence2", expected columns of tags')


@needs_real
def test_the_papers_file_has_its_published_counts(make, released) -> None:
    real = REAL / "glue" / "AX"
    test = make("ax", real, "AX").splits["test"]
    _, *rows = released(real / "diagnostic-full.tsv")
    assert list(zip(test["premise"], test["hypothesis"], test["label"], strict=True)) == [
        tuple(row[5:]) for row in rows
    ]
    assert Counter(test["label"]) == {"entailment": 460, "neutral": 386, "contradiction": 258}
    domains = Counter(test["domain"])
    assert domains == {"Artificial": 300, "News": 204, "Wikipedia": 200, "ACL": 200, "Reddit": 200}
    assert sum(map(len, test["phenomena"])) == 1540
    assert [row for row, tags in enumerate(test["phenomena"]) if not tags] == [430, 431]
    pairs = list(zip(test["premise"], test["hypothesis"], strict=True))
    assert [(two, one) for one, two in pairs[::2]] == pairs[1::2]


TABLE_7 = {
    "Lexical Semantics": (368, 31.0, 27.2, 41.8),
    "Predicate-Argument Structure": (424, 37.0, 13.7, 49.3),
    "Logic": (364, 37.6, 26.9, 35.4),
    "Knowledge": (284, 26.4, 31.7, 41.9),
}
"""Count and per cent neutral, contradiction, entailment, as the paper prints them."""


@needs_real
def test_table_7_of_the_paper_follows_to_the_digit(make) -> None:
    task = load_benchmark("glue").task("AX")
    coarse = {phenomenon.name: phenomenon.coarse for phenomenon in task.phenomena}
    test = make("ax", REAL / "glue" / "AX", task).splits["test"]
    for category, (count, *shares) in TABLE_7.items():
        tagged = [
            label
            for tags, label in zip(test["phenomena"], test["label"], strict=True)
            if category in {coarse[tag] for tag in tags}
        ]
        assert len(tagged) == count
        found = [tagged.count(label) / count * 100 for label in ("neutral", "contradiction", "entailment")]
        assert [round(share, 1) for share in found] == shares, category
