"""The environment of a command that a user starts: nothing of what other tests set in this process."""

from __future__ import annotations

import os

SET_BY_TESTS = ("DJANGO_SETTINGS_MODULE", "GLUEBENCH_SITE")


def environment(**more: str) -> dict[str, str]:
    """The environment without what tests of the site set, and with `more`."""
    return {key: value for key, value in os.environ.items() if key not in SET_BY_TESTS} | more
