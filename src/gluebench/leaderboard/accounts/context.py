"""What pages of accounts know besides."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def account(request: HttpRequest) -> dict[str, Any]:
    """Whether mail is sent, and whether addresses must be confirmed."""
    return {
        "mail_is_sent": settings.MAIL_IS_SENT,
        "must_verify": settings.ACCOUNT_EMAIL_VERIFICATION == "mandatory",
    }
