"""Rows that depend on each other, and tests that respect it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

import numpy as np

from gluebench.scoring.intervals import student_t_two_sided


def text_groups(rows: Sequence[tuple[str, ...]]) -> list[int]:
    """The group of each row, numbered from 0 in the order of the rows.

    Where neighbors are one pair read in both directions, as in AX, they are a group. Else rows are in one
    group if they have the same first text, as the hypotheses of one premise, or the same texts in another
    order. A first text of more than half of the rows, as an instruction, makes no group.
    """
    if _in_pairs(rows):
        return [row // 2 for row in range(len(rows))]
    instruction = None
    [(most_frequent, number)] = Counter(texts[0] for texts in rows).most_common(1)
    if 2 * number > len(rows):
        instruction = most_frequent
    # Union-find: each row's parent is an earlier row of its group, or the row itself.
    parents = list(range(len(rows)))

    def root(row: int) -> int:
        while parents[row] != row:
            parents[row] = parents[parents[row]]
            row = parents[row]
        return row

    first_rows: dict[object, int] = {}
    for row, texts in enumerate(rows):
        keys: list[object] = [tuple(sorted(texts))]
        if texts[0] != instruction:
            keys.append(texts[0])
        for key in keys:
            earlier = root(first_rows.setdefault(key, row))
            own = root(row)
            parents[max(earlier, own)] = min(earlier, own)
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(row), len(numbers)) for row in range(len(rows))]


def _in_pairs(texts: Sequence[tuple[str, ...]]) -> bool:
    """Whether rows 0 and 1, 2 and 3, and so on have the same two texts in both orders."""
    return len(texts) % 2 == 0 and all(
        texts[row] == tuple(reversed(texts[row + 1])) for row in range(0, len(texts), 2)
    )


def sums_of(values: Sequence[float], groups: Sequence[int]) -> list[float]:
    """The sum of the values of each group."""
    sums = [0.0] * (max(groups) + 1)
    for value, group in zip(values, groups, strict=True):
        sums[group] += value
    return sums


def sign_flip_p(sums: Sequence[float]) -> float:
    """The two-sided p-value that gains of groups, whole numbers, are 0 on average; by flipping their signs.

    The mid-p over all signs, in closed form. Where each gain is 1 or -1, it is McNemar's.
    """
    sizes = Counter(abs(round(gain)) for gain in sums if gain)
    chances = np.ones(1)  # of each possible sum, from the lowest to the highest, in steps of 2
    for size, number in sizes.items():
        positive = np.arange(number)
        ways = np.cumsum(np.log((number - positive) / (positive + 1)))
        of_size = np.zeros(size * number + 1)
        of_size[::size] = np.exp(np.append(0.0, ways) - number * log(2))
        chances = np.convolve(chances, of_size)
    possible = np.abs(2 * np.arange(len(chances)) - (len(chances) - 1))
    observed = abs(round(sum(sums)))
    if observed == 0:
        return 1.0
    return float(chances[possible > observed].sum() + chances[possible == observed].sum() / 2)


def clustered_t_p(products: Sequence[float], groups: Sequence[int]) -> float:
    """The two-sided p-value that the mean of the products is 0; Student's t over the sums of groups."""
    sums = np.array(sums_of(products, groups))
    if np.ptp(sums) == 0:  # also of a single group
        return 1.0
    error = float(sums.std(ddof=1)) * len(sums) ** 0.5
    return student_t_two_sided(float(sums.sum()) / error, len(sums) - 1)


def design_effect(labels: Sequence[int], groups: Sequence[int], *, pooled: Sequence[float]) -> float:
    """How many times as much the shares of labels vary as of independent rows; at least 1.

    The mean over labels (Rao and Scott 1981). `pooled` are the shares in all samples that are compared.
    """
    size = max(groups) + 1
    number = len(labels)
    table = np.bincount(np.array(groups) * len(pooled) + labels, minlength=size * len(pooled))
    table = table.reshape(size, len(pooled))
    residuals = table - table.sum(axis=1, keepdims=True) * (table.sum(axis=0) / number)
    shares = np.array(pooled)
    seen = shares > 0
    variances = size / max(size - 1, 1) * (residuals**2).sum(axis=0)
    effect = (variances[seen] / shares[seen]).sum() / number / max(seen.sum() - 1, 1)
    return max(1.0, float(effect))
