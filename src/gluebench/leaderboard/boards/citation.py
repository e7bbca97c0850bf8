"""How to cite an entry: a BibTeX record with its permanent address."""

from __future__ import annotations

from gluebench.leaderboard.common.escapes import latex
from gluebench.leaderboard.common.formats import percent
from gluebench.leaderboard.submissions.models import Submission


def citation(submission: Submission, address: str) -> str:
    """A BibTeX record of an entry as it stands now; `address` is the full one of its page."""
    when = submission.submitted
    who = submission.team or submission.name
    title = (
        f"{submission.name} ({submission.model}): an entry of the {submission.benchmark.title} leaderboard"
    )
    score = f"Score {percent(submission.value)}. " if submission.value is not None else ""
    fields = {
        "author": f"{{{latex(who)}}}",
        "title": f"{{{latex(title)}}}",
        "year": str(when.year),
        "month": when.strftime("%b").lower(),
        "howpublished": f"\\url{{{address}}}",
        "note": latex(f"{score}Scored by gluebench"),
    }
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if name != "month"]
    lines.insert(3, f"  month = {fields['month']}")
    return f"@misc{{{submission.benchmark.name}-{submission.key},\n" + ",\n".join(lines) + "\n}\n"
