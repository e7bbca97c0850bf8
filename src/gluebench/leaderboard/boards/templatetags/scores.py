"""Filters that write numbers; see `boards/formats.py`."""

from __future__ import annotations

from django import template

from gluebench.leaderboard.boards import formats
from gluebench.leaderboard.submissions.text import breakable, markdown

register = template.Library()
register.filter("count", formats.count)
register.filter("percent", formats.percent)
register.filter("score", formats.score_text)
register.filter("interval", formats.interval_text)
register.filter("markdown", markdown)
register.filter("breakable", breakable)
