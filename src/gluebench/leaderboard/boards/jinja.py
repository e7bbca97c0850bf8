"""Jinja's environment, for the one template that has thousands of cells."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from jinja2 import Environment, StrictUndefined

from gluebench.leaderboard.text import breakable


def environment(**options: Any) -> Environment:
    """Escapes everything, and fails on a name that is not there."""
    options["autoescape"] = True
    options["trim_blocks"] = options["lstrip_blocks"] = True
    made = Environment(**{**options, "undefined": StrictUndefined})
    made.filters["breakable"] = breakable
    made.globals["url"] = lambda name, *args: reverse(name, args=args)
    return made
