"""Filters that write numbers; see `common/formats.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

from gluebench.leaderboard.boards.diagnostics import slug_of
from gluebench.leaderboard.boards.position import position_of
from gluebench.leaderboard.common import formats
from gluebench.leaderboard.common.text import breakable, markdown
from gluebench.leaderboard.limits.quota import precise
from gluebench.leaderboard.submissions.models import Submission

register = template.Library()
register.filter("count", formats.count)
register.filter("kappa", formats.kappa)
register.filter("percent", formats.percent)
register.filter("score", formats.score_text)
register.filter("interval", formats.interval_text)
register.filter("markdown", markdown)
register.filter("breakable", breakable)
register.filter("precise", precise)
register.filter("slugged", slug_of)


@register.filter
def item(values: Mapping[str, Any], name: str) -> Any:
    """What a mapping has under a name that is known only here; None where it has nothing."""
    return values.get(name)


@register.inclusion_tag("boards/position.html")
def position(submission: Submission) -> dict[str, Any]:
    """Where it stands, and what its author may do next."""
    return {"submission": submission, "benchmark": submission.benchmark, "position": position_of(submission)}
