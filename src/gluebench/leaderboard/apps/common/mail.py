"""The mail server: headers that filters of receivers ask for, and which refusals are final."""

import smtplib
from collections.abc import Sequence
from email.utils import make_msgid, parseaddr

from django.core.mail import EmailMessage
from django.core.mail.backends.smtp import EmailBackend

FINAL = 500
"""Codes of SMTP from here on refuse a mail for good; lower ones, such as greylisting's 451, for now."""


class Backend(EmailBackend):
    """Django's for SMTP; each mail names the sender's domain in its id, and says that a program wrote it."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        """Send the mails; return how many were sent. Raises OSError, of which smtplib's errors are a kind."""
        for message in email_messages:
            domain = parseaddr(message.from_email)[1].rpartition("@")[2]
            message.extra_headers.setdefault("Message-ID", make_msgid(domain=domain))
            message.extra_headers.setdefault("Auto-Submitted", "auto-generated")
        return int(super().send_messages(email_messages) or 0)


def is_final(error: OSError) -> bool:
    """Whether the mail server will not take the mail at another time either."""
    codes = [error.smtp_code] if isinstance(error, smtplib.SMTPResponseException) else []
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        codes = [code for code, _ in error.recipients.values()]
    return bool(codes) and min(codes) >= FINAL
