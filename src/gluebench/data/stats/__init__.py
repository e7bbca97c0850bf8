"""What a benchmark's examples are like: sizes, labels, lengths, words, and the paper's Tables 1 and 7."""

from gluebench.data.stats.describe import TaskStats, describe, on_disk
from gluebench.data.stats.diagnostic import Category, categories
from gluebench.data.stats.printed import Agreement, SizeBeside, agreement, sizes_beside, splits_called
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
