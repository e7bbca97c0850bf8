"""Who calls: the owner of a token, somebody signed in to the site, or a visitor."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from gluebench.leaderboard.accounts.models import Scope, Token, User
from gluebench.leaderboard.common.problems import ProblemError, address, spend, unauthorized

USED_AGAIN = timedelta(minutes=1)
"""A token's last use is written down no more often than this."""


class BearerToken(HttpBearer):
    """A token in the Authorization header. One that is wrong is refused, never passed over."""

    def __call__(self, request: HttpRequest) -> Any:
        """The account, or None where no such header was sent."""
        if "Authorization" not in request.headers:
            return None
        scheme, _, secret = request.headers["Authorization"].partition(" ")
        if scheme.casefold() != "bearer":
            raise unauthorized("The Authorization header is not `Bearer` and a token.")
        return self.authenticate(request, secret.strip())

    def authenticate(self, request: HttpRequest, token: str) -> User:
        """The owner of a usable token. Raises ProblemError."""
        row = Token.objects.find(token)
        if row is None:
            spend("wrong-token", address(request))
            raise unauthorized("The token is unknown, has expired or was revoked; /account/tokens makes one.")
        spend("account", str(row.user_id))
        now = timezone.now()
        stale = Q(used__isnull=True) | Q(used__lt=now - USED_AGAIN)
        Token.objects.filter(stale, pk=row.pk).update(used=now)
        request.user = row.user
        request.token = row  # type: ignore[attr-defined]
        return row.user


class Session(APIKeyCookie):
    """The site's own session, so that its pages may call; what changes something needs the CSRF token."""

    param_name = settings.SESSION_COOKIE_NAME

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        """The account that is signed in, or None. Raises ProblemError where the CSRF token is missing."""
        if key is None or not request.user.is_authenticated:
            return None
        if check_csrf(request):
            raise ProblemError(403, "csrf", "The header X-CSRFToken is missing or old; programs use a token.")
        spend("account", str(request.user.pk))
        return request.user


def visitor(request: HttpRequest) -> AnonymousUser:
    """Anybody, for what is public. A wrong token was refused before this."""
    spend("visitor", address(request))
    return AnonymousUser()


SIGNED_IN = [BearerToken(), Session(csrf=False)]  # it checks the token itself
ANYBODY = [*SIGNED_IN, visitor]
PUBLIC: dict[str, Any] = {"security": [{}]}
"""For the OpenAPI document: it needs no account."""


def user_with(request: HttpRequest, scope: Scope) -> User:
    """The account that calls. Raises ProblemError where its token is not good for this."""
    if not _may(request, scope):
        raise ProblemError(
            403,
            "scope",
            f"This token is not good for this: it lacks the scope {scope.value!r} ({scope.label}). "
            "Make another at /account/tokens.",
        )
    assert isinstance(request.user, User)
    return request.user


def reader(request: HttpRequest) -> User | AnonymousUser:
    """The account to read as: the caller, or a visitor where the token may not read."""
    return request.user if _may(request, Scope.READ) else AnonymousUser()


def _may(request: HttpRequest, scope: Scope) -> bool:
    token: Token | None = getattr(request, "token", None)
    return token is None or scope in token.scopes
