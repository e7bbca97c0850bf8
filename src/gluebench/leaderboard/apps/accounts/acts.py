"""What people can do with their own accounts, beside signing in; `trust` has the export and the deletion."""

from datetime import timedelta

from gluebench.leaderboard.apps.accounts.models import Token, User, issue
from gluebench.leaderboard.apps.audit.models import record


def rename(user: User, name: str) -> str:
    """Set how a person wants to be called."""
    User.objects.filter(pk=user.pk).update(name=name)
    return "Your name is saved."


def add_token(user: User, *, name: str, scopes: list[str], days: int) -> str:
    """Make a token that is valid for so many days. Returns its secret, which nothing shows again."""
    token, secret = issue(user, name, scopes, timedelta(days=days))
    record("token", actor=user, token=token.pk)
    return secret


def revoke_token(token: Token) -> str:
    """End a token."""
    token.delete()
    return f"The token “{token.name}” no longer works."
