"""Which label is taken for which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Confusion(NamedTuple):
    """How often each gold label was answered by each label, on some examples."""

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """`counts[gold][answer]`, both in the order of `labels`."""

    @property
    def n(self) -> int:
        """The number of examples."""
        return sum(map(sum, self.counts))

    @property
    def gold(self) -> tuple[int, ...]:
        """Examples of each gold label."""
        return tuple(map(sum, self.counts))

    @property
    def answered(self) -> tuple[int, ...]:
        """Examples answered by each label."""
        return tuple(map(sum, zip(*self.counts, strict=True)))

    @property
    def recall(self) -> tuple[float | None, ...]:
        """Share of each gold label's examples that were answered by it; None for a label without examples."""
        return tuple(_share(self.counts[code][code], total) for code, total in enumerate(self.gold))

    @property
    def precision(self) -> tuple[float | None, ...]:
        """Share of each label's answers that were right; None for a label never answered."""
        return tuple(_share(self.counts[code][code], total) for code, total in enumerate(self.answered))

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready: gold label to answer to count."""
        return {
            gold: dict(zip(self.labels, row, strict=True))
            for gold, row in zip(self.labels, self.counts, strict=True)
        }

    @classmethod
    def of(cls, values: Mapping[str, Mapping[str, int]]) -> Confusion:
        """The table whose `as_dict` gave these values."""
        return cls(tuple(values), tuple(tuple(row[answer] for answer in values) for row in values.values()))


def _share(part: int, total: int) -> float | None:
    return part / total if total else None
