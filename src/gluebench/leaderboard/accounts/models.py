"""Who uses the site. The user model is the site's own from its first migration, so that it can grow."""

from __future__ import annotations

from typing import ClassVar

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models


class UserManager(BaseUserManager["User"]):
    """Makes accounts; there is none before the first person signs up."""

    def create_user(self, email: str, password: str | None = None) -> User:
        """An account; without a password it cannot sign in."""
        user = self.model(email=self.normalize_email(email))
        user.set_password(password)
        user.save(using=self._db)
        return user


class User(AbstractUser):
    """A person, known by an e-mail address that is never shown to others."""

    username = None  # type: ignore[assignment]
    email = models.EmailField(unique=True)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects = UserManager()  # type: ignore[assignment,misc]

    def __str__(self) -> str:
        return self.email
