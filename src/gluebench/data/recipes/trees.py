"""The phrases of a tree written as the number of each node's parent."""

from __future__ import annotations

from collections.abc import Sequence


def phrases(words: Sequence[str], parents: Sequence[str]) -> list[str] | None:
    """The text under each node, the root's last; None if the numbers are no tree over the words.

    Nodes are counted from 1, the words' own come first, and the root's parent is 0.
    """
    numbers = [int(parent) if parent.isdecimal() else -1 for parent in parents]
    sound = len(numbers) >= len(words) and all(0 <= number <= len(numbers) for number in numbers)
    if not sound or numbers.count(0) != 1:
        return None
    below: list[list[int]] = [[] for _ in numbers]
    for leaf in range(len(words)):
        node = leaf
        for _ in numbers:
            below[node].append(leaf)
            if not numbers[node]:
                break
            node = numbers[node] - 1
        else:  # The way up never came to the root.
            return None
    if any(not leaves or leaves[-1] - leaves[0] >= len(leaves) for leaves in below):
        return None
    return [" ".join(words[leaves[0] : leaves[-1] + 1]) for leaves in sorted(below, key=len)]
