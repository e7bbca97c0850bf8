"""Mail about accounts: a server that does not take it stops nobody, and the links are on the admin pages."""

from __future__ import annotations

import logging
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter

logger = logging.getLogger(__name__)


class Adapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Goes on where a mail cannot be sent."""

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send it, or say in the site's log that it was not."""
        try:
            super().send_mail(template_prefix, email, context)
        except OSError as error:  # smtplib's errors are such too
            logger.warning("The mail %s could not be sent: %s", template_prefix, error)
