from __future__ import annotations

import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from gluebench.systems.neural.bilstm import groups
from gluebench.systems.training.sampling import plan

lengths_of_items = st.integers(1, 2).flatmap(
    lambda sides: st.lists(st.tuples(*[st.integers(1, 40)] * sides), min_size=1, max_size=60)
)


@given(lengths_of_items, st.integers(1, 7), st.booleans(), st.integers(0, 3))
def test_every_item_comes_once_in_batches_that_are_full_but_one(
    lengths: list[tuple[int, ...]], size: int, bucketed: bool, seed: int
) -> None:
    found = plan(lengths, size=size, rng=random.Random(seed), bucketed=bucketed)
    assert sorted(itertools.chain(*found)) == list(range(len(lengths)))
    assert sorted(map(len, found))[1:] == [size] * (len(found) - 1)


def padding(lengths: list[tuple[int, int]], found: list[list[int]]) -> float:
    """Places of both sides over their tokens."""
    places = sum(len(batch) * max(lengths[at][side] for at in batch) for batch in found for side in range(2))
    return places / sum(map(sum, lengths))


def test_batches_of_like_lengths_spend_little_on_padding() -> None:
    rng = random.Random(1)
    lengths = [(min(40, int(rng.lognormvariate(3.2, 0.6)) + 1), rng.randint(3, 20)) for _ in range(3200)]
    bucketed = padding(lengths, plan(lengths, size=32, rng=rng))
    shuffled = padding(lengths, plan(lengths, size=32, rng=rng, bucketed=False))
    assert bucketed < 1.2 < 1.5 < shuffled


def test_the_order_is_the_generators_and_another_each_time() -> None:
    lengths = [(at % 9 + 1,) for at in range(200)]
    one, other = random.Random(5), random.Random(5)
    first, second = (plan(lengths, size=8, rng=one) for _ in range(2))
    assert first != second
    assert [plan(lengths, size=8, rng=other) for _ in range(2)] == [first, second]
    # neither the long ones nor the short ones come first
    means = [sum(lengths[at][0] for at in batch) for batch in first]
    assert means != sorted(means)


def test_no_items_make_no_batches() -> None:
    assert plan([], size=4, rng=random.Random(0)) == []


@given(st.lists(st.integers(1, 12), min_size=1, max_size=9), st.integers(0, 6))
def test_groups_are_the_cheapest_of_all(lengths: list[int], step: int) -> None:
    lengths.sort()

    def cost(bounds: tuple[int, ...]) -> int:
        return sum(lengths[end - 1] * (end - begin + step) for begin, end in itertools.pairwise(bounds))

    inner = range(1, len(lengths))
    cheapest = min(
        cost((0, *cuts, len(lengths)))
        for count in range(len(lengths))
        for cuts in itertools.combinations(inner, count)
    )
    assert cost(tuple(groups(lengths, step=step))) == cheapest
