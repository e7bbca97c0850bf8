"""Logs of a site's processes, as text or JSON, with time, level and request; does not import Django."""

import json
import logging
import time
from contextvars import ContextVar
from typing import Any

REQUEST: ContextVar[str] = ContextVar("request", default="-")
"""The id of the current request."""


class Text(logging.Formatter):
    """`2026-11-22T20:06:50.123Z WARNING gluebench.leaderboard.serving.worker [request]: message`."""

    converter = time.gmtime  # type: ignore[assignment]
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(request)s]: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """Format a record with the id of its request."""
        record.request = REQUEST.get()
        return super().format(record)


class Json(Text):
    """One JSON object per line, with the items of the record's `fields`."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as a JSON object."""
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
    """The settings for `logging.config.dictConfig`; `level` applies to gluebench's own messages.

    `kind` is "text" or "json": a class of this module in lower case.
    """
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
