"""Secrets of second factors, encrypted where they are kept: a copy of the database opens no account."""

from __future__ import annotations

import base64
import hashlib

from allauth.mfa.adapter import DefaultMFAAdapter
from cryptography.fernet import Fernet
from django.conf import settings


class Adapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Encrypts with the site's secret key; whoever changes that key sets up the second factor anew."""

    def encrypt(self, text: str) -> str:
        """The secret as it is kept."""
        return _box().encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """The secret itself."""
        return _box().decrypt(encrypted_text.encode()).decode()


def _box() -> Fernet:
    key = hashlib.sha256(b"gluebench second factor\0" + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
