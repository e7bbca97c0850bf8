"""Labels, lengths and vocabulary of a split, by hand and against other implementations."""

from __future__ import annotations

import statistics
import tracemalloc
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.benchmark import load_benchmark
from gluebench.data import Example
from gluebench.data.stats.describe import (
    LabelShare,
    SplitCounts,
    interval_of,
    lengths,
    score_edges,
    vocabulary,
)

GLUE = load_benchmark("glue")


def pair(index: int, one: str, two: str, label: str | float | None) -> Example:
    return Example(index, {"sentence1": one, "sentence2": two}, label)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=200))
def test_lengths_are_those_of_statistics_and_numpy(found: list[int]) -> None:
    figures = lengths(Counter(found))
    assert figures.mean == pytest.approx(statistics.mean(found))
    assert figures.median == statistics.median(found)
    assert figures.p95 == np.percentile(found, 95, method="inverted_cdf")
    assert figures.longest == max(found)


def test_a_split_by_hand() -> None:
    rows = [
        pair(0, "A red kite.", "The red kite flew.", "1"),
        pair(1, "No", "no", "0"),
        pair(2, "", "It's late!", "1"),
    ]
    stats = SplitCounts(GLUE.task("MRPC")).add(rows).stats("dev", seen={"a", "red", "no", "."})
    assert stats.examples == 3
    assert stats.labels is not None
    assert stats.labels.parts == (
        LabelShare("0", 1, pytest.approx(1 / 3)),
        LabelShare("1", 2, pytest.approx(2 / 3)),
    )
    assert stats.lengths["sentence1"] == (pytest.approx(5 / 3), 1.0, 4, 4)
    assert stats.lengths["sentence2"] == (pytest.approx(9 / 3), 3.0, 5, 5)
    # red and kite of a, red, kite, the, flew; no of no; nothing of it's and late
    assert stats.overlap == pytest.approx((2 / 5 + 1 + 0) / 3)
    # a red kite . | the red kite flew . | no | no | it's late !
    words = stats.vocabulary
    assert (words.tokens, words.types) == (14, 10)
    assert words.unseen_types == pytest.approx(6 / 10)
    assert words.unseen_tokens == pytest.approx(7 / 14)


def test_scores_are_counted_by_unit_and_averaged() -> None:
    scores = [0.0, 0.999, 1.0, 3.8, 4.0, 5.0, 5.0]
    rows = [pair(at, "a", "b", score) for at, score in enumerate(scores)]
    labels = SplitCounts(GLUE.task("STS-B")).add(rows).stats("train").labels
    assert labels is not None
    assert [(part.name, part.examples) for part in labels.parts] == [
        ("0 to 1", 2),
        ("1 to 2", 1),
        ("2 to 3", 0),
        ("3 to 4", 1),
        ("4 to 5", 3),
    ]
    assert labels.mean == pytest.approx(statistics.mean(scores))


def test_scores_out_of_range_are_told_apart() -> None:
    rows = [pair(0, "a", "b", -0.5), pair(1, "a", "b", 5.01), pair(2, "a", "b", 2.0)]
    labels = SplitCounts(GLUE.task("STS-B")).add(rows).stats("train").labels
    assert labels is not None
    assert {part.name: part.examples for part in labels.parts if part.examples} == {
        "below 0": 1,
        "2 to 3": 1,
        "above 5": 1,
    }


@given(st.floats(0, 5))
def test_every_score_is_in_the_interval_it_is_counted_in(score: float) -> None:
    edges = score_edges((0.0, 5.0))
    at = interval_of(score, edges)
    assert edges[at] <= score <= edges[at + 1]


@pytest.mark.parametrize(
    ("span", "count"), [((0.0, 5.0), 5), ((-1.0, 1.0), 2), ((0.0, 0.5), 5), ((0.0, 100.0), 5)]
)
def test_intervals_are_units_or_fifths(span: tuple[float, float], count: int) -> None:
    edges = score_edges(span)
    assert (edges[0], edges[-1], len(edges)) == (*span, count + 1)


def test_hidden_labels_are_no_labels() -> None:
    assert SplitCounts(GLUE.task("MRPC")).add([pair(0, "a", "b", None)]).stats("test").labels is None


def test_without_train_nothing_is_called_unseen() -> None:
    assert vocabulary({"a": 2, "b": 1}) == (3, 2, None, None)
    assert vocabulary({}, {"a"}) == (0, 0, None, None)


def test_what_is_kept_does_not_grow_with_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gluebench.data.stats.describe._TOGETHER", 500)

    def rows(count: int) -> Iterator[Example]:
        return (pair(at, f"word{at % 50} again", "and again", "1") for at in range(count))

    def peak(count: int) -> int:
        tracemalloc.start()
        SplitCounts(GLUE.task("QQP")._replace(columns=("sentence1", "sentence2"))).add(rows(count))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(10)  # what is imported and cached once
    assert peak(8_000) < 1.3 * peak(2_000)
