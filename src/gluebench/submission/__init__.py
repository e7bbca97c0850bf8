"""Reading, checking, explaining and writing submissions; nothing here ever opens a label.

What only some commands need is loaded when first used: a check should cost no more than it must.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from gluebench.submission.check import check
from gluebench.submission.column import Column
from gluebench.submission.problems import SHOWN_PER_FILE, Problem
from gluebench.submission.submission import Submission

if TYPE_CHECKING:
    from gluebench.submission.fix import Fixed, fix_submission, read_predictions
    from gluebench.submission.original_site import official
    from gluebench.submission.write import write_submission

_LATER = {
    "Fixed": "fix",
    "fix_submission": "fix",
    "official": "original_site",
    "read_predictions": "fix",
    "write_submission": "write",
}

__all__ = [
    "SHOWN_PER_FILE",
    "Column",
    "Fixed",
    "Problem",
    "Submission",
    "check",
    "fix_submission",
    "official",
    "read_predictions",
    "write_submission",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'gluebench.submission' has no attribute {name!r}")
    return getattr(import_module(f"gluebench.submission.{_LATER[name]}"), name)
