"""Seals: keyed digests by which `doctor` notices that a result or a row of the log was edited."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils.crypto import salted_hmac


def seal(kind: str, *values: Any) -> str:
    """HMAC-SHA256 of these values under a key derived from the site's secret key."""
    text = json.dumps([kind, plain(values)], sort_keys=True, separators=(",", ":"))
    return salted_hmac("gluebench.seal", text, algorithm="sha256").hexdigest()


def plain(value: Any) -> Any:
    """A value as every database gives it back: PostgreSQL knows no -0.0 and may turn 1e16 into an integer."""
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value + 0.0
    return value
