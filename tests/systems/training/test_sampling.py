"""Which task and which examples an update is of, and what its loss counts, by hand and by counting."""

from __future__ import annotations

import math
import random
from collections import Counter
from itertools import islice, pairwise
from typing import Any

import pytest
from scipy.stats import chisquare

from gluebench.benchmark import load_benchmark
from gluebench.systems.training.sampling import (
    batch_count,
    batch_draws,
    loss_scales,
    plan,
    run_draws,
    sampling_weights,
    task_draws,
)
from gluebench.systems.training.settings import Settings


def test_batches_of_a_pass_count_the_last_that_is_not_full() -> None:
    assert [batch_count(size, 128) for size in (1, 128, 129, 2490)] == [1, 1, 2, 20]


def test_batches_have_every_row_once_and_rows_of_like_lengths() -> None:
    rng = random.Random(3)
    lengths = [(rng.randint(5, 120),) for _ in range(1000)]
    draws = batch_draws("RTE", lengths, size=16, seed=1, bucketed=True)
    first, second = (list(islice(draws, 63)) for _ in range(2))
    assert sorted(row for part in first for row in part) == list(range(1000))
    padded = sum(max(lengths[row][0] for row in part) * len(part) for part in first)
    assert padded < 1.15 * sum(length for (length,) in lengths)
    # Had each pass the same batches, an example would always meet the same others.
    pairs = [{frozenset(part) for part in parts} for parts in (first, second)]
    assert not pairs[0] & pairs[1]
    met = [{(a, b) for part in parts for a in part for b in part if a < b} for parts in (first, second)]
    assert len(met[0] & met[1]) < 0.2 * len(met[0])


def test_batches_are_padded_as_little_as_transformers_does_and_not_in_the_order_of_their_lengths() -> None:
    pytest.importorskip("transformers", reason="transformers is not installed (gluebench[hf])")
    import torch
    from transformers.trainer_pt_utils import get_length_grouped_indices

    chance = random.Random(5)
    lengths = [min(128, 5 + int(chance.expovariate(1 / 30))) for _ in range(3000)]
    theirs = get_length_grouped_indices(lengths, 32, generator=torch.Generator().manual_seed(1))
    planned = {
        "ours": plan([(length,) for length in lengths], size=32, rng=random.Random(1)),
        "theirs": [theirs[start : start + 32] for start in range(0, len(theirs), 32)],
    }
    tokens = {}
    falling = {}
    for name, batches in planned.items():
        longest = [max(lengths[row] for row in batch) for batch in batches]
        tokens[name] = sum(len(batch) * most for batch, most in zip(batches, longest, strict=True))
        falling[name] = sum(before > after for before, after in pairwise(longest)) / len(longest)
    assert tokens["ours"] == pytest.approx(tokens["theirs"], rel=0.02)
    assert falling["theirs"] > 0.7
    assert 0.35 < falling["ours"] < 0.6


def test_weights_are_batches_or_examples() -> None:
    sizes = {"big": 1000, "small": 130}
    assert sampling_weights(sizes, Settings()) == {"big": 8, "small": 2}
    assert sampling_weights(sizes, Settings(sampling="examples")) == {"big": 1000, "small": 130}


def test_losses_are_scaled_by_the_largest_task_over_the_own() -> None:
    sizes = {"big": 1000, "small": 130}
    assert loss_scales(sizes, Settings()) == {"big": 1.0, "small": 4.0}
    assert loss_scales(sizes, Settings(scaling="examples")) == {"big": 1.0, "small": 1000 / 130}
    assert loss_scales(sizes, Settings(scaling="none")) == {"big": 1.0, "small": 1.0}


def test_the_scales_of_glue_with_snli_are_those_of_the_original_run() -> None:
    # SNLI 1.0, MNLI 1.4, QQP 1.5, QNLI 5.2, SST 8.1, CoLA 64, STS 95, MRPC 148, RTE 215 and WNLI 858 there.
    suite = load_benchmark("glue")
    tasks = [*suite.scored, suite.dataset("SNLI")]
    scales = loss_scales({task.name: task.splits["train"].size for task in tasks}, Settings())
    expected = {
        "SNLI": 1.0, "MNLI": 1.4, "QQP": 1.5, "QNLI": 5.2, "SST-2": 8.1, "CoLA": 64, "STS-B": 95,
        "MRPC": 148, "RTE": 215, "WNLI": 858,
    }  # fmt: skip
    assert scales == {name: pytest.approx(value, rel=0.05) for name, value in expected.items()}


