"""Logs of a site's processes, as text or JSON: each line has its time, level and request. Knows no Django."""

from __future__ import annotations

import json
import logging
import time
from contextvars import ContextVar
from typing import Any

REQUEST: ContextVar[str] = ContextVar("request", default="-")
"""The id of the request that is being answered."""


class Text(logging.Formatter):
    """`2026-11-22T20:06:50.123Z WARNING gluebench.leaderboard.worker [request]: message`."""

    converter = time.gmtime  # type: ignore[assignment]
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request)s]: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """With the request's id."""
        record.request = REQUEST.get()
        return super().format(record)


class Json(Text):
    """One object a line; what a record has under `fields` is part of it."""

    def format(self, record: logging.LogRecord) -> str:
        """As an object."""
        line: dict[str, Any] = {
            "time": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "request": REQUEST.get(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def config(kind: str, level: str) -> dict[str, Any]:
    """Python's logging, as a dictionary; `level` is for what the site says itself."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": f"{__name__}.{kind.title()}"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {
            "gluebench": {"level": level.upper()},
            "waitress.queue": {"level": "ERROR"},
            "django.request": {"level": "ERROR"},
        },
    }
