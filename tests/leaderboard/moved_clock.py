"""A clock that a test moves under the processes of a served site: what people do in days takes seconds."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

_CODE = """
import time
from pathlib import Path
ahead, real = Path(__file__).with_name("ahead"), time.time
def moved():
    return real() + float(ahead.read_text())
try:
    from datetime import datetime, timezone as zones
    from django.utils import timezone
    timezone.now = lambda: datetime.fromtimestamp(moved(), zones.utc)
    time.time = moved
except ImportError:
    pass  # a process without Django reads no time of day
"""


class MovedClock:
    """The time of day of a site: the machine's, moved ahead."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(_CODE)  # Python imports it at the start of a process
        self._ahead = folder / "ahead"
        self.move(timedelta(0))
        self.environment = {"PYTHONPATH": os.pathsep.join([str(folder), *filter(None, sys.path)])}

    @property
    def now(self) -> datetime:
        """The site's time, in UTC."""
        return datetime.now(UTC) + timedelta(seconds=float(self._ahead.read_text()))

    def move(self, ahead: timedelta) -> None:
        """Set how far ahead the site is."""
        new = self._ahead.with_suffix(".new")
        new.write_text(str(ahead.total_seconds()))
        new.replace(self._ahead)

    def set(self, moment: datetime) -> None:
        """Let the site's time be this moment, and go on from there."""
        self.move(moment - datetime.now(UTC))
