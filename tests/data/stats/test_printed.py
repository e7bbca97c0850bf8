"""When a printed size agrees with the files, and which splits it speaks of."""

from __future__ import annotations

from decimal import ROUND_DOWN, ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gluebench.benchmark import load_benchmark
from gluebench.data.stats.describe import agreement, sizes_beside


@pytest.mark.parametrize(
    ("size", "printed", "expected"),
    [
        (8551, "8.5k", "cut"),  # CoLA, train
        (1063, "1k", "rounded"),
        (67349, "67k", "rounded"),
        (5749, "7k", "differs"),  # STS-B, train
        (19643, "20k", "rounded"),  # MNLI, both test sections
        (5463, "5.4k", "cut"),  # QNLI, test
        (2490, "2.5k", "rounded"),  # RTE
        (3000, "3k", "exact"),
        (635, "634", "differs"),  # WNLI, train: a figure without k is exact
        (1104, "1100", "differs"),  # AX
        (549_367, "550k", "differs"),
        (1_500_000, "1.5M", "exact"),
        (12_345, "12,345", "exact"),
        (1500, "1k", "rounded"),  # 2k is not nearer
        (1501, "1k", "cut"),
        (2500, "3k", "rounded"),
        (2000, "1k", "differs"),
        (999, "1k", "rounded"),
        (499, "1k", "differs"),
        (100, "about 100", None),
    ],
)
def test_a_printed_size_agrees_if_it_is_the_exact_one_rounded_or_cut(
    size: int, printed: str, expected: str | None
) -> None:
    assert agreement(size, printed) == expected


@given(st.integers(1, 10_000_000), st.integers(1, 10_000_000), st.sampled_from([1, 100, 1000]))
def test_it_is_what_decimals_own_rounding_says(size: int, other: int, step: int) -> None:
    figure = Decimal(other // step * step)
    printed = {1: f"{figure}", 100: f"{figure / 1000:.1f}k", 1000: f"{figure / 1000:.0f}k"}[step]
    exact = Decimal(size) / step
    rounded = {exact.quantize(Decimal(1), rounding=way) * step for way in (ROUND_HALF_UP, ROUND_HALF_DOWN)}
    cut = exact.quantize(Decimal(1), rounding=ROUND_DOWN) * step
    expected = (
        "exact"
        if figure == size
        else "rounded"
        if figure in rounded
        else "cut"
        if figure == cut
        else "differs"
    )
    assert agreement(size, printed) == expected


def test_a_test_set_of_two_files_is_both_together() -> None:
    mnli = load_benchmark("glue").task("MNLI")
    rows = {name: split.size for name, split in mnli.splits.items()}
    train, test = sizes_beside(mnli, rows)
    assert (train.size, train.agreement) == (392_702, "rounded")
    assert (test.splits, test.size) == (("test_matched", "test_mismatched"), 19_643)
    _, half = sizes_beside(mnli, {**rows, "test_matched": None})
    assert (half.size, half.agreement) == (None, None)


@pytest.mark.parametrize(
    ("task", "said"), [("STS-B", "train and dev together"), ("WNLI", "635"), ("AX", "1,104")]
)
def test_a_figure_that_differs_comes_with_what_the_manifest_says_of_it(task: str, said: str) -> None:
    record = load_benchmark("glue").task(task)
    differing = [
        each
        for each in sizes_beside(record, {name: split.size for name, split in record.splits.items()})
        if each.agreement == "differs"
    ]
    assert len(differing) == 1
    assert len(differing[0].notes) == 1
    assert said in differing[0].notes[0]


def test_the_released_sizes_of_all_other_tasks_agree_with_table_1() -> None:
    for task in load_benchmark("glue").scored:
        rows = {name: split.size for name, split in task.splits.items()}
        differing = {each.name for each in sizes_beside(task, rows) if each.agreement == "differs"}
        assert differing == ({"train"} if task.name in {"STS-B", "WNLI"} else set())
