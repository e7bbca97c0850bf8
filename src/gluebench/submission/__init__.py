"""Reading, checking, explaining and writing submissions; nothing here ever opens a label.

What only some commands need is loaded when first used: a check should cost no more than it must.
"""

from typing import TYPE_CHECKING, Any

from gluebench.submission.check import check, official
from gluebench.submission.problems import SHOWN_PER_FILE, Problem
from gluebench.submission.submission import Column, Submission

if TYPE_CHECKING:
    from gluebench.submission.values import SubmissionError
    from gluebench.submission.write import Fixed, fix_submission, read_predictions, write_submission

__all__ = [
    "SHOWN_PER_FILE",
    "Column",
    "Fixed",
    "Problem",
    "Submission",
    "SubmissionError",
    "check",
    "fix_submission",
    "official",
    "read_predictions",
    "write_submission",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'gluebench.submission' has no attribute {name!r}")
    from gluebench.submission import values, write

    return getattr(values if name == "SubmissionError" else write, name)
