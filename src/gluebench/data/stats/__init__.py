"""What a benchmark's examples are like: sizes, labels, lengths, words, and the paper's Tables 1 and 7."""

from gluebench.data.stats.describe import (
    Agreement,
    Category,
    SizeBeside,
    TaskStats,
    agreement,
    categories,
    describe,
    on_disk,
    sizes_beside,
    splits_called,
)
from gluebench.data.stats.tally import Labels, Lengths, Part, SplitStats, Tally, Vocabulary

__all__ = [
    "Agreement",
    "Category",
    "Labels",
    "Lengths",
    "Part",
    "SizeBeside",
    "SplitStats",
    "Tally",
    "TaskStats",
    "Vocabulary",
    "agreement",
    "categories",
    "describe",
    "on_disk",
    "sizes_beside",
    "splits_called",
]