def test_tasks_are_drawn_in_proportion_with_replacement() -> None:
    sampler = task_draws([{"a": 6, "b": 3, "c": 1}], seed=111)
    counts = Counter(islice(sampler, 10_000))
    assert chisquare([counts[name] for name in "abc"], [6000, 3000, 1000]).pvalue > 0.001
    assert counts != Counter(a=6000, b=3000, c=1000)  # as drawing without replacement would give


GLUE_SIZES = {"MNLI": 392_702, "SST-2": 67_349, "CoLA": 8_551, "RTE": 2_490}


@pytest.mark.parametrize(
    ("options", "of_one"),
    [
        ({"sampling": "examples"}, lambda size: size),
        ({"sampling": "square-root"}, math.sqrt),
        ({"sampling": "temperature", "temperature": 4.0}, lambda size: math.sqrt(math.sqrt(size))),
        ({"sampling": "temperature", "size_limit": 20_000}, lambda size: min(size, 20_000)),
        ({"sampling": "uniform"}, lambda size: 1),
        ({"sampling": "batches", "batch_size": 32}, lambda size: math.ceil(size / 32)),
    ],
    ids=["proportional", "square root", "temperature", "T5's limit", "uniform", "the paper's code"],
)
def test_tasks_are_drawn_as_often_as_the_formula_says(options: dict[str, Any], of_one: Any) -> None:
    settings = Settings(**options)
    counts = Counter(islice(run_draws(GLUE_SIZES, settings, period=1000), 40_000))
    shares = {name: of_one(size) for name, size in GLUE_SIZES.items()}
    expected = [40_000 * share / sum(shares.values()) for share in shares.values()]
    assert chisquare([counts[name] for name in GLUE_SIZES], expected).pvalue > 0.001


def test_annealed_draws_go_from_proportional_to_the_power_of_a_fifth() -> None:
    settings = Settings(sampling="annealed", max_checks=5)
    draws = run_draws(GLUE_SIZES, settings, period=20_000)
    for exponent in (1.0, 0.8, 0.6, 0.4, 0.2, 0.2):  # the last for a run that would go on
        counts = Counter(islice(draws, 20_000))
        powers = [size**exponent for size in GLUE_SIZES.values()]
        expected = [20_000 * power / sum(powers) for power in powers]
        assert chisquare([counts[name] for name in GLUE_SIZES], expected).pvalue > 0.001


def test_temperature_two_is_the_square_root_and_one_is_proportional() -> None:
    for temperature, same in ((2.0, "square-root"), (1.0, "examples")):
        settings = Settings(sampling="temperature", temperature=temperature)
        other = Settings(sampling=same)  # type: ignore[arg-type]
        assert sampling_weights(GLUE_SIZES, settings) == pytest.approx(sampling_weights(GLUE_SIZES, other))


def test_a_run_of_one_check_is_not_annealed() -> None:
    assert sampling_weights(GLUE_SIZES, Settings(sampling="annealed", max_checks=1)) == GLUE_SIZES


def test_draws_depend_on_the_seed_alone() -> None:
    first, again, other = (task_draws([{"a": 1, "b": 1}], seed=seed) for seed in (1, 1, 2))
    drawn = [list(islice(sampler, 50)) for sampler in (first, again, other)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("bucketed", [True, False])
def test_each_pass_holds_every_example_once_in_an_order_of_its_own(bucketed: bool) -> None:
    stream = batch_draws("a", [(place % 5,) for place in range(23)], size=4, seed=1, bucketed=bucketed)
    passes = [list(islice(stream, 6)) for _ in range(3)]
    for batches in passes:
        assert sorted(position for batch in batches for position in batch) == list(range(23))
        assert sorted(map(len, batches)) == [3, 4, 4, 4, 4, 4]
    assert passes[0] != passes[1] != passes[2]
