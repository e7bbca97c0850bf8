"""Authentication of the API: by token, by a session of the site, or as a visitor."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from ninja.security import APIKeyCookie, HttpBearer
from ninja.utils import check_csrf

from gluebench.leaderboard.apps.accounts.models import Scope, Token, User
from gluebench.leaderboard.apps.common.problems import ProblemError, address, spend, unauthorized

USED_AGAIN = timedelta(minutes=1)
"""Minimum time between two updates of a token's last use."""


class BearerToken(HttpBearer):
    """A token in the Authorization header. A wrong one is refused, even where none is needed."""

    def __call__(self, request: HttpRequest) -> Any:
        """The account, or None without such a header."""
        if "Authorization" not in request.headers:
            return None
        scheme, _, secret = request.headers["Authorization"].partition(" ")
        if scheme.casefold() != "bearer":
            raise unauthorized("The Authorization header is not `Bearer` and a token.")
        return self.authenticate(request, secret.strip())

    def authenticate(self, request: HttpRequest, token: str) -> User:
        """The owner of a usable token. Raises ProblemError."""
        row = Token.find(token)
        if row is None:
            spend("wrong-token", address(request))
            raise unauthorized(
                f"The token is unknown, has expired or was revoked; {reverse('tokens')} makes one."
            )
        spend("work" if request.path_info.startswith("/api/v1/work") else "account", str(row.user_id))
        now = timezone.now()
        stale = Q(used__isnull=True) | Q(used__lt=now - USED_AGAIN)
        Token.objects.filter(stale, pk=row.pk).update(used=now)
        request.user = row.user
        request.token = row  # type: ignore[attr-defined]
        return row.user


class Session(APIKeyCookie):
    """A session of the site, for its own pages; requests that change something need the CSRF token."""

    param_name = settings.SESSION_COOKIE_NAME

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        """The account that is signed in, or None. Raises ProblemError if the CSRF token is missing."""
        if key is None or not request.user.is_authenticated:
            return None
        if check_csrf(request):
            raise ProblemError(403, "csrf", "The header X-CSRFToken is missing or old; programs use a token.")
        spend("account", str(request.user.pk))
        return request.user


def visitor(request: HttpRequest) -> AnonymousUser:
    """An anonymous user, for public data. BearerToken has refused a wrong token before this."""
    spend("visitor", address(request))
    return AnonymousUser()


SIGNED_IN: list[Any] = [BearerToken(), Session(csrf=False)]  # Session.authenticate checks CSRF itself
ANYBODY: list[Any] = SIGNED_IN + [visitor]
PUBLIC: dict[str, Any] = {"security": [{}]}
"""Marks an operation in the OpenAPI document as open to anybody."""


def user_with(request: HttpRequest, scope: Scope) -> User:
    """The calling account. Raises ProblemError if its token lacks the scope."""
    if not _may(request, scope):
        raise ProblemError(
            403,
            "scope",
            f"This token is not good for this: it lacks the scope {scope.value!r} ({scope.label}). "
            f"Make another at {reverse('tokens')}.",
        )
    assert isinstance(request.user, User)
    return request.user


def reader(request: HttpRequest) -> User | AnonymousUser:
    """The account whose view is returned: the caller's, or a visitor's if the token may not read."""
    return request.user if _may(request, Scope.READ) else AnonymousUser()


def _may(request: HttpRequest, scope: Scope) -> bool:
    """Whether a request has the scope; one without a token has every scope."""
    token: Token | None = getattr(request, "token", None)
    return token is None or scope in token.scopes
