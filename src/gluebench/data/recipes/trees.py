"""The phrases of a tree written as the number of each node's parent."""

from __future__ import annotations

from collections.abc import Sequence


def phrases(words: Sequence[str], parents: Sequence[str]) -> list[str] | None:
    """The text under each node, the root's last; None if the numbers are no tree over the words.

    Nodes are counted from 1, the words' own come first, and the root's parent is 0.
    """
    numbers = [int(parent) if parent.isdecimal() else -1 for parent in parents]
    leaves = len(words)
    if (
        len(numbers) < leaves
        or numbers.count(0) != 1
        or not all(0 <= each <= len(numbers) for each in numbers)
    ):
        return None
    low, high, reached = [leaves] * (len(numbers) + 1), [0] * (len(numbers) + 1), [0] * (len(numbers) + 1)
    for leaf in range(1, leaves + 1):
        node = leaf
        for _ in range(len(numbers)):
            low[node], high[node] = min(low[node], leaf - 1), max(high[node], leaf)
            reached[node] += 1
            if not (node := numbers[node - 1]):
                break
        else:
            return None
    spans = list(zip(low, high, reached, strict=True))[1:]
    if any(last - first != count for first, last, count in spans):
        return None
    return [" ".join(words[first:last]) for first, last, _ in sorted(spans, key=lambda span: span[2])]
