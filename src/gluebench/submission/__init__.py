"""Reading, checking, explaining and writing submissions; nothing here ever opens a label."""

from gluebench.submission.check import check
from gluebench.submission.column import Column
from gluebench.submission.mend import Mended, fix_submission
from gluebench.submission.official import official
from gluebench.submission.problems import SHOWN_PER_FILE, Problem
from gluebench.submission.submission import Submission
from gluebench.submission.write import read_predictions, write_submission

__all__ = [
    "SHOWN_PER_FILE",
    "Column",
    "Mended",
    "Problem",
    "Submission",
    "check",
    "fix_submission",
    "official",
    "read_predictions",
    "write_submission",
]
