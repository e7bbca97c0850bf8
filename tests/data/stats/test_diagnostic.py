"""Table 7 of the paper: by hand, and from the released diagnostic set to the digit."""

from __future__ import annotations

from pathlib import Path

import pytest
from real import REAL, needs_real

from gluebench.benchmark import load_benchmark
from gluebench.data import DataError
from gluebench.data.sources.folder import prepare_from_folder
from gluebench.data.sources.release import load_release
from gluebench.data.stats.describe import categories, describe, on_disk

GLUE = load_benchmark("glue")
AX = GLUE.task("AX")


def test_an_example_counts_once_in_each_category_it_has_tags_of() -> None:
    tags = [["Negation", "Double Negation"], ["Negation", "Quantifiers"], [], ["Quantifiers"]]
    labels = ["entailment", "neutral", "neutral", "neutral"]
    found = {each.name: each for each in categories(AX, tags, labels)}
    assert list(found) == ["Lexical Semantics", "Predicate-Argument Structure", "Logic", "Knowledge"]
    assert found["Logic"].examples == 2
    assert found["Logic"].labels == {"entailment": 1, "neutral": 1, "contradiction": 0}
    assert found["Logic"].percentage("neutral") == 50.0
    assert found["Lexical Semantics"].labels == {"entailment": 0, "neutral": 2, "contradiction": 0}
    assert found["Knowledge"].examples == 0
    assert found["Knowledge"].percentage("neutral") is None
    assert found["Logic"].agrees is False


def test_hidden_labels_leave_the_counts() -> None:
    logic = categories(AX, [["Negation"]], None)[2]
    assert (logic.examples, logic.labels, logic.agrees) == (1, None, None)


def test_a_tag_that_is_no_phenomenon_is_refused() -> None:
    with pytest.raises(DataError, match=r"'Irony' \(2 rows\) is not a phenomenon"):
        categories(AX, [["Irony"], ["Irony", "Negation"]], None)


@needs_real
def test_table_7_comes_out_to_the_digit(tmp_path: Path) -> None:
    prepare_from_folder(REAL / "glue", tmp_path, GLUE, AX, load_release("glue"))
    stats = describe(AX, on_disk(tmp_path, GLUE, AX))
    found = stats.categories["test"]
    words = ("neutral", "contradiction", "entailment")
    assert [(each.name, each.examples, *map(each.percentage, words)) for each in found] == [
        ("Lexical Semantics", 368, 31.0, 27.2, 41.8),
        ("Predicate-Argument Structure", 424, 37.0, 13.7, 49.3),
        ("Logic", 364, 37.6, 26.9, 35.4),
        ("Knowledge", 284, 26.4, 31.7, 41.9),
    ]
    assert all(each.agrees for each in found)
