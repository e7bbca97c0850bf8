"""What is wrong with files of examples, all of it at once."""

from __future__ import annotations

from collections.abc import Sequence

SHOWN = 20
"""Problems of one file that are told in full; the rest are counted."""


class DataError(ValueError):
    """Examples that cannot be used; the message has a line for each problem."""

    def __init__(self, problems: Sequence[str], *, shown: int | None = SHOWN) -> None:
        told = list(problems) if shown is None else list(problems[:shown])
        more = [f"... and {len(problems) - len(told)} more"] if len(problems) > len(told) else []
        super().__init__("\n".join([*told, *more]))
        self.problems = list(problems)
        """Each names the file, the line or value, and what was expected."""
