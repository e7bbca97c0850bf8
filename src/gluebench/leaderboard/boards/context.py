"""What every page knows."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """Whether somebody is signed in; asks the database only where there is a session."""
    user = getattr(request, "user", None)
    return {"signed_in": bool(user and user.is_authenticated)}
