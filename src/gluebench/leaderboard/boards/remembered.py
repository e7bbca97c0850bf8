"""Numbers out of reports, read once for each grading: a report is kilobytes of JSON, and there are many."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock

Numbers = tuple[float | None, ...]
Read = Callable[[Sequence[int]], Mapping[int, Numbers]]
"""From rows' keys to their numbers; rows that are gone by now may be left out."""

AT_ONCE = 500
"""Rows asked of the database in one query: SQLite takes no more than some thousand parameters."""


class Remembered:
    """What was read, for the boards asked for last. Safe to use from several threads."""

    def __init__(self, boards: int) -> None:
        self._boards = boards
        self._kept: OrderedDict[Hashable, dict[int, tuple[Hashable, Numbers]]] = OrderedDict()
        self._lock = Lock()

    def numbers(self, board: Hashable, stamps: Mapping[int, Hashable], read: Read) -> dict[int, Numbers]:
        """The numbers of these rows; `read` is asked for those whose stamp is another than before."""
        with self._lock:
            before = self._kept.get(board, {})
        now = {row: before[row] for row, stamp in stamps.items() if row in before and before[row][0] == stamp}
        missing = [row for row in stamps if row not in now]
        for start in range(0, len(missing), AT_ONCE):
            found = read(missing[start : start + AT_ONCE])
            now.update((row, (stamps[row], numbers)) for row, numbers in found.items())
        with self._lock:
            self._kept[board] = now
            self._kept.move_to_end(board)
            while len(self._kept) > self._boards:
                self._kept.popitem(last=False)
        return {row: numbers for row, (_, numbers) in now.items()}
